"""The records of a payload, read from their bytes when they have to be.

Most records are well-formed, and for those one pass of a compiled decoder is enough; whatever it refuses is read again
by the strict reader, which tells every fault. The two agree: what the decoder accepts, the strict reader accepts too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import msgspec

from awareness_core.absent import ABSENT
from awareness_core.employees import EmployeeRecord
from awareness_core.errors import ValidationFailed
from awareness_core.records import Glance, InvalidRecord, check_record, fingerprint_of
from awareness_http.places import item_place
from awareness_http.strict_json import parse_json
from awareness_http.typed_reader import take
from awareness_http.wire.provisioning import FIELD_NAMES, EmployeeFields, read_record

_CORE_NAMES: Final = {wire: core for core, wire in FIELD_NAMES.items()}
_QUICK: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(
    msgspec.defstruct(
        "QuickRecord",
        [
            (
                _CORE_NAMES[field.name],
                field.type,
                msgspec.field(
                    name=field.name, default=msgspec.NODEFAULT if field.default is attrs.NOTHING else ABSENT
                ),
            )
            for field in attrs.fields(attrs.resolve_types(EmployeeFields, include_extras=False))
        ],
        forbid_unknown_fields=True,
        kw_only=True,
        gc=False,
    )
)
"""To the texts of a `RawEmployee`, under its names."""

_SEPARATOR: Final = b":"
_NAMING: Final = re.compile(rb'"(external_id|email)"\s*:\s*(?:"((?:[^"\\\n]|\\.)*)"|([0-9]+))')
"""Who is named, in a line that may be broken anywhere else."""
_NAME_END: Final = re.compile(rb'"\s*:')


class _Glance(msgspec.Struct, gc=False):
    external_id: str | None = None
    email: str = ""
    fingerprint: bytes = b""


_glance: Final = msgspec.json.Decoder(_Glance).decode
_glances: Final = msgspec.json.Decoder(list[_Glance]).decode


class RecordLines:
    """`synchronise.Lines`. `start` is the place of the first in the payload, for messages."""

    def __init__(self, spellings: Sequence[bytes | msgspec.Raw], start: int) -> None:
        self._spellings = spellings
        self._start = start
        self._glances: Sequence[Glance] | None = None

    def glances(self) -> Sequence[Glance]:
        """See `Lines`."""
        if self._glances is None:
            self._glances = _glances_at(self._spellings)
        return self._glances

    def read(self, offset: int) -> EmployeeRecord | InvalidRecord:
        """See `Lines`."""
        return _Line(self._spellings[offset], self._start + offset, self.glances()[offset]).read()


def _glances_at(spellings: Sequence[bytes | msgspec.Raw]) -> Sequence[Glance]:
    try:
        found = _glances(b"[" + b",".join(spellings) + b"]")
    except msgspec.MsgspecError:
        found = []
    # A line may hold half an array, and then the next one the other half.
    if len(found) != len(spellings):
        found = [_glance_at(spelling) for spelling in spellings]
    for glance, spelling in zip(found, spellings, strict=True):
        glance.fingerprint = fingerprint_of(spelling)
    return found


def _glance_at(spelling: bytes | msgspec.Raw) -> _Glance:
    try:
        return _glance(spelling)
    except msgspec.MsgspecError:
        return _Glance()


class _Line:
    """One of them. `index` is its place in the payload."""

    __slots__ = ("_glance", "_index", "_spelling")

    def __init__(self, spelling: bytes | msgspec.Raw, index: int, glance: Glance) -> None:
        self._spelling = spelling
        self._index = index
        self._glance = glance

    def read(self) -> EmployeeRecord | InvalidRecord:
        """The record, or all that is wrong with it."""
        return self._quickly() or self._strictly()

    def _quickly(self) -> EmployeeRecord | None:
        """The record, if it is a good one. A bad one may be anything."""
        try:
            raw = _QUICK.decode(self._spelling)
            if type(raw.sector_id) is int:
                raw.sector_id = str(raw.sector_id)
            return (
                check_record(raw, fingerprint=self._glance.fingerprint) if self._is_said_once(raw) else None
            )
        except (msgspec.MsgspecError, ValidationFailed):
            return None

    def _is_said_once(self, raw: msgspec.Struct) -> bool:
        # The decoder keeps the last of repeated names. Every name ends in a quote and a colon, and a text can only add
        # to the count, which then sends a good record the long way.
        values = msgspec.structs.astuple(raw)
        # Compared by identity, as an enumeration's member is equal to nothing else.
        names, spelling = sum([value is not ABSENT for value in values]), bytes(self._spelling)
        return spelling.count(_SEPARATOR) == names or len(_NAME_END.findall(spelling)) == names

    def _strictly(self) -> EmployeeRecord | InvalidRecord:
        try:
            value = parse_json(bytes(self._spelling))
        except ValidationFailed as refusal:
            # Whom it names may be plain all the same, and who is named has not left.
            return self._invalid(refusal, _named_in(bytes(self._spelling)))
        taken = take(EmployeeFields, value)
        try:
            return read_record(taken, fingerprint=self._glance.fingerprint)
        except ValidationFailed as refusal:
            return self._invalid(refusal, value if isinstance(value, dict) else {})

    def _invalid(self, refusal: ValidationFailed, fields: Mapping[str, Any]) -> InvalidRecord:
        place = item_place("employees", self._index)
        external_id, email = fields.get("external_id"), fields.get("email")
        return InvalidRecord(
            faults=tuple(
                attrs.evolve(fault, field=f"{place}.{fault.field}" if fault.field else place)
                for fault in refusal.faults
            ),
            # A number where a text belongs is a fault, but it still says who is meant.
            external_id=_told(str(external_id)) if isinstance(external_id, str | int) else None,
            email=_told(email) if isinstance(email, str) else "",
        )


def _named_in(spelling: bytes) -> dict[str, str]:
    """External id and address in a record that is not JSON, as far as they can be made out."""
    found = {}
    for match in _NAMING.finditer(spelling):
        field, text, number = (
            None if part is None else part.decode("utf-8", "replace") for part in match.groups()
        )
        if field is not None and field not in found:
            found[field] = _unescaped(text) if text is not None else number or ""
    return found


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def _told(text: str) -> str:
    # An answer is UTF-8, which has no lone surrogates.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
