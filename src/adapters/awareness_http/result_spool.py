"""The answers to the records of one payload, encoded and put aside until the whole is known to be written.

They come nearly in order: an answer that depended on later records comes last. Memory grows with those alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from types import TracebackType
from typing import IO, Final, Self

import msgspec

from awareness_core.employees import Action, Employee, EmployeeChange, EmployeeId
from awareness_core.sync_plan import SyncItem
from awareness_core.use_cases.synchronise import Answer
from awareness_http.wire.provisioning import spell_line

_IN_MEMORY: Final = 4 * 1024 * 1024
_NEWCOMING: Final = frozenset({Action.CREATED, Action.REACTIVATED})
_AT_ONCE: Final = 64 * 1024
_encode = msgspec.json.Encoder().encode
_encode_lines = msgspec.json.Encoder().encode_lines


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
        self._late: dict[int, bytes] = {}
        self.newcomers: list[EmployeeId] = []
        self.newcoming = 0

    def put(self, start: int, answers: Sequence[Answer | None]) -> None:  # noqa: ARG002 (they come in order)
        """See `Results`."""
        for is_open, run in groupby(answers, key=_is_open):
            if is_open:
                self._file.write(b"\n" * len(list(run)))
            else:
                self._file.write(_encode_lines([self._spelt(answer) for answer in run if answer is not None]))

    def put_late(self, position: int, answer: Answer) -> None:
        """See `Results`."""
        self._late[position] = _encode(self._spelt(answer))

    def note_written(self, changes: Sequence[EmployeeChange]) -> None:
        """See `Results`. An answer over HTTP does not say."""

    def note_absentees(self, people: Sequence[Employee]) -> None:
        """See `Results`. An answer over HTTP counts them."""

    def parts(self) -> Iterator[bytes]:
        """All answers in the order of the payload, each encoded and with a line break after it; any number a part."""
        self._file.seek(0)
        if not self._late:
            while part := self._file.read(_AT_ONCE):
                yield part
            return
        for position, line in enumerate(self._file):
            yield line if position not in self._late else self._late[position] + b"\n"

    def _spelt(self, answer: Answer) -> object:
        if isinstance(answer, SyncItem) and answer.action in _NEWCOMING:
            self.newcoming += 1
            if answer.id is not None and len(self.newcomers) < self._max_newcomers:
                self.newcomers.append(answer.id)
        return spell_line(answer, dry_run=self._dry_run)


def _is_open(answer: Answer | None) -> bool:
    return answer is None
