"""How commands speak: data on stdout, everything else on stderr, as a table for people or as JSON for programs.

A table that does not fit a terminal becomes a block of lines for each row, so that nothing is ever cut; in a pipe it
has one line a row and no decoration. What users typed is never read as markup. Knows no command.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeAlias, overload

from cyclopts import Parameter

from awareness_server.exit_codes import CommandFailed, ExitCode

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from awareness_core.pages import Page

AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", negative=(), show_default=False)]
"""The type of every command's `as_json` parameter. Describe it as "Print JSON instead of a table."."""

JsonValue: TypeAlias = bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None

_PIPE_WIDTH = 10_000
_PIPE_PICTURE_WIDTH = 120
_BETWEEN_COLUMNS = 3


class OutputClosed(Exception):
    """Whoever read our output went away; there is nobody left to tell."""

    code = ExitCode.OUTPUT_CLOSED


def write_json(value: JsonValue) -> None:
    """One JSON document on stdout. Raises `OutputClosed`."""
    _write(json.dumps(value, ensure_ascii=_stdout_is_narrow(), indent=2) + "\n")


def write_json_line(value: JsonValue) -> None:
    """One compact line of JSON on stdout, for NDJSON. Raises `OutputClosed`."""
    _write(json.dumps(value, ensure_ascii=_stdout_is_narrow(), separators=(",", ":")) + "\n")


def write_text(text: str) -> None:
    """`text` and a line end on stdout, as it is. Raises `OutputClosed`."""
    _write(text + "\n")


def write_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """A table on stdout; columns named in `right` are aligned right. Raises `OutputClosed`."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    console = Console(width=None if on_terminal else _PIPE_WIDTH, highlight=False)
    if on_terminal and _width(columns, rows) > console.width:
        _write(_blocks(columns, rows))
        return
    table = Table(
        box=box.SIMPLE_HEAD if on_terminal else None, pad_edge=False, header_style="bold", show_edge=False
    )
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    write_text(drawn(table, width=console.width, on_terminal=on_terminal))


def stdout_width() -> int:
    """How many columns a picture may take: the terminal's, or as many as it likes to a pipe."""
    from rich.console import Console

    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    return Console(highlight=False).width if on_terminal else _PIPE_PICTURE_WIDTH


def stdout_can_show(text: str) -> bool:
    """Whether the output's encoding has these characters."""
    try:
        text.encode((sys.stdout and sys.stdout.encoding) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def drawn(table: Table, *, width: int, on_terminal: bool) -> str:
    """The lines of a table, without blanks at their ends."""
    from rich.console import Console

    # Apart from stdout, to which rich writes even while it captures: what becomes of that is `write_text`'s business.
    canvas = io.StringIO()
    Console(file=canvas, force_terminal=on_terminal, width=width, highlight=False).print(table)
    return "\n".join(line.rstrip() for line in canvas.getvalue().splitlines())


@overload
def moment(at: datetime) -> str: ...
@overload
def moment(at: datetime | None) -> str | None: ...
def moment(at: datetime | None) -> str | None:
    """For JSON: RFC 3339 in UTC."""
    from awareness_core.periods import spell_moment

    return None if at is None else spell_moment(at)


def shown_moment(at: datetime | None) -> str:
    """For tables: to the minute, in UTC; empty when there is none."""
    return "" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M}Z"


def pagination(page: Page[object]) -> JsonValue:
    """What a listing in JSON says of its page."""
    return {
        "page": page.request.page,
        "limit": page.request.limit,
        "total": page.total,
        "total_pages": page.total_pages,
        "has_more": page.has_more,
    }


def say(text: str) -> None:
    """A line on stderr: a hint, a warning, what is going on. A closed stderr is nobody's loss."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except BrokenPipeError:
        _discard(sys.stderr.fileno())


@contextmanager
def progress_bar(label: str, *, total: int | None) -> Iterator[Progress]:
    """A rich progress display on stderr with one task (id 0), and nothing at all when stderr is no terminal."""
    from rich.progress import Progress

    with Progress(
        console=_error_console(), transient=True, disable=sys.stderr is None or not sys.stderr.isatty()
    ) as progress:
        progress.add_task(label, total=total)
        yield progress


def _width(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    from rich.cells import cell_len

    widths = [max(map(cell_len, cells)) for cells in zip(columns, *rows, strict=True)]
    return sum(widths) + _BETWEEN_COLUMNS * len(widths)


def _blocks(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Each row as lines of its own, for a terminal that is too narrow for the table."""
    label = max(map(len, columns))
    blocks = (
        "".join(f"{column:<{label}}  {cell}\n" for column, cell in zip(columns, row, strict=True) if cell)
        for row in rows
    )
    return "\n".join(blocks)


def _error_console() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def _write(text: str) -> None:
    if sys.stdout is None:
        raise OutputClosed
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # Python flushes stdout once more when it exits, and would complain then.
        _discard(sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise OutputClosed from None
        message = f"the output cannot be written: {error.strerror}; the command itself was carried out"
        raise CommandFailed(message) from error


def _discard(descriptor: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def _stdout_is_narrow() -> bool:
    return sys.stdout is None or (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
