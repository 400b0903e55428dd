"""Let a person in at the portal: find them by their address, check the password, begin a session.

Whoever may not come in is told one thing only, after about the same time, whatever was wrong: nobody known, a wrong
password, archived, or somebody who logs in through their company's identity provider.
"""

from __future__ import annotations

import attrs

from awareness_core.chosen_passwords import ChosenPassword, is_hashable, normal_password
from awareness_core.emails import EmailAddress, InvalidEmail, parse_email
from awareness_core.employees import Access, Employee, access
from awareness_core.passwords import TemporaryPassword, opens
from awareness_core.ports import PortalPorts, Reading
from awareness_core.quota import LOGIN_ACCOUNT_POLICY, LOGIN_ADDRESS_POLICY, QuotaPolicy, decide
from awareness_core.sessions import (
    TOKEN_BYTES,
    Membership,
    Session,
    SessionDigest,
    SessionPolicy,
    account_subject,
    admits,
    begin_choosing,
    begin_session,
    client_subject,
    digest_token,
    spell_token,
)

_PURGED_AT_ONCE = 100


@attrs.frozen(kw_only=True)
class Admission:
    """Somebody is in. `must_choose` says that they came with a temporary password and have to choose their own."""

    token: str = attrs.field(repr=False)
    member: Membership
    must_choose: bool


@attrs.frozen(kw_only=True)
class _Proof:
    """What was found to be right, outside any transaction: hashing takes long."""

    chosen: ChosenPassword | None = None
    rehashed: str | None = attrs.field(default=None, repr=False)
    temporary: TemporaryPassword | None = None


async def log_in(
    ports: PortalPorts,
    *,
    email: str,
    password: str,
    subject: str,
    policy: SessionPolicy,
    failures: QuotaPolicy = LOGIN_ADDRESS_POLICY,
) -> Admission | None:
    """A new session for whoever has this address and this password, else None.

    A temporary password is not used up yet: that is for the moment at which another one is chosen. `subject` is whom
    failures are counted for, such as a client's address. Raises `RateLimitExceeded` after as many as `failures` allows.
    """
    address = _parsed(email)
    await _charge(ports, address, subject, failures)
    member = None if address is None else await ports.visitors.find_holder(address.key)
    proof = await _proof(ports, member, password)
    if member is None or proof is None:
        await ports.quota.hit(client_subject(subject), failures)
        return None
    token = spell_token(ports.entropy.take(TOKEN_BYTES))
    session = await _begin(ports, member, proof, digest_token(token), policy)
    return None if session is None else Admission(token=token, member=member, must_choose=session.must_choose)


async def _charge(
    ports: PortalPorts, address: EmailAddress | None, subject: str, failures: QuotaPolicy
) -> None:
    failed = decide(failures, await ports.quota.peek(client_subject(subject), failures))
    if failed.remaining == 0:
        raise failed.refusal()
    if address is not None:
        # Counted before the password is looked at, so that guesses sent at once are not all let through.
        use = await ports.quota.hit(account_subject(address), LOGIN_ACCOUNT_POLICY)
        attempts = decide(LOGIN_ACCOUNT_POLICY, use)
        if not attempts.allowed:
            raise attempts.refusal()


async def _proof(ports: PortalPorts, member: Membership | None, password: str) -> _Proof | None:
    normal = normal_password(password)
    chosen: ChosenPassword | None = None
    temporary: TemporaryPassword | None = None
    if member is not None:
        async with ports.store.reading(member.company_id) as reading:
            chosen, temporary = await _kept(ports, reading, member, password)
    # One hash is made whoever it is, and whatever they typed.
    is_right = await ports.hasher.verify(
        normal if is_hashable(normal) else "", None if chosen is None else chosen.hash
    )
    if temporary is not None:
        return _Proof(temporary=temporary)
    if chosen is None or not is_right:
        return None
    is_outdated = ports.hasher.is_outdated(chosen.hash)
    return _Proof(chosen=chosen, rehashed=await ports.hasher.hash(normal) if is_outdated else None)


async def _kept(
    ports: PortalPorts, reading: Reading, member: Membership, password: str
) -> tuple[ChosenPassword | None, TemporaryPassword | None]:
    """The password they chose if they may log in with it, or the temporary one that was typed, if it opens."""
    person = await _person(reading, member)
    way = None if person is None else access(person, await reading.company())
    chosen = await reading.chosen_password(member.employee_id)
    mailed = await reading.temporary_passwords(member.employee_id)
    now = ports.clock.now()
    typed = next((kept for kept in mailed if opens(password, kept, now=now)), None)
    return (
        chosen if way is Access.LOGGED_IN else None,
        typed if way is Access.AWAITING_ACCESS else None,
    )


async def _begin(
    ports: PortalPorts, member: Membership, proof: _Proof, digest: SessionDigest, policy: SessionPolicy
) -> Session | None:
    """The session, if what was proven is still so."""
    async with ports.store.transaction(member.company_id) as transaction:
        now = ports.clock.now()
        person = await _person(transaction, member)
        if person is None:
            return None
        if proof.temporary is not None:
            is_kept = proof.temporary in await transaction.temporary_passwords(person.id)
            session = begin_choosing(digest, person.id, until=proof.temporary.expires_at, now=now)
        else:
            is_kept = proof.chosen == await transaction.chosen_password(person.id)
            session = begin_session(digest, person.id, policy=policy, now=now)
        if not is_kept or not admits(session, person, await transaction.company()):
            return None
        if proof.chosen is not None and proof.rehashed is not None:
            await transaction.save_chosen_password(attrs.evolve(proof.chosen, hash=proof.rehashed))
        await transaction.purge_sessions(at=now, at_most=_PURGED_AT_ONCE)
        await transaction.save_session(session)
    return session


async def _person(reading: Reading, member: Membership) -> Employee | None:
    found = await reading.employees_by_id([member.employee_id])
    return found[0] if found else None


def _parsed(email: str) -> EmailAddress | None:
    try:
        return parse_email(email)
    except InvalidEmail:
        return None
