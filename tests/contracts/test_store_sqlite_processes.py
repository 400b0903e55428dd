"""What SQLite adds to a `Store`: several processes on one file, and processes that are killed."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from awareness_sql import SqlStorage
from tests.contracts.sqlite_writer import COUNTER
from tests.contracts.storages import ACME, apply, hired, person
from tests.contracts.test_api_keys import api_key

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


def _writer(path: Path, tag: str, *, count: int, tasks: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.contracts.sqlite_writer", str(path), tag, str(count), str(tasks)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def _written(sqlite: SqlStorage) -> tuple[set[str], int]:
    """The names of those hired, and what the counter says."""
    async with sqlite.store.reading(ACME.id) as reading:
        people = {employee.id: employee for employee in await reading.employees_without_password()}
    return {str(one) for one in people if one != COUNTER.id}, int(people[COUNTER.id].last_name)


async def test_a_key_that_another_process_revoked_is_revoked_at_the_very_next_look_up(
    sqlite: SqlStorage, path: Path
) -> None:
    await sqlite.api_keys.add_api_key(api_key(1))
    assert api_key(1) == await sqlite.api_keys.find_api_key(api_key(1).public_id)

    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE api_keys SET revoked_at = 1")

    found = await sqlite.api_keys.find_api_key(api_key(1).public_id)
    assert found is not None
    assert None is not found.revoked_at


async def test_two_processes_write_as_if_one_after_the_other(sqlite: SqlStorage, path: Path) -> None:
    await apply(sqlite, hired(COUNTER))

    writers = [_writer(path, tag, count=150, tasks=8) for tag in ("a", "b")]
    printed = [await asyncio.to_thread(writer.communicate) for writer in writers]

    assert [(0, ""), (0, "")] == [
        (writer.returncode, errors) for writer, (_, errors) in zip(writers, printed, strict=True)
    ]
    told = {name for names, _ in printed for name in names.split()}
    assert ({f"{tag}{number}" for tag in "ab" for number in range(150)}, 300) == (told, len(told))
    assert (told, 300) == await _written(sqlite)


@pytest.mark.parametrize("acknowledged", [1, 7, 60, 200])
async def test_a_kill_loses_no_acknowledged_write_and_keeps_no_half_one(
    sqlite: SqlStorage, path: Path, acknowledged: int
) -> None:
    await apply(sqlite, hired(COUNTER))

    writer = _writer(path, "a", count=100_000, tasks=8)
    assert writer.stdout is not None
    told = {(await asyncio.to_thread(writer.stdout.readline)).strip() for _ in range(acknowledged)}
    writer.send_signal(signal.SIGKILL)
    rest = await asyncio.to_thread(writer.stdout.read)
    await asyncio.to_thread(writer.communicate)
    # What follows the last line's end is a name that the kill cut off.
    told |= set(rest.split("\n")[:-1])

    kept, counted = await _written(sqlite)
    assert told <= kept
    assert len(kept) == counted
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert [("ok",)] == other.execute("PRAGMA integrity_check").fetchall()
    await apply(sqlite, hired(person(1)))
