"""The command: which rows are measured, how often, and that the page is written."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import machine, page
from benchmarks.catalogue import LONG, ROWS, WITHOUT_DATABASE
from benchmarks.figures import Line
from benchmarks.measuring import Bench
from benchmarks.postgres import PostgresBackend
from benchmarks.stores import Backend, SqliteBackend

_ROUNDS = 5


def main(arguments: Sequence[str]) -> None:
    """Measure, print, write. What is missed fails nothing."""
    wanted = _parser().parse_args(arguments)
    names: list[str] = wanted.names or [name for name in ROWS if wanted.long or name not in LONG]
    os.sched_setaffinity(0, {machine.LOAD_CORE})
    described = machine.described()
    print(f"{described}\nprocesses that wanted to run in the last minute: {machine.load():.1f}", flush=True)
    lines: list[Line] = []
    databases = wanted.database or list(_BACKENDS)
    with TemporaryDirectory(prefix="awareness-bench-") as folder, ExitStack() as stack:
        backends = [stack.enter_context(_BACKENDS[database](Path(folder))) for database in databases]
        for name in names:
            for backend in backends[:1] if name in WITHOUT_DATABASE else backends:
                bench = Bench(backend=backend, rounds=wanted.rounds, say=partial(_say, name))
                for line in ROWS[name](bench):
                    _say("", "")
                    print(_shown(line), flush=True)
                    lines.append(line)
        measured = [backend.name for backend in backends]
    print(f"processes that wanted to run in the last minute: {machine.load():.1f}")
    if not wanted.no_write:
        page.write(
            lines,
            databases=measured,
            machine=described,
            rounds=wanted.rounds,
            today=datetime.now(UTC).date(),
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure the service against limits and write docs/performance.md.",
        epilog=f"Rows: {', '.join(ROWS)}. Those that take many minutes: {', '.join(sorted(LONG))}.",
    )
    parser.add_argument("names", nargs="*", choices=[*ROWS, []], metavar="NAME", help="a row; all by default")
    parser.add_argument(
        "--rounds",
        type=int,
        default=_ROUNDS,
        help=f"how often each is measured; {_ROUNDS} or more for the page",
    )
    parser.add_argument("--database", action="append", choices=list(_BACKENDS), help="both by default")
    parser.add_argument("--long", action="store_true", help="those rows, too, that take many minutes")
    parser.add_argument("--no-write", action="store_true", help="leave docs/performance.md as it is")
    return parser


def _sqlite(folder: Path) -> AbstractContextManager[Backend]:
    return nullcontext(SqliteBackend(folder))


def _postgres(_: Path) -> AbstractContextManager[Backend]:
    return PostgresBackend()


_BACKENDS: Mapping[str, Callable[[Path], AbstractContextManager[Backend]]] = {
    "sqlite": _sqlite,
    "postgres": _postgres,
}


def _shown(line: Line) -> str:
    verdict = {True: "met", False: "MISSED", None: ""}[line.is_met]
    parts = [line.ours, *(() if line.limit == "–" else (f"limit {line.limit}", f"ratio {line.ratio}"))]
    if line.computing:
        parts.append(f"computing {line.computing}")
    return f"{line.row}: {line.work}\n    {'; '.join(parts)}; bar {line.bar} {verdict}".rstrip()


def _say(row: str, what: str) -> None:
    # To whoever waits at a terminal; what is written elsewhere holds results only.
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{row}{row and ': '}{what}")
        sys.stderr.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
