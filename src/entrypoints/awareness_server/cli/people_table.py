"""Tables of people: as `output.write_table`, but laid out so that no id and no address is ever broken in two.

The first layout that fits the terminal is taken: addresses on one line; addresses broken before their @; what is about
a person below each other, beside their id; and below it. A pipe gets one line a person. Knows no command.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import attrs

from awareness_server.cli.output import drawn, write_text

if TYPE_CHECKING:
    from rich.table import Table

_PIPE_WIDTH = 10_000
_GAP = 2
_LEAST_ROOM = 14


@attrs.frozen(kw_only=True)
class Column:
    """A column's title and how its cells may be laid out.

    A `whole` one is never folded; the others are, between words, down to a width of `room`.
    """

    title: str
    right: bool = False
    whole: bool = False
    is_email: bool = False
    is_name: bool = False
    room: int = _LEAST_ROOM


def write_people(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], *, bad_words: Collection[str] = ()
) -> None:
    """The table on stdout. Cells that are one of `bad_words` stand out in red where there is colour.

    Raises `OutputClosed`.
    """
    from rich.console import Console

    on_terminal = sys.stdout.isatty()
    console = Console(width=None if on_terminal else _PIPE_WIDTH, highlight=False)
    if on_terminal:
        columns, rows = _laid_out(columns, rows, width=console.width)
    table = _table(columns, rows, bad_words, decorated=on_terminal)
    write_text(drawn(table, width=console.width, on_terminal=on_terminal))


def _laid_out(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], *, width: int
) -> tuple[Sequence[Column], Sequence[Sequence[str]]]:
    if _width_needed(columns, rows) <= width:
        return columns, rows
    broken = [
        [
            cell.replace("@", "\n@") if column.is_email else cell
            for column, cell in zip(columns, row, strict=True)
        ]
        for row in rows
    ]
    if _width_needed(columns, broken) <= width:
        return columns, broken
    ids = [column for column in columns if column.whole]
    beside = [[*_cells(columns, row, whole=True), "\n".join(_about(columns, row))] for row in rows]
    addresses = [[*_cells(columns, row, whole=True), _address(columns, row)] for row in rows]
    if _width_needed([*ids, Column(title="PERSON", is_email=True)], addresses) <= width:
        return [*ids, Column(title="PERSON")], beside
    return [Column(title="PERSON")], [
        ["\n".join(["  ".join(_cells(columns, row, whole=True)), *_about(columns, row)])] for row in rows
    ]


def _cells(columns: Sequence[Column], row: Sequence[str], *, whole: bool) -> list[str]:
    return [cell for column, cell in zip(columns, row, strict=True) if column.whole is whole]


def _address(columns: Sequence[Column], row: Sequence[str]) -> str:
    return next((cell for column, cell in zip(columns, row, strict=True) if column.is_email), "")


def _about(columns: Sequence[Column], row: Sequence[str]) -> list[str]:
    """Name and address on a line each, and what else there is on a third."""
    cells = [(column, cell) for column, cell in zip(columns, row, strict=True) if cell and not column.whole]
    lines = [cell for column, cell in cells if column.is_name or column.is_email]
    rest = [cell for column, cell in cells if not (column.is_name or column.is_email)]
    return [*lines, *([" · ".join(rest)] if rest else ())]


def _width_needed(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> int:
    from rich.cells import cell_len

    needed = (len(columns) - 1) * _GAP
    for index, column in enumerate(columns):
        lines = (line for row in rows for line in row[index].split("\n"))
        longest = max(map(cell_len, lines), default=0)
        can_fold = not column.whole and not column.is_email
        needed += max(len(column.title), min(longest, column.room) if can_fold else longest)
    return needed


def _table(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], bad_words: Collection[str], *, decorated: bool
) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD if decorated else None,
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    for column in columns:
        table.add_column(
            column.title,
            justify="right" if column.right else "left",
            no_wrap=column.whole or column.is_email,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(cell, style="red" if cell in bad_words else "") for cell in row))
    return table
