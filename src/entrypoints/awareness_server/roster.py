"""A roster file read as a whole: from a path to records with the lines they stand on.

The way in for commands; each step has a module of its own (`roster_text`, `roster_csv`, `roster_json`,
`roster_columns`, `roster_records`). The content decides the format, never the file's name. Writes nothing anywhere.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import attrs

from awareness_core.emails import InvalidEmail, parse_email
from awareness_core.employees import EmployeeRecord
from awareness_core.records import InvalidRecord
from awareness_server.roster_columns import NOTHING_SAID, ColumnMap, choose_columns
from awareness_server.roster_csv import header_below, read_csv
from awareness_server.roster_headers import RosterField, is_activity_word, is_leaving_date
from awareness_server.roster_json import is_ndjson, looks_like_json, read_json, read_ndjson
from awareness_server.roster_records import RecordReader
from awareness_server.roster_table import RosterRow, RosterTable, RosterUnusable
from awareness_server.roster_text import decode_roster, read_roster_file


class RosterFormat(enum.Enum):
    """How a file was written."""

    CSV = "CSV"
    JSON = "JSON"
    NDJSON = "NDJSON"


@attrs.frozen(kw_only=True)
class RosterEntry:
    """One person of the file. `line` is as in `RosterRow`."""

    line: int
    record: EmployeeRecord | InvalidRecord

    @property
    def names_nobody(self) -> bool:
        """Whether nobody can tell whom the row means: it is broken, or has neither identifier nor address."""
        if isinstance(self.record, EmployeeRecord):
            return False
        if any(fault.code == "unreadable" for fault in self.record.faults):
            return True
        return not self.record.external_id and not _is_address(self.record.email)


@attrs.frozen(kw_only=True)
class Roster:
    """What a file holds. `columns` are the names that are read, in the file's order, each with its field.

    `unread` are the other names, a JSON envelope's keys included. `remarks` are sentences on what the file seems to
    say and is not taken from it.
    """

    format: RosterFormat
    encoding: str
    columns: tuple[tuple[str, RosterField], ...]
    unread: tuple[str, ...]
    remarks: tuple[str, ...]
    entries: tuple[RosterEntry, ...]


def read_roster(
    path: Path,
    *,
    said: ColumnMap = NOTHING_SAID,
    encoding: str | None = None,
    delimiter: str | None = None,
    watched: Callable[[Sequence[RosterRow]], Iterable[RosterRow]] = iter,
) -> Roster:
    """Read the file. What is not said of encoding, delimiter and columns is found out.

    Rows are drawn through `watched`, so that a caller can show how far it is.
    Raises `RosterUnusable` when no person can be read from it; a broken row is an `InvalidRecord` in its place.
    """
    read = decode_roster(read_roster_file(path), encoding=encoding)
    envelope: tuple[str, ...] = ()
    if not looks_like_json(read.text):
        form = RosterFormat.CSV
        table = read_csv(read.text, recognises=said.recognises, delimiter=delimiter)
    elif is_ndjson(read.text):
        form, table = RosterFormat.NDJSON, read_ndjson(read.text)
    else:
        form = RosterFormat.JSON
        table, envelope = read_json(read.text)
    if not table.rows:
        raise RosterUnusable(
            "it has a header and nobody in it" if form is RosterFormat.CSV else "nobody is in it"
        )
    try:
        choice = choose_columns(table.columns, said)
    except RosterUnusable as unusable:
        header = header_below(read.text, recognises=said.recognises) if form is RosterFormat.CSV else None
        if header is None:
            raise
        raise RosterUnusable(
            f"line {header} looks like its header; delete what stands above it", hints=unusable.hints[:1]
        ) from unusable
    reader = RecordReader(table.columns, choice.positions, in_words=form is RosterFormat.CSV)
    read_columns = sorted((position, field) for field, position in choice.positions.items())
    return Roster(
        format=form,
        encoding=read.encoding,
        columns=tuple((table.columns[position], field) for position, field in read_columns),
        unread=(*envelope, *(table.columns[position] for position in choice.unread)),
        remarks=_remarks(table, choice.unread, knows_who_left=RosterField.ACTIVE in choice.positions),
        entries=tuple(RosterEntry(line=row.line, record=reader.read(row)) for row in watched(table.rows)),
    )


def _remarks(table: RosterTable, unread: tuple[int, ...], *, knows_who_left: bool) -> tuple[str, ...]:
    if knows_who_left:
        return ()
    remarks = []
    for position in unread:
        column = table.columns[position]
        words = {word for row in table.rows if isinstance(word := row.values[position], str) and word}
        if is_leaving_date(column):
            remarks.append(
                f"'{column}' is not read: whoever is listed counts as present, unless 'Actif' or 'Active' says no"
            )
        elif words and all(map(is_activity_word, words)):
            remarks.append(f"'{column}' looks like who is active; to read it so: --map \"{column}=active\"")
    return tuple(remarks)


def _is_address(text: str) -> bool:
    try:
        parse_email(text)
    except InvalidEmail:
        return False
    return True
