"""A payload that is in memory, for the use case that takes payloads of any length."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import attrs

from awareness_core.employees import Employee, EmployeeChange, EmployeeRecord
from awareness_core.records import fingerprint_of
from awareness_core.use_cases.synchronise import Answer


@attrs.frozen
class SpeltLine:
    """A `Glance` at a line whose spelling is the record's own description."""

    record: EmployeeRecord

    @property
    def fingerprint(self) -> bytes:
        return fingerprint_of(repr(self.record).encode())

    @property
    def external_id(self) -> str | None:
        return self.record.external_id

    @property
    def email(self) -> str:
        return self.record.email.key


@attrs.frozen
class SpeltLines:
    """Some `Lines`."""

    lines: Sequence[SpeltLine]

    def glances(self) -> Sequence[SpeltLine]:
        return self.lines

    def read(self, offset: int) -> EmployeeRecord:
        line = self.lines[offset]
        return attrs.evolve(line.record, fingerprint=line.fingerprint)


@attrs.frozen
class ListedPayload:
    """A `Payload` of these lines, so many at a time."""

    lines: Sequence[SpeltLine]
    at_once: int

    async def chunks(self) -> AsyncIterator[SpeltLines]:
        for start in range(0, len(self.lines), self.at_once):
            yield SpeltLines(self.lines[start : start + self.at_once])


class KeptResults:
    """`Results` by position."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.items: dict[int, Answer] = {}
        self.changes: list[EmployeeChange] = []
        self.absentees: list[Employee] = []

    def put(self, start: int, answers: Sequence[Answer | None]) -> None:
        self.items.update(
            {position: answer for position, answer in enumerate(answers, start) if answer is not None}
        )

    def put_late(self, position: int, answer: Answer) -> None:
        self.items[position] = answer

    def note_written(self, changes: Sequence[EmployeeChange]) -> None:
        self.changes.extend(changes)

    def note_absentees(self, people: Sequence[Employee]) -> None:
        self.absentees.extend(people)
