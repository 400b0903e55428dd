"""A whole directory as it arrives: put aside until it is complete, then handed out as lines, as often as needed.

No transaction is open while a caller is still sending, and none is opened for a payload that broke off. A JSON body is
kept in memory, lines in a temporary file, so that memory does not grow with them. What a line says is `record_lines`'
business.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from itertools import islice
from types import TracebackType
from typing import IO, Final, Self, TypeVar

import msgspec

from awareness_core.errors import Fault, ValidationFailed
from awareness_http.record_lines import RecordLines
from awareness_http.strict_json import parse_json
from awareness_http.typed_reader import take
from awareness_http.wire.synchronising import MAX_LINES, MAX_RECORDS, SyncOptions

_LINES_AT_ONCE: Final = 1000
"""Some ten milliseconds' work, after which other requests have their turn."""

_BEGINNING: Final = 1024
_MAX_LINE: Final = 64 * 1024
_RECORDS: Final = "employees"

Item = TypeVar("Item")

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode


class JsonPayload:
    """The `employees` of one JSON body, and its options. Raises `ValidationFailed` for a broken envelope."""

    def __init__(self, body: bytes) -> None:
        self._records, envelope = _split(body)
        taken = take(SyncOptions, envelope, besides=(_RECORDS,))
        if taken.faults:
            raise ValidationFailed(taken.faults)
        self.options = SyncOptions(**taken.fields)  # type: ignore[arg-type]  # `take` checked each against its type

    async def chunks(self) -> AsyncIterator[RecordLines]:
        """See `Payload`."""
        for start in range(0, len(self._records), _LINES_AT_ONCE):
            yield RecordLines(self._records[start : start + _LINES_AT_ONCE], start)
            await asyncio.sleep(0)


class LinePayload:
    """Records that arrive a line each, with `{"end": {"count": N}}` as the last. A context manager."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by __exit__)
        self._unfinished = b""
        self._last = b""
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def feed(self, part: bytes) -> None:
        """Take the next bytes of the body. Raises `ValidationFailed` when they cannot lead to a good end."""
        *lines, self._unfinished = (self._unfinished + part).split(b"\n")
        for line in lines:
            self._keep(line)
        if len(self._unfinished) > _MAX_LINE:
            raise self._too_long()

    def finish(self) -> None:
        """The body is over. Raises `ValidationFailed` unless it ended as it should: it may have been cut off."""
        self._keep(self._unfinished)
        self._unfinished = b""
        if self._announced() != self._count:
            message = (
                f'the last line must be {{"end": {{"count": {self._count}}}}}, with the number of lines before it; '
                "nothing was written, because the payload may have been cut off"
            )
            raise ValidationFailed([Fault(field="end", code="incomplete", message=message)])

    async def chunks(self) -> AsyncIterator[RecordLines]:
        """See `Payload`."""
        self._file.seek(0)
        for start in range(0, self._count, _LINES_AT_ONCE):
            size = min(_LINES_AT_ONCE, self._count - start)
            yield RecordLines([line.rstrip(b"\n") for line in islice(self._file, size)], start)
            await asyncio.sleep(0)

    def _announced(self) -> int | None:
        """How many records the last line says there are, or None when it is no end line."""
        try:
            match parse_json(self._last):
                case {"end": {"count": int(count), **more_inside}, **more} if not more_inside and not more:
                    return None if isinstance(count, bool) else count
        except ValidationFailed:
            return None
        return None

    def _keep(self, line: bytes) -> None:
        """Put the line before this one aside: which one is the last is known only afterwards."""
        stripped = line.strip()
        if not stripped:
            return
        if len(stripped) > _MAX_LINE:
            raise self._too_long()
        if self._last:
            self._count += 1
            if self._count > MAX_LINES:
                message = f"more than {MAX_LINES} records; send them in several requests"
                raise ValidationFailed([Fault(field="", code="too_many", message=message)])
            self._file.write(self._last + b"\n")
        self._last = stripped

    def _too_long(self) -> ValidationFailed:
        # The line before is put aside, and not counted yet.
        number = self._count + (2 if self._last else 1)
        message = f"line {number} is longer than {_MAX_LINE} bytes; send one record a line"
        return ValidationFailed([Fault(field="", code="too_long", message=message)])


def _split(body: bytes) -> tuple[Sequence[bytes | msgspec.Raw], dict[str, object]]:
    """The records of a body, unread, and the rest of it, read strictly."""
    try:
        array = bytes(_members(body)[_RECORDS])
        # Each of them is a part of `array`, not a copy.
        records = _elements(array)
    except (msgspec.MsgspecError, KeyError, RecursionError):
        return _split_strictly(parse_json(body))
    # The rest is read with the records taken out, which is what makes it short. Where the same text stands elsewhere
    # too, one of the two is taken out, and the other is seen by the strict reader.
    start = _place_of(array, body)
    envelope = parse_json(body[:start] + b"[]" + body[start + len(array) :])
    if not isinstance(envelope, dict):
        raise ValidationFailed(_envelope_faults(envelope))
    return _few_enough(records), envelope


def _split_strictly(value: object) -> tuple[Sequence[bytes], dict[str, object]]:
    """The same of a body that the quick decoder refuses and the strict reader takes: text with lone surrogates."""
    if not isinstance(value, dict) or not isinstance(value.get(_RECORDS), list):
        raise ValidationFailed(_envelope_faults(value))
    return spelt_again(_few_enough(value[_RECORDS])), value


def spelt_again(items: Sequence[object]) -> list[bytes]:
    """The items as JSON, in ASCII; what no other spelling has, a lone surrogate, stands there as it was sent."""
    return [json.dumps(item).encode("ascii") for item in items]


def _few_enough(records: Sequence[Item]) -> Sequence[Item]:
    if len(records) > MAX_RECORDS:
        message = f"has {len(records)} records; at most {MAX_RECORDS} are allowed, or a million line by line"
        raise ValidationFailed([Fault(field=_RECORDS, code="too_many", message=message)])
    return records


def _place_of(array: bytes, body: bytes) -> int:
    # Nearly always it stands where its beginning stands first, and a search for so long a text takes its time.
    start = body.find(array[:_BEGINNING])
    return start if body.startswith(array, start) else body.index(array)


def _envelope_faults(value: object) -> list[Fault]:
    if not isinstance(value, dict):
        return [Fault(field="", code="wrong_type", message="must be an object with a list named employees")]
    if _RECORDS not in value:
        return [Fault(field=_RECORDS, code="missing", message="is required")]
    return [Fault(field=_RECORDS, code="wrong_type", message="must be a list of records")]
