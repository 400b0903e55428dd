"""A payload that is in memory, for the use case that takes payloads of any length."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import attrs

from awareness_core.employees import EmployeeRecord
from awareness_core.records import UnchangedPerson, fingerprint_of
from awareness_core.sync_plan import SyncItem


@attrs.frozen
class SpeltLine:
    """A `Line` whose spelling is the record's own description."""

    record: EmployeeRecord

    @property
    def fingerprint(self) -> bytes:
        return fingerprint_of(repr(self.record).encode())

    def read(self) -> EmployeeRecord:
        return attrs.evolve(self.record, fingerprint=self.fingerprint)


@attrs.frozen
class ListedPayload:
    """A `Payload` of these lines, so many at a time."""

    lines: Sequence[SpeltLine]
    at_once: int

    async def chunks(self) -> AsyncIterator[Sequence[SpeltLine]]:
        for start in range(0, len(self.lines), self.at_once):
            yield self.lines[start : start + self.at_once]


class KeptResults:
    """`Results` by position."""

    def __init__(self) -> None:
        self.items: dict[int, SyncItem | UnchangedPerson] = {}

    def restart(self) -> None:
        self.items.clear()

    def put(self, position: int, item: SyncItem | UnchangedPerson) -> None:
        self.items[position] = item
