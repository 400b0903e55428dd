"""Let people in whom their company's identity provider vouches for: send them there, tie who comes back to a person.

Which provider it is depends on the domain of the address that was typed, so of a company's own people nothing is told,
not even whether they exist; no company's provider is asked for another company's people (Choice: decisions/030). Who
comes back is sought among the people of the company that they were sent for, and nowhere else.
"""

from __future__ import annotations

import attrs

from awareness_core.emails import EmailAddress, InvalidEmail, parse_email
from awareness_core.employees import EmployeeChange, let_in_first
from awareness_core.identity_ports import SignInRequest
from awareness_core.identity_providers import (
    Identity,
    IdentityProvider,
    SignInRefusal,
    entry,
    provider_of,
    told_address,
)
from awareness_core.ports import PortalPorts
from awareness_core.quota import LOGIN_ADDRESS_POLICY, QuotaPolicy, decide
from awareness_core.sessions import (
    TOKEN_BYTES,
    Membership,
    SessionPolicy,
    begin_session,
    client_subject,
    digest_token,
    spell_token,
)
from awareness_core.sign_ins import Ticket

_PURGED_AT_ONCE = 100


@attrs.frozen(kw_only=True)
class Departure:
    """Where the browser goes, and the ticket that it keeps meanwhile."""

    address: str = attrs.field(repr=False)
    issuer: str
    ticket: Ticket


@attrs.frozen(kw_only=True)
class Arrival:
    """Somebody is in."""

    token: str = attrs.field(repr=False)
    member: Membership


async def find_provider_for(ports: PortalPorts, email: str) -> IdentityProvider | None:
    """The provider that somebody with that address logs in with; None when there is none, or it is no address.

    Of an address that some company's active person holds, it is that company's, if the domain is one of its own. Of one
    that nobody holds, it is the first of the domain.
    """
    address = _parsed(email)
    if address is None:
        return None
    found = await ports.identity_providers.providers_of_domain(address.domain)
    if not found:
        return None
    holder = await ports.visitors.find_holder(address.key)
    return provider_of(found, None if holder is None else holder.company_id)


async def set_out(
    ports: PortalPorts,
    provider: IdentityProvider,
    *,
    email: str,
    redirect_uri: str,
    subject: str,
    failures: QuotaPolicy = LOGIN_ADDRESS_POLICY,
) -> Departure:
    """Send somebody to that provider. `subject` is whom failures are counted for, as in `log_in`.

    Raises `RateLimitExceeded` after as many as `failures` allows, `ProviderUnavailable`.
    """
    await _refuse_after_failures(ports, subject, failures)
    ticket = Ticket(
        token=spell_token(ports.entropy.take(TOKEN_BYTES)),
        company_id=provider.company_id,
        issued_at=ports.clock.now(),
    )
    request = _request(ticket, redirect_uri, email=email)
    address = await ports.single_sign_on.address(provider, request)
    return Departure(address=address, issuer=provider.issuer, ticket=ticket)


async def arrive(
    ports: PortalPorts,
    ticket: Ticket,
    *,
    code: str,
    issuer: str | None,
    redirect_uri: str,
    subject: str,
    policy: SessionPolicy,
    failures: QuotaPolicy = LOGIN_ADDRESS_POLICY,
) -> Arrival | SignInRefusal:
    """A new session for whoever came back with that ticket and that code, or why there is none.

    The first is the first login of that person. Raises `RateLimitExceeded` after as many failures of
    `subject` as `failures` allows, `ProviderUnavailable`, which counts as one.
    """
    await _refuse_after_failures(ports, subject, failures)
    outcome: Arrival | SignInRefusal | None = None
    try:
        provider = await ports.identity_providers.find_provider(ticket.company_id)
        if provider is None:
            return SignInRefusal.NO_PROVIDER
        identity = await ports.single_sign_on.identity(
            provider, _request(ticket, redirect_uri), code=code, issuer=issuer
        )
        outcome = await _admit(ports, provider, identity, policy)
    finally:
        if not isinstance(outcome, Arrival):
            await ports.quota.hit(client_subject(subject), failures)
    return outcome


async def _admit(
    ports: PortalPorts, provider: IdentityProvider, identity: Identity, policy: SessionPolicy
) -> Arrival | SignInRefusal:
    token = spell_token(ports.entropy.take(TOKEN_BYTES))
    async with ports.store.transaction(provider.company_id) as transaction:
        if await transaction.identity_provider() != provider:
            # Removed or replaced while it was asked: from then on it lets nobody in.
            return SignInRefusal.NO_PROVIDER
        company = await transaction.company()
        address = told_address(identity, provider, company)
        if isinstance(address, SignInRefusal):
            return address
        people = await transaction.matching_employees(external_ids=[], email_keys=[address.key])
        person = next((one for one in people if one.is_active), None)
        refusal = entry(person, company)
        if person is None or refusal is not None:
            return refusal or SignInRefusal.UNKNOWN
        now = ports.clock.now()
        if person.first_login_at is None:
            inside = let_in_first(person, now=now)
            await transaction.apply(changes=[EmployeeChange(before=person, after=inside)])
            await transaction.forget_passwords([person.id])
        await transaction.purge_sessions(at=now, at_most=_PURGED_AT_ONCE)
        session = begin_session(digest_token(token), person.id, policy=policy, now=now, is_sso=True)
        await transaction.save_session(session)
    member = Membership(company_id=provider.company_id, employee_id=person.id)
    return Arrival(token=token, member=member)


async def _refuse_after_failures(ports: PortalPorts, subject: str, failures: QuotaPolicy) -> None:
    failed = decide(failures, await ports.quota.peek(client_subject(subject), failures))
    if failed.remaining == 0:
        raise failed.refusal()


def _request(ticket: Ticket, redirect_uri: str, *, email: str | None = None) -> SignInRequest:
    return SignInRequest(
        redirect_uri=redirect_uri,
        state=ticket.state,
        nonce=ticket.nonce,
        code_verifier=ticket.code_verifier,
        email=email,
    )


def _parsed(email: str) -> EmailAddress | None:
    try:
        return parse_email(email)
    except InvalidEmail:
        return None
