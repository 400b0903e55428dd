"""One record of a payload, read from its bytes when it has to be.

Most records are well-formed, and for those one pass of a compiled decoder is enough; whatever it refuses is read again
by the strict reader, which tells every fault. The two agree: what the decoder accepts, the strict reader accepts too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import attrs
import msgspec

from awareness_core.employees import EmployeeRecord
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.records import InvalidRecord, fingerprint_of
from awareness_http.places import item_place
from awareness_http.strict_json import parse_json
from awareness_http.typed_reader import Taken, take
from awareness_http.wire.provisioning import EmployeeFields, read_record

_QUICK: Final = msgspec.json.Decoder(
    msgspec.defstruct(
        "QuickRecord",
        [
            (field.name, field.type, msgspec.field(default=msgspec.UNSET))
            if field.default is not attrs.NOTHING
            else (field.name, field.type)
            for field in attrs.fields(attrs.resolve_types(EmployeeFields, include_extras=False))
        ],
        forbid_unknown_fields=True,
        kw_only=True,
    )
)
_NAME_END: Final = re.compile(rb'"\s*:')
_NO_FAULTS: Final[tuple[Fault, ...]] = ()


class RecordLine:
    """A `synchronise.Line`. `index` is the record's place in the payload, for messages."""

    __slots__ = ("__dict__", "_index", "_spelling")

    def __init__(self, spelling: bytes, index: int) -> None:
        self._spelling = spelling
        self._index = index

    @cached_property
    def fingerprint(self) -> bytes:
        """See `Line`."""
        return fingerprint_of(self._spelling)

    def read(self) -> EmployeeRecord | InvalidRecord:
        """See `Line`."""
        taken = self._quickly() or self._strictly()
        if isinstance(taken, InvalidRecord):
            return taken
        try:
            return read_record(taken, fingerprint=self.fingerprint)
        except ValidationFailed as refusal:
            return self._invalid(refusal, taken.fields)

    def _quickly(self) -> Taken | None:
        try:
            decoded = _QUICK.decode(self._spelling)
        except msgspec.MsgspecError:
            return None
        fields = {
            name: value
            for name in decoded.__struct_fields__
            if (value := getattr(decoded, name)) is not msgspec.UNSET
        }
        # The decoder keeps the last of repeated names. Every name ends in a quote and a colon, and a text can only add
        # to the count, which then sends a good record the long way.
        if len(_NAME_END.findall(self._spelling)) != len(fields):
            return None
        return Taken(fields=fields, faults=_NO_FAULTS)

    def _strictly(self) -> Taken | InvalidRecord:
        try:
            value = parse_json(self._spelling)
        except ValidationFailed as refusal:
            return self._invalid(refusal, {})
        taken = take(EmployeeFields, value)
        if taken.faults:
            try:
                read_record(taken)
            except ValidationFailed as refusal:
                return self._invalid(refusal, value if isinstance(value, dict) else {})
        return taken

    def _invalid(self, refusal: ValidationFailed, fields: Mapping[str, Any]) -> InvalidRecord:
        place = item_place("employees", self._index)
        external_id, email = fields.get("external_id"), fields.get("email")
        return InvalidRecord(
            faults=tuple(
                attrs.evolve(fault, field=f"{place}.{fault.field}" if fault.field else place)
                for fault in refusal.faults
            ),
            # A number where a text belongs is a fault, but it still says who is meant.
            external_id=str(external_id) if isinstance(external_id, str | int) else None,
            email=email if isinstance(email, str) else "",
        )
