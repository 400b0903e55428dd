"""The answers to the records of one payload, encoded and put aside until the whole is known to be written.

They come nearly in order: an answer that depended on later records comes last. Memory grows with those alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Final, Self

import msgspec

from awareness_core.employees import Action, EmployeeId
from awareness_core.records import UnchangedPerson
from awareness_core.sync_plan import SyncItem
from awareness_http.wire.provisioning import spell_item

_IN_MEMORY: Final = 4 * 1024 * 1024
_NEWCOMING: Final = frozenset({Action.CREATED, Action.REACTIVATED})
_encode = msgspec.json.Encoder().encode


class ResultSpool:
    """`synchronise.Results`. `newcomers` are the first of those created or reactivated, `newcoming` counts them all."""

    def __init__(self, *, dry_run: bool, max_newcomers: int) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 (closed by __exit__)
        self._dry_run = dry_run
        self._max_newcomers = max_newcomers
        self.restart()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def restart(self) -> None:
        """See `Results`."""
        self._file.seek(0)
        self._file.truncate()
        self._count = 0
        self._late: dict[int, bytes] = {}
        self.newcomers: list[EmployeeId] = []
        self.newcoming = 0

    def put(self, position: int, item: SyncItem | UnchangedPerson) -> None:
        """See `Results`."""
        if isinstance(item, UnchangedPerson):
            item = SyncItem(external_id=item.external_id, email=item.email, action=Action.SKIPPED, id=item.id)
        elif item.action in _NEWCOMING:
            self.newcoming += 1
            if item.id is not None and len(self.newcomers) < self._max_newcomers:
                self.newcomers.append(item.id)
        line = _encode(spell_item(item, dry_run=self._dry_run))
        if position < self._count:
            self._late[position] = line
            return
        # The places left out are those of answers that are still to come.
        self._late.update(dict.fromkeys(range(self._count, position), b""))
        self._count = position + 1
        self._file.write(line + b"\n")

    def lines(self) -> Iterator[bytes]:
        """All answers in the order of the payload, each encoded."""
        self._file.seek(0)
        for position in range(self._count):
            late = self._late.get(position)
            yield self._file.readline().rstrip(b"\n") if late is None else late
