"""What a directory sync does: from records and the people who may be meant, to a plan of writes and an answer.

A single record is a sync of one. The plan is decided from values alone; it depends on the order of records only in
that the first of two that mean the same person counts (and a new sector gets the first spelling), never on the order
in which people were loaded. It takes time proportional to the records. Rules: docs/explanation/sync.md; Choice:
decisions/007.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import attrs

from awareness_core.emails import EmailKey
from awareness_core.employees import Employee, EmployeeChange, EmployeeId, EmployeeRecord, archive
from awareness_core.records import InvalidRecord, UnchangedPerson
from awareness_core.rollcall import Rollcall
from awareness_core.sectors import Sector, SectorDirectory
from awareness_core.sync_chunk import Chunk
from awareness_core.sync_plan import Candidates, ChunkPlan, SyncPlan, summarise


def plan_sync(
    records: Sequence[EmployeeRecord | InvalidRecord],
    candidates: Candidates,
    *,
    new_ids: Iterator[EmployeeId],
    now: datetime,
) -> SyncPlan:
    """Decide every record of one payload. `items` are in the order of `records`."""
    rostered = candidates.rostered
    planner = PayloadPlanner(is_whole_directory=rostered is not None)
    planner.learn_sectors(candidates.sectors)
    plan = planner.plan_chunk(records, candidates, new_ids=new_ids, now=now, is_last=True)
    items = tuple(plan.items[position] for position in range(len(records)))
    missing = [
        person for person in rostered or () if planner.is_missing(person.external_id, person.email.key)
    ]
    absentees = sorted((*missing, *planner.replaced), key=lambda person: person.id)
    summary = summarise(Counter(item.action for item in items))
    return SyncPlan(
        items=items,
        summary=attrs.evolve(summary, deactivated=summary.deactivated + len(absentees)),
        changes=(*plan.changes, *archivals(absentees, now=now)),
        sectors=plan.sectors,
        absentees=tuple(absentees),
        rostered=None if rostered is None else len(rostered),
    )


def archivals(absentees: Sequence[Employee], *, now: datetime) -> tuple[EmployeeChange, ...]:
    """The writes that archive these people."""
    return tuple(EmployeeChange(before=person, after=archive(person, now=now)) for person in absentees)


class PayloadPlanner:
    """One payload on its way through the plan, chunk by chunk; the outcome is that of planning it at once.

    What a chunk cannot decide alone, because a later record may make way for it, is deferred; the last chunk is made of
    all that was deferred. Within a chunk each pass looks at every entry before the next begins, which is what makes the
    outcome independent of order.
    """

    def __init__(self, *, is_whole_directory: bool) -> None:
        self._sectors = SectorDirectory(())
        self._rollcall = Rollcall()
        self._is_whole = is_whole_directory
        self.replaced: list[Employee] = []
        """Whose mailbox went to somebody else while nothing lists them any more: they have left."""

    def learn_sectors(self, sectors: Iterable[Sector]) -> None:
        """Be told the company's sectors; to be done before the first chunk with a record that names one."""
        self._sectors = SectorDirectory(sectors)

    def plan_chunk(
        self,
        records: Sequence[EmployeeRecord | InvalidRecord | UnchangedPerson],
        candidates: Candidates,
        *,
        new_ids: Iterator[EmployeeId],
        now: datetime,
        is_last: bool = False,
        was_deferred: bool = False,
    ) -> ChunkPlan:
        """Decide the next records of the payload; `candidates` are read after the writes of the chunks before."""
        sectors_before = len(self._sectors.created)
        chunk = Chunk(
            records, candidates, self._rollcall, self._sectors, is_whole=self._is_whole, is_last=is_last
        )
        chunk.match_all(was_deferred=was_deferred)
        chunk.check_sectors()
        chunk.share_addresses()
        items, changes = {}, []
        for entry in chunk.entries:
            if entry.is_deferred:
                continue
            items[entry.position], change = chunk.conclude(entry, new_ids=new_ids, now=now)
            if change is not None:
                changes.append(change)
        self.replaced.extend(chunk.replaced())
        return ChunkPlan(
            items=items,
            changes=tuple(changes),
            sectors=self._sectors.created[sectors_before:],
            deferred=tuple(entry.position for entry in chunk.entries if entry.is_deferred),
        )

    def is_missing(self, external_id: str | None, email_key: EmailKey) -> bool:
        """Whether nothing in the payload so far mentions this person."""
        return not self._rollcall.is_mentioned(external_id=external_id, email_key=email_key)
