"""Send people their access: decide who, make each a temporary password, mail it, keep what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from awareness_core.employees import Employee, EmployeeId
from awareness_core.invitations import (
    InvitationReport,
    plan_invitations,
    settle,
)
from awareness_core.passwords import (
    ENTROPY_BYTES,
    SALT_BYTES,
    TemporaryPassword,
    digest_password,
    spell_password,
)
from awareness_core.ports import InvitationLetter, Ports
from awareness_core.tenants import Company, CompanyId


async def invite(
    ports: Ports,
    company_id: CompanyId,
    *,
    selection: Sequence[EmployeeId] | None = None,
    force: bool = False,
) -> InvitationReport:
    """Invite the selected people, or everyone awaiting access; at most 100 a call, see `plan_invitations`.

    The attempt and the password's digest are committed before the mail goes out, so that a mailed password always
    opens; no transaction is open while mail is sent. Raises `NotFound` for an unknown company.
    """
    async with ports.store.transaction(company_id) as transaction:
        company = await transaction.company()
        if selection is None:
            employees = await transaction.employees_without_password()
        else:
            employees = await transaction.employees_by_id(set(selection))
        now = ports.clock.now()
        plan = plan_invitations(employees, company, selection=selection, force=force, now=now)
        prepared = [_prepare(ports, person, company, now=now) for person in plan.chosen]
        await transaction.record_attempts([password for password, _ in prepared])
    deliveries = await ports.mailer.send_invitations([letter for _, letter in prepared]) if prepared else ()
    delivered = [
        password for (password, _), delivery in zip(prepared, deliveries, strict=True) if delivery.accepted
    ]
    if delivered:
        async with ports.store.transaction(company_id) as transaction:
            await transaction.record_deliveries(delivered)
    reached = {password.employee_id for password in delivered}
    return settle(plan, {person.id: person.id in reached for person in plan.chosen})


async def preview_invitations(
    ports: Ports, company_id: CompanyId, employees: Sequence[Employee]
) -> InvitationReport:
    """What `invite` would answer for these people, stored or not yet, if every mail were accepted. Sends nothing."""
    async with ports.store.reading(company_id) as reading:
        company = await reading.company()
    plan = plan_invitations(
        employees, company, selection=[person.id for person in employees], now=ports.clock.now()
    )
    return settle(plan, {person.id: True for person in plan.chosen})


def _prepare(
    ports: Ports, person: Employee, company: Company, *, now: datetime
) -> tuple[TemporaryPassword, InvitationLetter]:
    expires_at = now + company.invitation_lifetime
    text = spell_password(ports.entropy.take(ENTROPY_BYTES))
    salt = ports.entropy.take(SALT_BYTES)
    password = TemporaryPassword(
        employee_id=person.id,
        salt=salt,
        digest=digest_password(text, salt=salt),
        created_at=now,
        expires_at=expires_at,
    )
    letter = InvitationLetter(
        employee_id=person.id,
        company_name=company.name,
        language=company.language,
        email=person.email.text,
        first_name=person.first_name,
        last_name=person.last_name,
        password=text,
        created_at=now,
        expires_at=expires_at,
    )
    return password, letter
