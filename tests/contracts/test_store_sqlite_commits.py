"""What SQLite adds to a `Store`: commits that many share, and an event loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import struct
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest

from awareness_core.api_keys import PublicId
from awareness_core.errors import StoreUnavailable
from awareness_sql import SqlStorage
from awareness_sql.sqlite.database import SqliteDatabase
from tests.contracts.storages import ACME, GLOBEX, apply, everyone, hired, person

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
SHORT_PATIENCE = 0.2


@pytest.fixture
async def impatient(path: Path, sqlite: SqlStorage) -> AsyncIterator[SqlStorage]:
    """Another storage on the same file that gives up waiting soon."""
    async with SqlStorage(SqliteDatabase(path, patience=SHORT_PATIENCE)) as impatient:
        yield impatient


@pytest.fixture
def wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def commits_in(wal: Path) -> int:
    """How many commits a write-ahead log holds (https://www.sqlite.org/fileformat2.html#the_write_ahead_log)."""
    log = wal.read_bytes()
    (page_size,) = struct.unpack_from(">I", log, 8)
    salts = log[16:24]
    commits = 0
    for start in range(32, len(log) - 24, 24 + page_size):
        _, size_after_commit = struct.unpack_from(">II", log, start)
        commits += bool(size_after_commit and log[start + 8 : start + 16] == salts)
    return commits


class _Failure(Exception):
    pass


async def test_transactions_that_arrive_together_share_commits(sqlite: SqlStorage, wal: Path) -> None:
    before = commits_in(wal)

    await asyncio.gather(*(apply(sqlite, hired(person(number))) for number in range(32)))

    assert [person(number) for number in range(32)] == await everyone(sqlite)
    assert commits_in(wal) - before <= 2


async def test_writers_who_keep_writing_keep_sharing(sqlite: SqlStorage, wal: Path) -> None:
    async def hire_on_and_on(first: int) -> None:
        for number in range(first, first + 20):
            await apply(sqlite, hired(person(number)))

    before = commits_in(wal)
    await asyncio.gather(*(hire_on_and_on(100 * writer) for writer in range(8)))

    # Twenty rounds. Those woken by one commit share the next one, unless the machine is so busy that a batch is cut.
    assert commits_in(wal) - before <= 32


async def test_a_transaction_that_raises_alone_commits_nothing(sqlite: SqlStorage, wal: Path) -> None:
    before = commits_in(wal)
    with contextlib.suppress(_Failure):
        async with sqlite.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=hired(person(1)))
            raise _Failure

    assert (before, []) == (commits_in(wal), await everyone(sqlite))


async def test_a_transaction_that_raises_leaves_the_others_of_its_commit_alone(sqlite: SqlStorage) -> None:
    async def hire(number: int) -> None:
        async with sqlite.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=hired(person(number)))
            if number % 3 == 0:
                raise _Failure

    outcomes = await asyncio.gather(*(hire(number) for number in range(20)), return_exceptions=True)

    assert [number % 3 == 0 for number in range(20)] == [isinstance(one, _Failure) for one in outcomes]
    assert [person(number) for number in range(20) if number % 3] == await everyone(sqlite)


async def test_a_write_is_told_kept_only_once_readers_see_it(sqlite: SqlStorage) -> None:
    async def hire(number: int) -> bool:
        await apply(sqlite, hired(person(number)))
        return person(number) in await everyone(sqlite)

    assert {True} == set(await asyncio.gather(*(hire(number) for number in range(50))))


async def test_a_transaction_that_wrote_nothing_commits_nothing(sqlite: SqlStorage, wal: Path) -> None:
    before = commits_in(wal)

    async with sqlite.store.transaction(ACME.id) as transaction:
        await transaction.sectors()

    assert before == commits_in(wal)


@pytest.mark.slow
def test_when_the_shared_commit_fails_all_its_transactions_are_told_and_the_next_one_works(
    path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_FULL_DISK), str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, ["StoreUnavailable"] * 8 + ["0", "8"]) == (done.returncode, done.stdout.split()), done.stderr


_FULL_DISK = """
    import asyncio, resource, sys
    from pathlib import Path
    from awareness_core.errors import StoreUnavailable
    from awareness_sql import open_storage
    from tests.contracts.storages import ACME, apply, everyone, hired, person

    async def main(path):
        async with open_storage(f"sqlite:///{path}") as sqlite:
            await sqlite.companies.add_company(ACME)
            size = path.with_name(path.name + "-wal").stat().st_size
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000, hard))
            outcomes = await asyncio.gather(
                *(apply(sqlite, hired(person(number))) for number in range(8)), return_exceptions=True
            )
            for outcome in outcomes:
                print(type(outcome).__name__)
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            print(len(await everyone(sqlite)))
            await asyncio.gather(*(apply(sqlite, hired(person(number))) for number in range(8)))
            print(len(await everyone(sqlite)))

    asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.slow
async def test_large_writes_and_reads_let_the_event_loop_go_on(sqlite: SqlStorage) -> None:
    people = [person(number) for number in range(20_000)]
    turns = 0

    async def watch() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async def turns_beside(work: Awaitable[object]) -> int:
        before = turns
        await work
        return turns - before

    async def read() -> None:
        async with sqlite.store.reading(ACME.id) as reading:
            keys = [employee.email.key for employee in people]
            assert 20_000 == len(await reading.matching_employees(external_ids=[], email_keys=keys))

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0)
    counted = [await turns_beside(apply(sqlite, hired(*people))), await turns_beside(read())]
    watching.cancel()

    assert [True, True] == [count >= 10 for count in counted], counted


async def test_a_reading_goes_on_beside_a_writer_of_another_process(sqlite: SqlStorage, path: Path) -> None:
    await apply(sqlite, hired(person(1)))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM employees")

        async with asyncio.timeout(2):
            assert [person(1)] == await everyone(sqlite)
            assert None is await sqlite.api_keys.find_api_key(PublicId("00000000000"))
        other.execute("ROLLBACK")


async def test_a_locked_database_is_waited_for_without_stopping_the_loop(
    sqlite: SqlStorage, path: Path
) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(apply(sqlite, hired(person(1))))
        for _ in range(100):
            await asyncio.sleep(0.001)
        assert not waiting.done()
        other.execute("ROLLBACK")
        await waiting

    assert [person(1)] == await everyone(sqlite)


async def test_a_database_locked_for_too_long_is_unavailable_until_it_is_free(
    impatient: SqlStorage, path: Path
) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        outcomes = await asyncio.gather(
            *(apply(impatient, hired(person(number))) for number in range(3)), return_exceptions=True
        )
        other.execute("ROLLBACK")

    assert ["busy with other writes"] * 3 == [
        _said(outcome, "busy with other writes") for outcome in outcomes
    ]
    await apply(impatient, hired(person(9)))
    assert [person(9)] == await everyone(impatient)


async def test_a_transaction_that_takes_too_long_keeps_nobody_waiting_for_ever(impatient: SqlStorage) -> None:
    is_inside, may_leave = asyncio.Event(), asyncio.Event()

    async def dawdle() -> None:
        async with impatient.store.transaction(GLOBEX.id) as transaction:
            await transaction.apply(changes=hired(person(1)))
            is_inside.set()
            await may_leave.wait()

    dawdling = asyncio.create_task(dawdle())
    await is_inside.wait()
    with pytest.raises(StoreUnavailable, match="busy with other writes"):
        await apply(impatient, hired(person(2)))
    may_leave.set()
    await dawdling

    assert [person(1)] == await everyone(impatient, GLOBEX)
    assert [] == await everyone(impatient)


def _said(outcome: object, words: str) -> str:
    assert isinstance(outcome, StoreUnavailable)
    return words if words in outcome.message else outcome.message
