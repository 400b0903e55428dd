"""The limits of a whole-directory sync: decode the JSON and write it, or decode it and read the keys to compare with.

No rule, no answer, no HTTP. Run as a module it is one measurement, in a process of its own on the server's core, whose
seconds it prints.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import asyncpg
import msgspec

from benchmarks.apart import Taken, taken_by, tell
from benchmarks.limits import COLUMNS, INSERT, NewPerson, row_of


class _Body(msgspec.Struct):
    employees: list[NewPerson]


def time_limit(limit: Sequence[str], body: Path) -> Taken:
    """What a `Backend.directory_limit` takes for the JSON in a file."""
    return taken_by("directory_limits", *limit, str(body))


def sqlite_load(path: str, company_id: str, body: bytes) -> None:
    """Decode, and INSERT into the indexed table in one durable transaction."""
    people = msgspec.json.decode(body, type=_Body).employees
    connection = _connect(path)
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(
        INSERT,
        (row_of(company_id, number, person) for number, person in enumerate(people)),
    )
    connection.execute("COMMIT")


def sqlite_compare(path: str, company_id: str, body: bytes) -> None:
    """Decode, and SELECT the keys of everyone there."""
    msgspec.json.decode(body, type=_Body)
    _connect(path).execute(
        "SELECT external_id, email_key FROM employees WHERE company_id = ?", (company_id,)
    ).fetchall()


def postgres_load(url: str, company_id: str, body: bytes) -> None:
    """Decode, and COPY into the indexed table in one transaction."""
    people = msgspec.json.decode(body, type=_Body).employees
    rows = (row_of(company_id, number, person) for number, person in enumerate(people))

    async def copy() -> None:
        connection = await asyncpg.connect(url)
        await connection.copy_records_to_table("employees", records=rows, columns=COLUMNS)

    asyncio.run(copy())


def postgres_compare(url: str, company_id: str, body: bytes) -> None:
    """Decode, and SELECT the keys of everyone there."""
    msgspec.json.decode(body, type=_Body)

    async def select() -> None:
        connection = await asyncpg.connect(url)
        await connection.fetch(
            "SELECT external_id, email_key FROM employees WHERE company_id = $1", company_id
        )

    asyncio.run(select())


LIMITS: dict[str, Callable[[str, str, bytes], None]] = {
    "sqlite-load": sqlite_load,
    "sqlite-compare": sqlite_compare,
    "postgres-load": postgres_load,
    "postgres-compare": postgres_compare,
}


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def main(arguments: Sequence[str]) -> None:
    """Measure once."""
    what, path, company_id, body = arguments
    content = Path(body).read_bytes()
    began = time.perf_counter()
    cpu = time.process_time()
    LIMITS[what](path, company_id, content)
    tell(Taken(time.perf_counter() - began, time.process_time() - cpu))


if __name__ == "__main__":
    main(sys.argv[1:])
