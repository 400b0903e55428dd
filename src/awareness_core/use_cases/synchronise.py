"""Bring a company's directory in line with a payload of any length: one transaction, a chunk at a time.

What is kept in memory grows with the identities in the payload, not with its records. For records that are in memory
anyway there is `provision`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import NoReturn, Protocol

import attrs

from awareness_core.employees import Action, Employee, EmployeeChange, EmployeeId, EmployeeRecord
from awareness_core.errors import Conflict, ConstraintViolated
from awareness_core.identifiers import uuid7_series
from awareness_core.matching import mentioned_email_keys, mentioned_external_ids
from awareness_core.ports import Ports, Transaction
from awareness_core.records import Glance, InvalidRecord, UnchangedPerson
from awareness_core.sectors import Sector
from awareness_core.sync import PayloadPlanner, archivals
from awareness_core.sync_plan import (
    Candidates,
    ChunkPlan,
    SyncItem,
    SyncSummary,
    check_deactivations,
    summarise,
)
from awareness_core.tenants import CompanyId

_ATTEMPTS = 3
_ABSENTEES_AT_ONCE = 1000

Record = EmployeeRecord | InvalidRecord | UnchangedPerson


class Lines(Protocol):
    """Some records of a payload, one after the other, none of which is read before it has to be."""

    def glances(self) -> Sequence[Glance]:
        """What each says at first sight; the fingerprint is `records.fingerprint_of` its spelling."""

    def read(self, offset: int) -> EmployeeRecord | InvalidRecord:
        """The record at `offset` (from 0), checked; an `EmployeeRecord` carries the fingerprint."""


class Payload(Protocol):
    """Records in the order sent."""

    def chunks(self) -> AsyncIterator[Lines]:
        """All of them, from the beginning each time; some thousands at a time."""


Answer = SyncItem | UnchangedPerson


class Results(Protocol):
    """Where the answers to the records go."""

    def restart(self) -> None:
        """Forget what was put: the payload is begun anew."""

    def put(self, start: int, answers: Sequence[Answer | None]) -> None:
        """What became of the records from position `start` (from 0) on, the next in the payload.

        The answers to records with None come later, and last.
        """

    def put_late(self, position: int, answer: Answer) -> None:
        """What became of a record whose place was left open."""

    def note_written(self, changes: Sequence[EmployeeChange]) -> None:
        """What was written beside; in a dry run it is undone in the end."""

    def note_absentees(self, people: Sequence[Employee]) -> None:
        """Who, as they were, was archived for not being mentioned. No answer speaks of them."""


@attrs.frozen(kw_only=True)
class SyncOutcome:
    """The answer to a payload as a whole; that to each record went to the `Results`."""

    summary: SyncSummary
    dry_run: bool = False

    @property
    def is_ok(self) -> bool:
        """Whether no record failed."""
        return self.summary.failed == 0


async def synchronise(
    ports: Ports,
    company_id: CompanyId,
    payload: Payload,
    results: Results,
    *,
    dry_run: bool = False,
    deactivate_missing: bool = False,
    confirm_deactivations: int | None = None,
) -> SyncOutcome:
    """As `provision`, for a payload that is read in chunks; `results` get one answer a record.

    All of it is written, or on any fault none. A dry run writes too, and rolls back, as later chunks must meet what
    earlier ones did. Raises what `provision` raises, and whatever reading the payload raises.
    """
    for _ in range(_ATTEMPTS):
        results.restart()
        try:
            async with ports.store.transaction(company_id) as transaction:
                run = _Run(ports, transaction, results, is_whole=deactivate_missing, is_dry=dry_run)
                await run.start()
                async for chunk in payload.chunks():
                    await run.take(chunk)
                summary = await run.finish(confirmed=confirm_deactivations)
                if dry_run:
                    _undo(summary)
        except _Undo as undone:
            return SyncOutcome(summary=undone.summary, dry_run=True)
        except ConstraintViolated:
            # Another company took one of the addresses between the look and the write: look again.
            continue
        return SyncOutcome(summary=summary)
    raise Conflict("Other requests kept changing the same people. Nothing was written; send it again.")


class _Undo(Exception):
    def __init__(self, summary: SyncSummary) -> None:
        self.summary = summary


def _undo(summary: SyncSummary) -> NoReturn:
    raise _Undo(summary)


class _Run:
    """One attempt at one payload, in one transaction."""

    def __init__(
        self, ports: Ports, transaction: Transaction, results: Results, *, is_whole: bool, is_dry: bool
    ) -> None:
        self._ports = ports
        self._transaction = transaction
        self._results = results
        self._planner = PayloadPlanner(is_whole_directory=is_whole)
        self._knows_sectors = False
        self._is_whole = is_whole
        self._is_dry = is_dry
        self._new_ids = map(EmployeeId, uuid7_series(at=ports.clock.now(), take=ports.entropy.take))
        self._rostered = 0
        self._position = 0
        self._deferred: list[tuple[int, Record]] = []
        self._actions: Counter[Action] = Counter()

    async def start(self) -> None:
        """Look at what the guard compares with, before anything is written."""
        if self._is_whole:
            self._rostered = await self._transaction.count_rostered_employees()

    async def take(self, chunk: Lines) -> None:
        """Decide and write the next records, but for those that later ones may make way for."""
        known = await self._transaction.unchanged_people(chunk.glances())
        records: list[Record] = [
            chunk.read(offset) if person is None else person for offset, person in enumerate(known)
        ]
        plan = await self._plan(records, is_last=False)
        start, self._position = self._position, self._position + len(records)
        self._deferred.extend((start + offset, records[offset]) for offset in plan.deferred)
        answers: list[Answer | None] = list(known)
        for offset, item in plan.items.items():
            if known[offset] is None:
                answers[offset] = self._tellable(item)
            else:
                # It does not count after all; the answer echoes what was sent, which has not been read yet.
                answers[offset] = attrs.evolve(item, external_id=chunk.read(offset).external_id)
        self._actions.update(item.action for item in plan.items.values())
        self._actions[Action.SKIPPED] += len(records) - len(plan.items) - len(plan.deferred)
        self._results.put(start, answers)
        await self._write(plan.changes, plan.sectors)

    async def finish(self, *, confirmed: int | None) -> SyncSummary:
        """Decide what was deferred, archive who is missing if that was asked for, and count.

        Raises `MassDeactivationBlocked`, which rolls everything back.
        """
        plan = await self._plan([record for _, record in self._deferred], is_last=True)
        for offset, item in plan.items.items():
            self._actions[item.action] += 1
            self._results.put_late(self._deferred[offset][0], self._tellable(item))
        absentees = await self._absentees()
        summary = summarise(self._actions)
        summary = attrs.evolve(summary, deactivated=summary.deactivated + len(absentees))
        if self._is_whole:
            check_deactivations(
                summary, absentees=len(absentees), rostered=self._rostered, confirmed=confirmed
            )
        # Those whose mailbox goes to somebody else let it go in the very write that hands it over.
        handed_over = archivals(self._planner.replaced, now=self._ports.clock.now())
        await self._write((*plan.changes, *handed_over), plan.sectors)
        if self._planner.replaced:
            self._results.note_absentees(self._planner.replaced)
        replaced = {person.id for person in self._planner.replaced}
        await self._archive([employee_id for employee_id in absentees if employee_id not in replaced])
        return summary

    async def _plan(self, records: Sequence[Record], *, is_last: bool) -> ChunkPlan:
        read = [record for record in records if not isinstance(record, UnchangedPerson)]
        email_keys = mentioned_email_keys(read)
        if not self._knows_sectors and any(
            isinstance(record, EmployeeRecord) and record.sector for record in read
        ):
            self._planner.learn_sectors(await self._transaction.sectors())
            self._knows_sectors = True
        if read:
            candidates = Candidates(
                employees=await self._transaction.matching_employees(
                    external_ids=mentioned_external_ids(read), email_keys=email_keys
                ),
                held_elsewhere=await self._transaction.addresses_held_by_other_companies(email_keys),
            )
        else:
            candidates = Candidates(employees=())
        return self._planner.plan_chunk(
            records,
            candidates,
            new_ids=self._new_ids,
            now=self._ports.clock.now(),
            is_last=is_last,
            was_deferred=is_last,
        )

    async def _absentees(self) -> list[EmployeeId]:
        if not self._is_whole:
            return []
        absentees = [person.id for person in self._planner.replaced]
        async for entries in self._transaction.roster():
            absentees.extend(
                entry.id for entry in entries if self._planner.is_missing(entry.external_id, entry.email_key)
            )
        return absentees

    async def _archive(self, employee_ids: Sequence[EmployeeId]) -> None:
        for start in range(0, len(employee_ids), _ABSENTEES_AT_ONCE):
            people = await self._transaction.employees_by_id(employee_ids[start : start + _ABSENTEES_AT_ONCE])
            await self._write(archivals(people, now=self._ports.clock.now()))
            self._results.note_absentees(people)

    async def _write(self, changes: Sequence[EmployeeChange], sectors: Sequence[Sector] = ()) -> None:
        if changes or sectors:
            await self._transaction.apply(changes=changes, sectors=sectors)
            self._results.note_written(changes)

    def _tellable(self, item: SyncItem) -> SyncItem:
        # The ids of people not created exist in no store, so nobody may be told of them.
        return attrs.evolve(item, id=None) if self._is_dry and item.action is Action.CREATED else item
