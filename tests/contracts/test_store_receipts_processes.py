"""Requests carried out once, by several processes that ask for the same ones, and by processes that are killed."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest

from awareness_core.receipts import LEASE
from awareness_sql import SqlStorage, open_storage
from tests.contracts.postgres_database import PlacedDatabase, open_postgres
from tests.contracts.sqlite_writer import COUNTER
from tests.contracts.storages import ACME, apply, everyone, hired

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
NAMES = 60


@attrs.frozen
class Database:
    """A store that other programs reach, too."""

    url: str
    storage: SqlStorage


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    async with contextlib.AsyncExitStack() as opened:
        if request.param == "sqlite":
            url = f"sqlite:///{request.getfixturevalue('path')}"
            storage = await opened.enter_async_context(open_storage(url))
        else:
            placed: PlacedDatabase = request.getfixturevalue("postgres")
            url, storage = placed.url, await opened.enter_async_context(open_postgres(placed))
        await storage.companies.add_company(ACME)
        await apply(storage, hired(COUNTER))
        yield Database(url, storage)


def _writer(database: Database, *, tasks: int = 1, ahead: float = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.contracts.once_writer", database.url]
    return subprocess.Popen(
        [*command, str(NAMES), str(tasks), str(ahead)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def _counted(database: Database) -> int:
    (counter,) = await everyone(database.storage)
    return int(counter.last_name)


async def test_processes_that_ask_for_the_same_have_one_effect_and_one_answer(database: Database) -> None:
    writers = [_writer(database, tasks=2) for _ in range(2)]
    printed = [await asyncio.to_thread(writer.communicate) for writer in writers]

    assert ["", ""] == [errors for _, errors in printed]
    told = [line.split() for lines, _ in printed for line in lines.splitlines()]
    assert 4 * NAMES == len(told)
    assert NAMES == len({name for name, _ in told}) == len({tuple(line) for line in told})
    assert NAMES == await _counted(database)


async def test_what_a_killed_process_was_told_stays_and_the_rest_is_carried_out_once(
    database: Database,
) -> None:
    told: list[list[list[str]]] = []
    for count in (1, 7, 20, 33, 46):
        doomed = _writer(database, tasks=3, ahead=len(told) * LEASE.total_seconds())
        assert doomed.stdout is not None
        read = [await asyncio.to_thread(doomed.stdout.readline) for _ in range(3 * count)]
        doomed.send_signal(signal.SIGKILL)
        rest, _ = await asyncio.to_thread(doomed.communicate)
        told.append(
            [line.split() for line in [*read, *rest.splitlines(keepends=True)] if line.endswith("\n")]
        )

    last = _writer(database, ahead=(len(told) + 1) * LEASE.total_seconds())
    lines, errors = await asyncio.to_thread(last.communicate)

    assert "" == errors
    answers = dict(line.split() for line in lines.splitlines())
    assert NAMES == len(answers) == len(set(answers.values()))
    assert [] == [name for lines_ in told for name, answer in lines_ if answers[name] != answer]
    assert NAMES == await _counted(database)
