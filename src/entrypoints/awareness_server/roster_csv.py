"""Reading delimited text: which sign delimits, where each record starts, which records are broken.

The delimiter is voted for by the header: the right one cuts it into the most columns whose names mean something.
`csv.Sniffer` looks at letter frequencies instead, and takes an address full of commas for a comma-separated file.
Knows which names mean something only through the function it is given.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator

from awareness_server.roster_table import RosterRow, RosterTable, RosterUnusable

DELIMITERS = (";", ",", "\t", "|")
_SPELT = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}

_LINES_OF_PREAMBLE = 20
_COLUMNS_OF_A_HEADER = 3

_SEP_LINE = re.compile(r'"?sep=(.)"?[\t;, ]*\r?\n', re.IGNORECASE)
_TEXT_FORMULA = re.compile(r'="([^"]*)"')


def parse_delimiter(text: str) -> str:
    """The character that `text` means. Raises `RosterUnusable` for what could not delimit."""
    character = _SPELT.get(text.lower(), text)
    if len(character) != 1 or character in '"\r\n':
        raise RosterUnusable(f"the delimiter '{text}' is not one character; examples: ';' ',' tab '|'")
    return character


def read_csv(text: str, *, recognises: Callable[[str], bool], delimiter: str | None = None) -> RosterTable:
    """The table that `text` spells, its first record being the header. Blank records are left out.

    Raises `RosterUnusable` when a quoted cell never ends, as everything after it would be lost.
    """
    text, said, skipped = _without_sep_line(text)
    chosen = delimiter or said or _vote(text, recognises)
    records = _records(text, chosen, skipped)
    columns: tuple[str, ...] = ()
    for _, cells, problem in records:
        if problem is not None:
            raise RosterUnusable(f"its header cannot be read: {problem}")
        columns = tuple(cells)
        break
    cut = list(records)
    # Exports may end each line with the delimiter, in the header or not. One cell more than the others have is a cell
    # that holds the delimiter, though, and everything behind it is in the wrong column.
    longest = max(len(columns), min((len(cells) for _, cells, problem in cut if problem is None), default=0))
    while columns and not columns[-1]:
        columns = columns[:-1]
    rows = (_row(line, cells, problem, width=len(columns), longest=longest) for line, cells, problem in cut)
    return RosterTable(columns=columns, rows=tuple(rows))


def header_below(text: str, *, recognises: Callable[[str], bool]) -> int | None:
    """The line that looks like the header when what comes first is something else, such as a title; else None."""
    text, _, skipped = _without_sep_line(text)
    is_first = True
    for number, line in enumerate(text.splitlines()[:_LINES_OF_PREAMBLE], start=skipped + 1):
        for delimiter in DELIMITERS:
            if sum(recognises(cell.strip(' "')) for cell in line.split(delimiter)) >= _COLUMNS_OF_A_HEADER:
                return None if is_first else number
        is_first = is_first and not line.strip()
    return None


def _without_sep_line(text: str) -> tuple[str, str | None, int]:
    # Excel writes and obeys a first line like `sep=;`.
    sep = _SEP_LINE.match(text)
    return (text, None, 0) if sep is None else (text[sep.end() :], sep[1], 1)


def _vote(text: str, recognises: Callable[[str], bool]) -> str:
    def votes(delimiter: str) -> tuple[int, int]:
        for _, cells, _ in _records(text, delimiter, 0):
            return sum(map(recognises, cells)), sum(map(bool, cells))
        return 0, 0

    # The first of equals wins, so a header of one column is not cut at all.
    return max(DELIMITERS, key=votes)


def _records(text: str, delimiter: str, skipped: int) -> Iterator[tuple[int, list[str], str | None]]:
    """Yield the line on which each record starts, its trimmed cells, and why it is broken."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = skipped + reader.line_num + 1
        try:
            cells = [_cell(cell) for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            if "end of data" in str(error):
                raise RosterUnusable(
                    f"a quote opened in the record of line {line} is never closed, so the rest cannot be read"
                ) from error
            yield line, [], _explained(error)
            continue
        if any(cells):
            yield line, cells, None


def _cell(cell: str) -> str:
    stripped = cell.strip()
    # Exports made for Excel write ="00123" to keep its leading zeros.
    formula = _TEXT_FORMULA.fullmatch(stripped) if stripped.startswith('="') else None
    return stripped if formula is None else formula[1].strip()


def _row(line: int, cells: list[str], problem: str | None, *, width: int, longest: int) -> RosterRow:
    if problem is None and len(cells) < width:
        problem = f"has {len(cells)} cells where the header has {width}"
    elif problem is None and (len(cells) > longest or any(cells[width:])):
        problem = (
            f"has {len(cells)} cells where the header has {width}; quote a cell that holds the delimiter"
        )
    if len(cells) != width:
        cells = cells[:width] + [""] * (width - len(cells))
    return RosterRow(line=line, values=cells, problem=problem)


def _explained(error: csv.Error) -> str:
    if "field limit" in str(error):
        return f"has a cell of more than {csv.field_size_limit()} characters; is a closing quote missing?"
    if "expected after" in str(error):
        return "has a quoted cell that goes on after its closing quote; write a quote inside a cell twice"
    return f"is no CSV: {error}"
