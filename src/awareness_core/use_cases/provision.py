"""Bring a company's directory in line with records: one person or a hundred thousand, the same path."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from awareness_core.employees import Action, Employee, EmployeeChange, EmployeeId, EmployeeRecord
from awareness_core.errors import Conflict, ConstraintViolated
from awareness_core.identifiers import uuid7_series
from awareness_core.matching import mentioned_email_keys, mentioned_external_ids
from awareness_core.ports import Ports, Reading
from awareness_core.records import InvalidRecord
from awareness_core.sync import plan_sync
from awareness_core.sync_plan import Candidates, SyncItem, SyncPlan, SyncSummary, check_deactivations
from awareness_core.tenants import CompanyId

_ATTEMPTS = 3


@attrs.frozen(kw_only=True)
class SyncReport:
    """The answer: one item a record, in the order sent. In a dry run nothing was written.

    `changes` are what was, or in a dry run would be, written. `absentees`, as they were, are archived because they were
    left out of the records; no item speaks of them.
    """

    items: tuple[SyncItem, ...]
    summary: SyncSummary
    changes: tuple[EmployeeChange, ...] = attrs.field(default=(), repr=False)
    absentees: tuple[Employee, ...] = ()
    dry_run: bool = False

    @property
    def is_ok(self) -> bool:
        """Whether no record failed."""
        return self.summary.failed == 0


async def provision(
    ports: Ports,
    company_id: CompanyId,
    records: Sequence[EmployeeRecord | InvalidRecord],
    *,
    dry_run: bool = False,
    deactivate_missing: bool = False,
    confirm_deactivations: int | None = None,
) -> SyncReport:
    """Create, update, reactivate and archive people as the records say; all of it or, on a fault, none.

    With `deactivate_missing` people who carry an external id and are not mentioned are archived. Raises
    `MassDeactivationBlocked` when that looks like a broken export and `confirm_deactivations` is not the exact number,
    `NotFound` for an unknown company, `Conflict` when other writers kept being faster.
    """

    async def plan(reading: Reading) -> SyncPlan:
        external_ids = mentioned_external_ids(records)
        email_keys = mentioned_email_keys(records)
        candidates = Candidates(
            employees=await reading.matching_employees(external_ids=external_ids, email_keys=email_keys),
            held_elsewhere=await reading.addresses_held_by_other_companies(email_keys),
            sectors=await reading.sectors(),
            rostered=await reading.rostered_employees() if deactivate_missing else None,
        )
        now = ports.clock.now()
        new_ids = map(EmployeeId, uuid7_series(at=now, take=ports.entropy.take))
        plan = plan_sync(records, candidates, new_ids=new_ids, now=now)
        if plan.rostered is not None:
            check_deactivations(
                plan.summary,
                absentees=len(plan.absentees),
                rostered=plan.rostered,
                confirmed=confirm_deactivations,
            )
        return plan

    if dry_run:
        async with ports.store.reading(company_id) as reading:
            await reading.company()
            return _report(await plan(reading), dry_run=True)
    for _ in range(_ATTEMPTS):
        try:
            async with ports.store.transaction(company_id) as transaction:
                decided = await plan(transaction)
                if decided.changes or decided.sectors:
                    await transaction.apply(changes=decided.changes, sectors=decided.sectors)
            return _report(decided, dry_run=False)
        except ConstraintViolated:
            # Another company took one of the addresses between the look and the write: look again.
            continue
    raise Conflict("Other requests kept changing the same people. Nothing was written; send it again.")


def _report(plan: SyncPlan, *, dry_run: bool) -> SyncReport:
    items = plan.items
    if dry_run:
        # The ids of people not created exist in no store, so nobody may be told of them.
        items = tuple(
            attrs.evolve(item, id=None) if item.action is Action.CREATED else item for item in items
        )
    return SyncReport(
        items=items, summary=plan.summary, changes=plan.changes, absentees=plan.absentees, dry_run=dry_run
    )
