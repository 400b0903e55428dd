"""docs/performance.md: the table in it is made here, the words around it are not.

Lines of rows that were not measured this time stay, with their date, as long as they were measured on this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Final

from benchmarks.catalogue import ROWS
from benchmarks.figures import Line

PAGE: Final = Path(__file__).parents[1] / "docs" / "performance.md"

_DATABASES: Final = ("SQLite", "PostgreSQL")
_BEGIN, _END = "<!-- measured -->\n", "<!-- measured so far -->"
_TITLES: Final = (
    *("row", "work", "ours", "limit", "ours : limit, median (range)", "bar", "", "computing: ours / limit"),
    "measured",
)


def write(lines: Sequence[Line], *, databases: Sequence[str], machine: str, rounds: int, today: date) -> None:
    """Put `lines` into the table, each in the place of those of its row and its database that are there.

    `databases` are those that were measured; a line that names none is replaced with its row.
    """
    text = PAGE.read_text(encoding="utf-8")
    before, begin, rest = text.partition(_BEGIN)
    kept, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{PAGE} has no place for the table")
    named = f"Machine: {machine}."
    old = [line for line in kept.splitlines() if line.startswith("| `")] if named in kept else []
    measured = {line.row for line in lines}
    table: dict[str, list[str]] = {row: [] for row in (*map(_row_of, old), *measured)}
    for spelt in old:
        is_of_another = any(name in spelt for name in _DATABASES if name not in databases)
        if _row_of(spelt) not in measured or is_of_another:
            table[_row_of(spelt)].append(spelt)
    for line in lines:
        table[line.row].append(_spelt(line, f"{today}, {rounds} rounds"))
    made = [
        *("", named, "", _joined(_TITLES), _joined(["---"] * len(_TITLES))),
        *(spelt for row in sorted(table, key=_order) for spelt in table[row]),
        "",
    ]
    PAGE.write_text(before + begin + "\n".join(made) + "\n" + end + after, encoding="utf-8")


def _spelt(line: Line, measured: str) -> str:
    verdict = {True: "met", False: "**missed**", None: ""}[line.is_met]
    cells = (f"`{line.row}`", line.work, line.ours, line.limit, line.ratio, line.bar, verdict, line.computing)
    return _joined([*cells, measured])


def _joined(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _row_of(spelt: str) -> str:
    return spelt.split("`")[1]


def _order(row: str) -> int:
    return list(ROWS).index(row) if row in ROWS else len(ROWS)
