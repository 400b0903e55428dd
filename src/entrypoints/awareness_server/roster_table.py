"""A roster before anything is understood of it: columns as they are named in the file, rows with where they stand.

The one form in which CSV and JSON readers hand over what they read. Knows no field and no rule.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs


class RosterUnusable(Exception):
    """Nothing can be imported from this file as it is. `message` says why; `hints` are lines on what would help."""

    def __init__(self, message: str, *, hints: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hints = tuple(hints)


@attrs.frozen
class Unreadable:
    """A value that no field can take, and what it is: "a list", "NaN"."""

    what: str


@attrs.frozen(kw_only=True)
class RosterRow:
    """One row. `line` is the line of the file on which it starts, or in a JSON array its index, from 0.

    `values` follow the table's columns: texts from CSV, anything from JSON, `ABSENT` where a JSON object lacks the key.
    `problem` says why the row as a whole cannot be trusted; the values are then what could be made out.
    """

    line: int
    values: Sequence[object]
    problem: str | None = None


@attrs.frozen(kw_only=True)
class RosterTable:
    """What was read: `columns` as the file names them, in its order; an unnamed column is the empty text."""

    columns: tuple[str, ...]
    rows: tuple[RosterRow, ...]
