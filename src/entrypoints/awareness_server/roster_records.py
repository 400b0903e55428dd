"""From a row of a roster to the record that the core plans with, or to what is wrong with the row.

The core checks what fields may hold; this module only turns cells and JSON values into its plain texts, and speaks of
fields by the file's own column names. One bad row never spoils the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from awareness_core.absent import ABSENT, Absent
from awareness_core.employees import EmployeeRecord
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.records import InvalidRecord, RawEmployee, check_record
from awareness_server.roster_headers import RosterField, presence_said
from awareness_server.roster_table import RosterRow, Unreadable

_CORE_NAMES = {field: field.value for field in RosterField} | {RosterField.SECTOR: "sector_name"}
_IDENTIFIERS = frozenset({RosterField.EXTERNAL_ID, RosterField.SECTOR_ID})

# An address typed on two lines is one text; the core refuses control characters, which would split lines elsewhere.
_LINE_BREAKS = re.compile(r"[ \t]*[\t\r\n\v\f\x85\u2028\u2029]+[ \t]*")

_TRUTH_IN_WORDS = "is neither yes nor no; write oui or non, yes or no, true or false, 1 or 0"


class RecordReader:
    """Makes records of the rows of one file, whose columns have been chosen.

    `in_words` says that booleans are written in words, as in CSV, and not as JSON's own.
    """

    def __init__(
        self, columns: Sequence[str], positions: Mapping[RosterField, int], *, in_words: bool
    ) -> None:
        self._positions = positions
        self._columns = {field: columns[position] for field, position in positions.items()}
        self._names = {_CORE_NAMES[field]: column for field, column in self._columns.items()}
        self._in_words = in_words

    def read(self, row: RosterRow) -> EmployeeRecord | InvalidRecord:
        """The record that `row` spells, or everything that is wrong with it."""
        faults: list[Fault] = []
        texts: dict[RosterField, str | Absent | None] = {}
        active: bool | Absent | None = ABSENT
        for field, position in self._positions.items():
            value = row.values[position]
            if field is RosterField.ACTIVE:
                active = self._truth(value, faults)
            else:
                texts[field] = self._text(field, value, faults)
        if row.problem is not None:
            # What its fields hold may be another's, so that only the whole can be judged.
            faults = [Fault(field="", code="unreadable", message=row.problem)]
        else:
            try:
                record = check_record(_raw(texts, active=active), names=self._names)
            except ValidationFailed as refused:
                known = {fault.field for fault in faults}
                faults += [fault for fault in refused.faults if fault.field not in known]
            else:
                if not faults:
                    return record
        return InvalidRecord(
            faults=tuple(faults),
            external_id=texts.get(RosterField.EXTERNAL_ID) or None,
            email=texts.get(RosterField.EMAIL) or "",
        )

    def _text(self, field: RosterField, value: object, faults: list[Fault]) -> str | Absent | None:
        if value is ABSENT or value is None:
            return value
        if isinstance(value, int) and not isinstance(value, bool) and field in _IDENTIFIERS:
            return str(value)
        if not isinstance(value, str):
            message = f"must be text, not {_kind(value)}"
            faults.append(Fault(field=self._columns[field], code="wrong_type", message=message))
            return ABSENT
        return _LINE_BREAKS.sub(" ", value.strip())

    def _truth(self, value: object, faults: list[Fault]) -> bool | None:
        if value is ABSENT or value is None or value == "":
            return None
        said = presence_said(value) if self._in_words and isinstance(value, str) else None
        if not self._in_words and isinstance(value, bool):
            said = value
        if said is None:
            message = (
                f"'{value}' {_TRUTH_IN_WORDS}"
                if self._in_words
                else f"must be true or false, not {_kind(value)}"
            )
            column = self._columns[RosterField.ACTIVE]
            faults.append(Fault(field=column, code="invalid_boolean", message=message))
        return said


def _raw(texts: Mapping[RosterField, str | Absent | None], *, active: bool | Absent | None) -> RawEmployee:
    return RawEmployee(
        email=texts[RosterField.EMAIL] or "",
        last_name=texts[RosterField.LAST_NAME] or "",
        first_name=texts[RosterField.FIRST_NAME] or "",
        external_id=texts.get(RosterField.EXTERNAL_ID, ABSENT),
        job_title=texts.get(RosterField.JOB_TITLE, ABSENT),
        phone=texts.get(RosterField.PHONE, ABSENT),
        address=texts.get(RosterField.ADDRESS, ABSENT),
        sector_name=texts.get(RosterField.SECTOR, ABSENT),
        sector_id=texts.get(RosterField.SECTOR_ID, ABSENT),
        active=active,
    )


def _kind(value: object) -> str:
    match value:
        case Unreadable(what=what):
            return what
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text '{value}'"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"
