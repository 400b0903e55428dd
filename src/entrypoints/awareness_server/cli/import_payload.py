"""A roster as a payload for the core, and the core's answers as one report.

All of it is in memory, as the table that is printed is made of all of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import attrs

from awareness_core.employees import Action, Employee, EmployeeChange, EmployeeRecord
from awareness_core.records import InvalidRecord, UnchangedPerson, fingerprint_of
from awareness_core.sync_plan import SyncItem
from awareness_core.use_cases.provision import SyncReport
from awareness_core.use_cases.synchronise import Answer, SyncOutcome

_AT_ONCE = 1000

Record = EmployeeRecord | InvalidRecord


@attrs.frozen
class _Glance:
    fingerprint: bytes
    external_id: str | None
    email: str


@attrs.frozen
class RosterLines:
    """`synchronise.Lines`. A record is known by all that it says, whatever the file's format and columns."""

    records: Sequence[Record]

    def glances(self) -> Sequence[_Glance]:
        """See `Lines`."""
        return [_glance(record) for record in self.records]

    def read(self, offset: int) -> Record:
        """See `Lines`."""
        record = self.records[offset]
        if isinstance(record, InvalidRecord):
            return record
        return attrs.evolve(record, fingerprint=_glance(record).fingerprint)


@attrs.frozen
class RosterPayload:
    """`synchronise.Payload`."""

    records: Sequence[Record]

    async def chunks(self) -> AsyncIterator[RosterLines]:
        """See `Payload`."""
        for start in range(0, len(self.records), _AT_ONCE):
            yield RosterLines(self.records[start : start + _AT_ONCE])


class RosterResults:
    """`synchronise.Results`, for a `SyncReport`."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """See `Results`."""
        self._items: list[SyncItem | None] = []
        self._changes: list[EmployeeChange] = []
        self._absentees: list[Employee] = []

    def put(self, start: int, answers: Sequence[Answer | None]) -> None:  # noqa: ARG002 (they come in order)
        """See `Results`."""
        self._items.extend(None if answer is None else _item(answer) for answer in answers)

    def put_late(self, position: int, answer: Answer) -> None:
        """See `Results`."""
        self._items[position] = _item(answer)

    def note_written(self, changes: Sequence[EmployeeChange]) -> None:
        """See `Results`."""
        self._changes.extend(changes)

    def note_absentees(self, people: Sequence[Employee]) -> None:
        """See `Results`."""
        self._absentees.extend(people)

    def report(self, outcome: SyncOutcome) -> SyncReport:
        """All of it, when the payload has come to that outcome."""
        return SyncReport(
            items=tuple(item for item in self._items if item is not None),
            summary=outcome.summary,
            changes=tuple(self._changes),
            absentees=tuple(self._absentees),
            dry_run=outcome.dry_run,
        )


def _glance(record: Record) -> _Glance:
    if isinstance(record, InvalidRecord):
        return _Glance(b"", record.external_id, record.email)
    # What is hidden from the repr is the fingerprint alone.
    return _Glance(fingerprint_of(repr(record).encode()), record.external_id, record.email.key)


def _item(answer: Answer) -> SyncItem:
    if isinstance(answer, UnchangedPerson):
        return SyncItem(
            external_id=answer.external_id, email=answer.email, action=Action.SKIPPED, id=answer.id
        )
    return answer
