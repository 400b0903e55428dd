"""What a session opens: whose it is, and its end."""

from __future__ import annotations

import attrs

from awareness_core.employees import Employee
from awareness_core.ports import PortalPorts
from awareness_core.sessions import (
    Membership,
    Session,
    SessionPolicy,
    admits,
    digest_token,
    is_over,
    use_is_worth_noting,
)
from awareness_core.tenants import Company


@attrs.frozen(kw_only=True)
class Visit:
    """Somebody at the portal, as they stand at this request."""

    company: Company
    person: Employee
    session: Session

    @property
    def member(self) -> Membership:
        """Where the person is found."""
        return Membership(company_id=self.company.id, employee_id=self.person.id)


async def find_visit(ports: PortalPorts, token: str, *, policy: SessionPolicy) -> Visit | None:
    """Whose session `token` is, or None when it opens nothing (any more). Its use is noted once a minute at most.

    One that does not admit its person any more ends with this look at it.
    """
    digest = digest_token(token)
    member = await ports.visitors.find_session(digest)
    if member is None:
        return None
    async with ports.store.reading(member.company_id) as reading:
        session = await reading.session(digest)
        people = await reading.employees_by_id([member.employee_id])
        company = await reading.company()
    now = ports.clock.now()
    if session is None or not people or is_over(session, policy=policy, now=now):
        return None
    if not admits(session, people[0], company):
        # Ended for good: it must not come back with the company's SSO domains.
        async with ports.store.transaction(member.company_id) as transaction:
            await transaction.end_session(digest)
        return None
    if use_is_worth_noting(session, policy=policy, now=now):
        async with ports.store.transaction(member.company_id) as transaction:
            # Logged out meanwhile, it must not come back.
            if await transaction.session(digest) is None:
                return None
            session = attrs.evolve(session, seen_at=now)
            await transaction.save_session(session)
    return Visit(company=company, person=people[0], session=session)


async def log_out(ports: PortalPorts, token: str) -> None:
    """End that session; nothing when it is none."""
    digest = digest_token(token)
    member = await ports.visitors.find_session(digest)
    if member is not None:
        async with ports.store.transaction(member.company_id) as transaction:
            await transaction.end_session(digest)


async def log_out_everywhere(ports: PortalPorts, member: Membership) -> None:
    """End all sessions of that person."""
    async with ports.store.transaction(member.company_id) as transaction:
        await transaction.end_sessions([member.employee_id])
