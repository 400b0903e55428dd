"""What SQLite leaves of somebody who was removed: nothing in the file, and soon nothing in the write-ahead log."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from awareness_sql import SqlStorage
from tests.contracts.polling import until
from tests.contracts.storages import ACME, apply, everyone, hired, person

pytestmark = pytest.mark.anyio

ONE, TWO = person(1, last_name="Qvornemzak"), person(2, last_name="Hopper")
NEEDLE = b"Qvornemzak"


def file_of(path: Path) -> bytes:
    return path.read_bytes()


def log_of(path: Path) -> bytes:
    return path.with_name(f"{path.name}-wal").read_bytes()


async def remove_one(storage: SqlStorage) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.remove_employees([ONE.id])


async def test_a_removal_leaves_nothing_in_file_and_log_once_it_is_committed(
    sqlite: SqlStorage, path: Path
) -> None:
    await apply(sqlite, hired(ONE, TWO))
    assert NEEDLE in log_of(path)

    await remove_one(sqlite)

    assert b"" == log_of(path)
    assert NEEDLE not in file_of(path)
    assert b"Hopper" in file_of(path)


async def test_a_reader_in_the_way_is_waited_for_and_nobody_waits_for_them(
    sqlite: SqlStorage, path: Path
) -> None:
    await apply(sqlite, hired(ONE, TWO))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM employees").fetchall()
        await remove_one(sqlite)

        assert NEEDLE in log_of(path)
        assert [TWO] == await everyone(sqlite)
        reader.execute("COMMIT")

    async def is_empty() -> bool:
        return not log_of(path)

    await until(is_empty)
    assert NEEDLE not in file_of(path)


async def test_a_reader_who_stays_long_is_waited_for_until_something_else_is_written(
    sqlite: SqlStorage, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awareness_sql.sqlite.group_commit._LOG_ATTEMPTS", 0)
    await apply(sqlite, hired(ONE))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM employees").fetchall()
        await remove_one(sqlite)
        reader.execute("COMMIT")
    assert NEEDLE in log_of(path)

    await apply(sqlite, hired(TWO))

    assert b"" == log_of(path)
    assert NEEDLE not in file_of(path)


async def test_a_removal_that_is_rolled_back_empties_no_log(sqlite: SqlStorage, path: Path) -> None:
    await apply(sqlite, hired(ONE))

    async def break_off() -> None:
        async with sqlite.store.transaction(ACME.id) as transaction:
            await transaction.remove_employees([ONE.id])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await break_off()

    assert NEEDLE in log_of(path)
    assert [ONE] == await everyone(sqlite)
