"""Mail the invitations that nobody mails any more, because whoever had begun was stopped in the middle.

They were never answered for, so nobody knows whether a mail went out; the person may get a second one. Both passwords
open. What a server refuses for now is tried again later, what it refuses for good is given up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from awareness_core.employees import Access, Employee, EmployeeId, access
from awareness_core.letters import new_letter, note_outcomes, readdressed
from awareness_core.outbox import PendingInvitation, claimed, handed_on, passed_over, postponed
from awareness_core.passwords import TemporaryPassword
from awareness_core.persistence import persist
from awareness_core.ports import Delivery, InvitationLetter, Ports, Transaction
from awareness_core.tenants import Company, CompanyId

AT_ONCE = 20
"""So many are mailed before it is written down what came of them: whoever dies repeats no more."""

_HOLDER_BYTES = 16


@attrs.frozen(kw_only=True)
class PendingDelivered:
    """What became of those that were due: mailed, to be tried again, refused for good, or no longer wanted."""

    mailed: int = 0
    postponed: int = 0
    refused: int = 0
    dropped: int = 0

    @property
    def total(self) -> int:
        """How many were due."""
        return self.mailed + self.postponed + self.refused + self.dropped


@attrs.frozen
class _Attempt:
    pending: PendingInvitation
    password: TemporaryPassword
    letter: InvitationLetter


async def deliver_pending(ports: Ports, company_id: CompanyId) -> PendingDelivered:
    """Mail up to `AT_ONCE` of the company's that are due, those longest due first. Raises `NotFound`.

    Several processes may do so at once: each takes others. Nobody is mailed who meanwhile left, logged in or moved to
    an address of the company's identity provider, or whose invitation is a day old.
    """
    holder = ports.entropy.take(_HOLDER_BYTES).hex()
    async with ports.store.transaction(company_id) as transaction:
        attempts, dropped = await _claim(ports, transaction, holder)
    if not attempts:
        return PendingDelivered(dropped=dropped)
    deliveries = await ports.mailer.send_invitations([attempt.letter for attempt in attempts])
    told = list(zip(attempts, deliveries, strict=True))
    waiting = [(one, delivery) for one, delivery in told if _may_work_later(delivery)]
    any_tried = any(delivery.tried for delivery in deliveries)
    ended_at = ports.clock.now()

    async def close() -> None:
        async with ports.store.transaction(company_id) as transaction:
            await note_outcomes(
                transaction, [(one.password, delivery) for one, delivery in told], ended_at=ended_at
            )
            # Of those that are still its own: others were invited anew meanwhile, or left.
            held = {pending.employee_id: pending for pending in await transaction.held_invitations(holder)}
            moved = await readdressed(transaction, held)
            kept = [
                # When nobody was tried the server is away, and each look waits longer.
                postponed(one.pending, now=ended_at)
                if delivery.tried or not any_tried
                else passed_over(one.pending, now=ended_at)
                for one, delivery in waiting
                if one.pending.employee_id in held.keys() - moved
            ]
            kept += [handed_on(held[one], now=ended_at) for one in moved]
            await transaction.forget_pending(held.keys() - {pending.employee_id for pending in kept})
            await transaction.save_pending(kept)

    await persist(ports.clock, close)
    mailed = sum(delivery.accepted for delivery in deliveries)
    return PendingDelivered(
        mailed=mailed,
        postponed=len(waiting),
        refused=len(attempts) - mailed - len(waiting),
        dropped=dropped,
    )


async def _claim(ports: Ports, transaction: Transaction, holder: str) -> tuple[Sequence[_Attempt], int]:
    """What to mail now, written down as begun, and how many invitations are not wanted any more."""
    now = ports.clock.now()
    due = await transaction.due_invitations(at=now, limit=AT_ONCE)
    if not due:
        return [], 0
    company = await transaction.company()
    found = await transaction.employees_by_id([pending.employee_id for pending in due])
    people = {person.id: person for person in found}
    attempts = []
    for pending in due:
        person = _awaiting(people, pending.employee_id, company)
        taken = claimed(pending, holder=holder, now=now)
        if person is not None and taken is not None:
            password, letter = new_letter(
                ports.entropy, person, company, decided_at=pending.decided_at, now=now
            )
            attempts.append(_Attempt(taken, password, letter))
    wanted = {attempt.pending.employee_id for attempt in attempts}
    unwanted = [pending.employee_id for pending in due if pending.employee_id not in wanted]
    await transaction.forget_pending(unwanted)
    await transaction.record_attempts([attempt.password for attempt in attempts])
    await transaction.save_pending([attempt.pending for attempt in attempts])
    return attempts, len(unwanted)


def _awaiting(
    people: Mapping[EmployeeId, Employee], employee_id: EmployeeId, company: Company
) -> Employee | None:
    person = people.get(employee_id)
    return person if person is not None and access(person, company) is Access.AWAITING_ACCESS else None


def _may_work_later(delivery: Delivery) -> bool:
    return not delivery.accepted and not delivery.permanent
