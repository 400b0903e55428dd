"""The results of one campaign as they arrive, in JSON or line by line: `import_results.ResultsPayload`s.

Most items are well-formed, and for those one pass of a compiled decoder is enough; whatever it refuses is read again by
the strict reader, which tells every fault. The two agree: what the decoder accepts, the strict reader accepts too.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import attrs
import msgspec

from awareness_core.errors import MAX_FAULTS, Fault, ValidationFailed
from awareness_core.results_check import RefusedLine
from awareness_core.results_intake import LineFailure
from awareness_core.results_plan import Line
from awareness_http.payloads import LinePayload, spelt_again
from awareness_http.places import item_place, member_place, place_within
from awareness_http.strict_json import parse_json
from awareness_http.typed_reader import Taken, take
from awareness_http.wire.result_imports import (
    CAMPAIGN,
    EVENT,
    LISTS,
    MAX_IMPORTED,
    RECIPIENT,
    RECIPIENTS,
    Destinataire,
    Evenement,
    LineError,
    read_campaign,
    read_event,
    read_recipient,
)

_READ_AT_ONCE: Final = 250
"""A few milliseconds' work, after which other requests have their turn."""
_IN_A_BATCH: Final = 500
"""What is asked of the store is asked for so many lines together."""
_KINDS: Final[Mapping[str, type]] = {RECIPIENT: Destinataire, EVENT: Evenement}
_NAME_END: Final = re.compile(rb'"\s*:')
_NO_FAULTS: Final[tuple[Fault, ...]] = ()

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode


class JsonResults:
    """The recipients of one JSON body, then its events. Raises `ValidationFailed` for a broken envelope."""

    def __init__(self, body: bytes) -> None:
        envelope, lists = _split(body)
        faults = [*_stranger_faults(envelope), *_length_faults(lists)]
        try:
            # Of what is missing that much is told above.
            campaign = read_campaign(envelope[CAMPAIGN]) if CAMPAIGN in envelope else None
        except ValidationFailed as refusal:
            faults += refusal.faults
        else:
            if campaign is not None and not faults:
                self.campaign, self._lists = campaign, lists
                return
        raise ValidationFailed(faults)

    async def batches(self) -> AsyncIterator[Sequence[Line]]:
        """See `ResultsPayload`."""
        items = ((kind, raw) for name, kind in zip(LISTS, _KINDS, strict=True) for raw in self._lists[name])
        async for batch in _in_batches(_read_item(kind, bytes(raw)) for kind, raw in items):
            yield batch

    def errors(self, failures: Iterable[LineFailure]) -> Iterator[LineError]:
        """What was wrong, by the place in its list."""
        recipients = len(self._lists[RECIPIENTS])
        for failure in failures:
            is_event = failure.index >= recipients
            index = failure.index - recipients if is_event else failure.index
            yield from _errors(index, item_place(LISTS[is_event], index), failure)


class LineResults(LinePayload):
    """The same line by line. A context manager; `campaign` is there when it has finished."""

    def finish(self) -> None:
        """See `LinePayload`; the first line has to be the campaign, too."""
        super().finish()
        self._file.seek(0)
        first = parse_json(self._file.readline()) if self._count else None
        if not isinstance(first, dict) or first.keys() != {CAMPAIGN}:
            message = f'the first line must be {{"{CAMPAIGN}": {{...}}}}'
            raise ValidationFailed([Fault(field=CAMPAIGN, code="missing", message=message)])
        self.campaign = read_campaign(first[CAMPAIGN])

    async def batches(self) -> AsyncIterator[Sequence[Line]]:
        """See `ResultsPayload`."""
        self._file.seek(0)
        self._file.readline()
        async for batch in _in_batches(_read_line(self._file.readline()) for _ in range(self._count - 1)):
            yield batch

    def errors(self, failures: Iterable[LineFailure]) -> Iterator[LineError]:
        """What was wrong, by the number of the line, from 0; the campaign's is the first."""
        for failure in failures:
            yield from _errors(failure.index + 1, item_place("", failure.index + 1), failure)


async def _in_batches(lines: Iterable[Line]) -> AsyncIterator[Sequence[Line]]:
    """The lines, which are read as they are asked for."""
    remaining = iter(lines)
    batch: list[Line] = []
    while part := list(islice(remaining, _READ_AT_ONCE)):
        batch += part
        await asyncio.sleep(0)
        if len(batch) >= _IN_A_BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _errors(index: int, place: str, failure: LineFailure) -> Iterator[LineError]:
    for fault in failure.faults:
        yield LineError(
            index=index, field=place_within(place, fault.field), message=fault.message, code=fault.code
        )


def _split(body: bytes) -> tuple[dict[str, object], Mapping[str, Sequence[bytes | msgspec.Raw]]]:
    """The body without its lists, read strictly, and the items of its lists, unread."""
    try:
        members = _members(body)
        arrays = {name: bytes(members[name]) for name in LISTS if name in members}
        lists = {name: _elements(array) for name, array in arrays.items()}
    except (msgspec.MsgspecError, RecursionError):
        return _split_strictly(parse_json(body))
    # Read with the lists taken out, which is what makes it short.
    short = body
    for array in arrays.values():
        before, _, after = short.partition(array)
        short = before + b"[]" + after
    envelope = parse_json(short)
    if not isinstance(envelope, dict):
        raise ValidationFailed(_envelope_faults(envelope))
    return envelope, {name: lists.get(name, []) for name in LISTS}


def _split_strictly(value: object) -> tuple[dict[str, object], Mapping[str, Sequence[bytes]]]:
    """The same of a body that the quick decoder refuses and the strict reader takes: text with lone surrogates."""
    faults = _envelope_faults(value)
    if faults or not isinstance(value, dict):
        raise ValidationFailed(faults)
    return value, {name: spelt_again(value.get(name, [])) for name in LISTS}


def _stranger_faults(envelope: Mapping[str, object]) -> Iterator[Fault]:
    known = (CAMPAIGN, *LISTS)
    for name in islice((name for name in envelope if name not in known), MAX_FAULTS):
        message = f"is not a field here; there are {', '.join(known)}"
        yield Fault(field=member_place("", name), code="unknown_field", message=message)
    if CAMPAIGN not in envelope:
        yield Fault(field=CAMPAIGN, code="missing", message="is required")


def _length_faults(lists: Mapping[str, Sequence[object]]) -> Iterator[Fault]:
    for name, items in lists.items():
        if len(items) > MAX_IMPORTED:
            message = f"has {len(items)} items; at most {MAX_IMPORTED} are allowed, or a million line by line"
            yield Fault(field=name, code="too_many", message=message)


def _envelope_faults(value: object) -> list[Fault]:
    if not isinstance(value, dict):
        return [Fault(field="", code="wrong_type", message=f"must be an object with a {CAMPAIGN}")]
    return [
        Fault(field=name, code="wrong_type", message="must be a list")
        for name in LISTS
        if not isinstance(value.get(name, []), list)
    ]


def _read_line(spelling: bytes) -> Line:
    for kind, decoder in _QUICK_LINES.items():
        fields = _quickly(decoder, spelling, within=kind)
        if fields is not None:
            return _read(kind, Taken(fields=fields, faults=_NO_FAULTS), place=kind)
    try:
        value = parse_json(spelling)
    except ValidationFailed as refusal:
        return RefusedLine(faults=refusal.faults)
    if isinstance(value, dict) and len(value) == 1:
        ((kind, item),) = value.items()
        if kind in _KINDS:
            return _read(kind, take(_KINDS[kind], item), place=kind)
    message = f'must be {{"{RECIPIENT}": {{...}}}} or {{"{EVENT}": {{...}}}}'
    return RefusedLine(faults=(Fault(field="", code="wrong_type", message=message),))


def _read_item(kind: str, spelling: bytes) -> Line:
    fields = _quickly(_QUICK[kind], spelling)
    if fields is not None:
        return _read(kind, Taken(fields=fields, faults=_NO_FAULTS))
    try:
        return _read(kind, take(_KINDS[kind], parse_json(spelling)))
    except ValidationFailed as refusal:
        return RefusedLine(faults=refusal.faults)


def _read(kind: str, taken: Taken, *, place: str = "") -> Line:
    try:
        return _READERS[kind](taken)
    except ValidationFailed as refusal:
        return RefusedLine(
            faults=tuple(
                attrs.evolve(fault, field=place_within(place, fault.field)) for fault in refusal.faults
            )
        )


_READERS: Final[Mapping[str, Callable[[Taken], Line]]] = {
    RECIPIENT: read_recipient,
    EVENT: read_event,
}


def _quickly(
    decoder: msgspec.json.Decoder[Any], spelling: bytes, *, within: str | None = None
) -> dict[str, object] | None:
    """The fields of an item that the decoder takes, or None."""
    try:
        decoded = decoder.decode(spelling)
    except (msgspec.MsgspecError, RecursionError):
        return None
    item = decoded if within is None else getattr(decoded, within)
    fields = {
        name: value for name in item.__struct_fields__ if (value := getattr(item, name)) is not msgspec.UNSET
    }
    # The decoder keeps the last of repeated names. Every name ends in a quote and a colon, and a text can only add to
    # the count, which then sends a good item the long way.
    names = len(fields) + (within is not None)
    return fields if len(_NAME_END.findall(spelling)) == names else None


def _struct_of(shape: type) -> type[msgspec.Struct]:
    return msgspec.defstruct(
        f"Quick{shape.__name__}",
        [
            (field.name, field.type, msgspec.field(default=msgspec.UNSET))
            if field.default is not attrs.NOTHING
            else (field.name, field.type)
            for field in attrs.fields(attrs.resolve_types(shape, include_extras=False))
        ],
        forbid_unknown_fields=True,
        kw_only=True,
    )


def _decoder_within(kind: str, struct: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    line = msgspec.defstruct(f"Quick{kind}Line", [(kind, struct)], forbid_unknown_fields=True)
    return msgspec.json.Decoder(line)


_STRUCTS: Final = {kind: _struct_of(shape) for kind, shape in _KINDS.items()}
_QUICK: Final = {kind: msgspec.json.Decoder(struct) for kind, struct in _STRUCTS.items()}
# Most lines are events.
_QUICK_LINES: Final = {kind: _decoder_within(kind, _STRUCTS[kind]) for kind in reversed(tuple(_KINDS))}
