"""Send people their access: decide who, make each a temporary password, mail it, keep what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from awareness_core.employees import Employee, EmployeeId
from awareness_core.invitations import (
    InvitationReport,
    plan_invitations,
    settle,
)
from awareness_core.letters import new_letter, note_outcomes, readdressed
from awareness_core.outbox import decided, handed_on
from awareness_core.persistence import persist
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId

_HOLDER_BYTES = 16


async def invite(
    ports: Ports,
    company_id: CompanyId,
    *,
    selection: Sequence[EmployeeId] | None = None,
    force: bool = False,
) -> InvitationReport:
    """Invite the selected people, or everyone awaiting access; at most 100 a call, see `plan_invitations`.

    The decision, the attempt and the password's digest are committed before the mail goes out, so that a mailed
    password always opens, and an invitation that a crash broke off is taken up by `deliver_pending`. No transaction is
    open while mail is sent, and what came of it is written down by `persist`. Whoever is not reached is told as failed,
    and not mailed later; whoever was tried in vain was last attempted when the call ended, and so comes after those
    whose turn did not come. Whoever is reached at an address that is theirs no more by then is mailed at the new one by
    `deliver_pending`. Raises `NotFound` for an unknown company.
    """
    holder = ports.entropy.take(_HOLDER_BYTES).hex()
    async with ports.store.transaction(company_id) as transaction:
        company = await transaction.company()
        if selection is None:
            employees = await transaction.employees_without_password()
        else:
            employees = await transaction.employees_by_id(set(selection))
        now = ports.clock.now()
        plan = plan_invitations(employees, company, selection=selection, force=force, now=now)
        prepared = [
            new_letter(ports.entropy, person, company, decided_at=now, now=now) for person in plan.chosen
        ]
        if prepared:
            await transaction.record_attempts([password for password, _ in prepared])
            await transaction.save_pending(
                [decided(person.id, holder=holder, now=now) for person in plan.chosen]
            )
    if not prepared:
        return settle(plan, {})
    deliveries = await ports.mailer.send_invitations([letter for _, letter in prepared])
    told = [(password, delivery) for (password, _), delivery in zip(prepared, deliveries, strict=True)]
    reached = {password.employee_id for password, delivery in told if delivery.accepted}
    ended_at = ports.clock.now()

    async def close() -> None:
        async with ports.store.transaction(company_id) as transaction:
            await note_outcomes(transaction, told, ended_at=ended_at)
            held = {pending.employee_id: pending for pending in await transaction.held_invitations(holder)}
            # They are told as invited, and hold a mail that opens nothing: the new address gets one that does.
            again = reached & await readdressed(transaction, held)
            await transaction.forget_pending(held.keys() - again)
            await transaction.save_pending([handed_on(held[one], now=ended_at) for one in again])

    await persist(ports.clock, close)
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
