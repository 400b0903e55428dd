"""Keep the password that somebody at the portal chose: the first one, or another one in its place."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from awareness_core.chosen_passwords import (
    ChosenPassword,
    Weakness,
    is_hashable,
    normal_password,
    weaknesses,
)
from awareness_core.emails import EmailAddress
from awareness_core.employees import EmployeeChange, log_in_first
from awareness_core.ports import PortalPorts
from awareness_core.quota import LOGIN_ACCOUNT_POLICY, decide
from awareness_core.sessions import (
    TOKEN_BYTES,
    Membership,
    SessionDigest,
    SessionPolicy,
    account_subject,
    admits,
    begin_session,
    digest_token,
    is_over,
    spell_token,
)


@attrs.frozen(kw_only=True)
class PasswordChosen:
    """It is kept, all earlier sessions are over, and this is the token of a new one."""

    token: str = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class PasswordRefused:
    """Nothing was changed."""

    weaknesses: Sequence[Weakness]


async def choose_password(
    ports: PortalPorts, member: Membership, digest: SessionDigest, *, password: str, policy: SessionPolicy
) -> PasswordChosen | PasswordRefused | None:
    """Make `password` that of the person whose session `digest` is; None when that session is over meanwhile.

    After a login with a temporary password this is the first login: all temporary passwords are destroyed with it.
    Somebody whom a provider sent has none to choose.
    """
    normal = normal_password(password)
    async with ports.store.reading(member.company_id) as reading:
        people = await reading.employees_by_id([member.employee_id])
        company = await reading.company()
        mailed = await reading.temporary_passwords(member.employee_id)
    if not people:
        return None
    found = weaknesses(
        normal,
        person=people[0],
        company=company,
        mailed=mailed,
        is_common=ports.frequent_passwords.holds,
    )
    if found:
        return PasswordRefused(weaknesses=found)
    hashed = await ports.hasher.hash(normal)
    token = spell_token(ports.entropy.take(TOKEN_BYTES))
    async with ports.store.transaction(member.company_id) as transaction:
        now = ports.clock.now()
        session = await transaction.session(digest)
        people = await transaction.employees_by_id([member.employee_id])
        if session is None or not people or is_over(session, policy=policy, now=now):
            return None
        (person,) = people
        if session.is_sso or not admits(session, person, await transaction.company()):
            return None
        if session.must_choose:
            inside = log_in_first(person, now=now)
            await transaction.apply(changes=[EmployeeChange(before=person, after=inside)])
            await transaction.forget_passwords([person.id])
        await transaction.save_chosen_password(
            ChosenPassword(employee_id=person.id, hash=hashed, changed_at=now)
        )
        await transaction.end_sessions([person.id])
        await transaction.save_session(begin_session(digest_token(token), person.id, policy=policy, now=now))
    return PasswordChosen(token=token)


async def is_own_password(ports: PortalPorts, member: Membership, email: EmailAddress, password: str) -> bool:
    """Whether `password` is the one that the person with this address has now; asked before it is changed.

    Raises `RateLimitExceeded` after too many attempts, logins among them: a session left open is no way to guess it.
    """
    attempts = decide(
        LOGIN_ACCOUNT_POLICY, await ports.quota.hit(account_subject(email), LOGIN_ACCOUNT_POLICY)
    )
    if not attempts.allowed:
        raise attempts.refusal()
    normal = normal_password(password)
    async with ports.store.reading(member.company_id) as reading:
        kept = await reading.chosen_password(member.employee_id)
    return await ports.hasher.verify(
        normal if is_hashable(normal) else "", None if kept is None else kept.hash
    )
