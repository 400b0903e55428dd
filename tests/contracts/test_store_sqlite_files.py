"""What SQLite adds to a `Store`: a file that is missing, broken or replaced, and comes back; and none left open."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from awareness_core.api_keys import PublicId
from awareness_core.errors import StoreUnavailable
from awareness_sql import SqlStorage, open_storage
from awareness_sql.migration import migrate
from tests.contracts.storages import ACME, GLOBEX, LATER, NOW, apply, everyone, hired, person
from tests.contracts.test_api_keys import api_key

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]


def _open_files(path: Path) -> int:
    return sum(str(link.resolve()).startswith(str(path)) for link in Path("/proc/self/fd").iterdir())


def _log_exists(path: Path) -> bool:
    return path.with_name(path.name + "-wal").exists()


def _damage(path: Path) -> bytes:
    """Overwrite all but the first pages. The file as it was."""
    intact = path.read_bytes()
    path.write_bytes(intact[:8192] + b"\xaa" * (len(intact) - 8192))
    return intact


def _put(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _replace(path: Path, content: bytes) -> None:
    path.unlink()
    _put(path, content)


def _move_away(path: Path) -> Path:
    """The file with its log and index under another name, as `mv` would do it."""
    moved = path.with_name("old.db")
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).rename(moved.with_name(moved.name + suffix))
    return moved


@pytest.fixture
def empty(migrated: Path) -> bytes:
    """A migrated database without any data."""
    return migrated.read_bytes()


class _Failure(Exception):
    pass


Use = Callable[[SqlStorage], Awaitable[object]]

USES: list[Use] = [
    everyone,
    lambda sqlite: apply(sqlite, []),
    lambda sqlite: sqlite.api_keys.find_api_key(PublicId("00000000000")),
    lambda sqlite: sqlite.companies.list_companies(),
    lambda sqlite: sqlite.companies.add_company(ACME),
    lambda sqlite: sqlite.store.check(),
]


@pytest.mark.parametrize("use", USES)
async def test_a_missing_file_is_unavailable_until_it_is_made(tmp_path: Path, use: Use) -> None:
    path = tmp_path / "awareness.db"
    async with open_storage(f"sqlite:///{path}") as sqlite:
        with pytest.raises(StoreUnavailable, match="awareness migrate"):
            await use(sqlite)

        migrate(f"sqlite:///{path}")
        await sqlite.companies.add_company(GLOBEX)
        assert [GLOBEX] == await sqlite.companies.list_companies()


@pytest.mark.parametrize("use", USES)
async def test_a_file_that_is_no_database_is_unavailable_until_it_is_one(
    path: Path, empty: bytes, use: Use
) -> None:
    _replace(path, b"%PDF-1.7 " * 1000)
    async with open_storage(f"sqlite:///{path}") as sqlite:
        with pytest.raises(StoreUnavailable, match="is not an SQLite database"):
            await use(sqlite)

        _replace(path, empty)
        await sqlite.companies.add_company(GLOBEX)
        assert [GLOBEX] == await sqlite.companies.list_companies()


@pytest.mark.parametrize("use", USES)
async def test_an_empty_database_asks_for_a_migration(path: Path, use: Use) -> None:
    _replace(path, b"")
    async with open_storage(f"sqlite:///{path}") as sqlite:
        with pytest.raises(StoreUnavailable, match="awareness migrate"):
            await use(sqlite)


async def test_a_damaged_file_is_unavailable_until_it_is_restored(sqlite: SqlStorage, path: Path) -> None:
    await apply(sqlite, hired(*(person(number) for number in range(2000))))
    await sqlite.close()
    intact = _damage(path)

    with pytest.raises(StoreUnavailable, match="damaged"):
        await everyone(sqlite)
    with pytest.raises(StoreUnavailable, match="damaged"):
        await apply(sqlite, hired(person(5000)))
    _replace(path, intact)

    await apply(sqlite, hired(person(5000)))
    async with sqlite.store.reading(ACME.id) as reading:
        assert 2001 == len(await reading.employees_without_password())


async def test_a_file_that_was_replaced_is_used_from_the_very_next_moment(
    sqlite: SqlStorage, path: Path, migrated: Path
) -> None:
    await apply(sqlite, hired(person(1)))
    moved = _move_away(path)

    with pytest.raises(StoreUnavailable, match="cannot be found"):
        await apply(sqlite, hired(person(2)))
    shutil.copy(migrated, path)

    assert [] == await sqlite.companies.list_companies()
    await sqlite.companies.add_company(ACME)
    await apply(sqlite, hired(person(3)))
    assert [person(3)] == await everyone(sqlite)
    async with open_storage(f"sqlite:///{moved}") as old:
        assert [person(1)] == await everyone(old)


async def test_nothing_is_read_from_a_file_that_another_took_the_place_of(
    sqlite: SqlStorage, path: Path, empty: bytes
) -> None:
    await sqlite.api_keys.add_api_key(api_key(1))
    assert api_key(1) == await sqlite.api_keys.find_api_key(api_key(1).public_id)
    assert [ACME, GLOBEX] == await sqlite.companies.list_companies()

    _move_away(path)
    _put(path, empty)

    assert None is await sqlite.api_keys.find_api_key(api_key(1).public_id)
    assert [] == await sqlite.companies.list_companies()


async def test_no_write_goes_to_a_file_that_another_took_the_place_of(
    sqlite: SqlStorage, path: Path, empty: bytes
) -> None:
    moved = _move_away(path)
    _put(path, empty)

    await sqlite.companies.add_company(GLOBEX)

    assert [GLOBEX] == await sqlite.companies.list_companies()
    async with open_storage(f"sqlite:///{moved}") as old:
        assert [ACME, GLOBEX] == await old.companies.list_companies()


@pytest.mark.slow
def test_a_file_that_may_only_be_read_says_so_and_recovers(
    migrated: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_READ_ONLY), str(migrated)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stderr
    assert "cannot be written to" in done.stdout
    assert "check: The database" in done.stdout
    assert "then [] and then ['Acme']" in done.stdout


_READ_ONLY = """
    import asyncio, os, shutil, subprocess, sys, tempfile
    from pathlib import Path
    from awareness_core.errors import StoreUnavailable
    from awareness_sql import open_storage
    from tests.contracts.storages import ACME

    async def main(path, thaw):
        async with open_storage(f"sqlite:///{path}") as sqlite:
            try:
                await sqlite.companies.add_company(ACME)
            except StoreUnavailable as error:
                print(error.message)
            try:
                await sqlite.store.check()
            except StoreUnavailable as error:
                print("check:", error.message)
            listed = await sqlite.companies.list_companies()
            thaw()
            await sqlite.store.check()
            await sqlite.companies.add_company(ACME)
            print("then", listed, "and then", [company.name for company in await sqlite.companies.list_companies()])

    # Whoever is killed leaves the log and its index behind; those keep their owner when the file gets another one.
    LEAVE_A_LOG = "import os, sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('VACUUM'); os.kill(os.getpid(), 9)"

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "awareness.db"
        shutil.copy(sys.argv[1], path)
        subprocess.run([sys.executable, "-c", LEAVE_A_LOG, str(path)])
        files = list(Path(folder).iterdir())
        assert len(files) == 3
        # Permissions say nothing to root, who may do anything.
        if os.getuid() == 0:
            for file in (folder, *files):
                os.chown(file, 65534, 65534)
            os.seteuid(65534)
        for file in files:
            os.chmod(file, 0o444)
        try:
            asyncio.run(main(path, lambda: [os.chmod(file, 0o644) for file in files]))
        finally:
            if os.getuid() == 0:
                os.seteuid(0)
"""


async def test_closing_lets_go_of_every_file_and_thread(path: Path, sqlite: SqlStorage) -> None:
    await asyncio.gather(*(apply(sqlite, hired(person(number))) for number in range(20)))
    await asyncio.gather(*(everyone(sqlite) for _ in range(20)))
    assert _open_files(path) > 0

    await sqlite.close()

    assert 0 == _open_files(path)
    assert not _log_exists(path)


async def test_many_readings_at_once_leave_no_more_files_open_each_time(
    sqlite: SqlStorage, path: Path
) -> None:
    async def read(all_are_open: asyncio.Barrier) -> None:
        async with sqlite.store.reading(ACME.id) as reading:
            await reading.sectors()
            await all_are_open.wait()

    left_open = []
    for _ in range(4):
        all_are_open = asyncio.Barrier(50)
        await asyncio.gather(*(read(all_are_open) for _ in range(50)))
        left_open.append(_open_files(path))

    # SQLite keeps a closed connection's file for the next one, as closing it would release the locks of the others.
    assert left_open[0] <= 50 + 9 * 2
    assert left_open[0] == left_open[-1]


async def test_readings_that_fail_are_closed(sqlite: SqlStorage, path: Path) -> None:
    async def fail() -> None:
        async with sqlite.store.reading(ACME.id):
            raise _Failure

    for _ in range(100):
        with pytest.raises(_Failure):
            await fail()

    assert _open_files(path) <= 9


def test_a_storage_outlives_an_event_loop(path: Path) -> None:
    sqlite = open_storage(f"sqlite:///{path}")

    asyncio.run(sqlite.companies.add_company(ACME))
    asyncio.run(apply(sqlite, hired(person(1))))

    assert [person(1)] == asyncio.run(everyone(sqlite))
    asyncio.run(sqlite.close())


def test_a_loop_torn_down_in_the_middle_loses_only_what_was_not_committed(path: Path) -> None:
    sqlite = open_storage(f"sqlite:///{path}")

    async def leave_in_the_middle() -> None:
        await sqlite.companies.add_company(ACME)
        is_written = asyncio.Event()

        async def write_for_ever() -> None:
            async with sqlite.store.transaction(ACME.id) as transaction:
                await transaction.apply(changes=hired(person(1)))
                is_written.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(write_for_ever())
        await is_written.wait()
        assert not task.done()

    asyncio.run(leave_in_the_middle())

    asyncio.run(apply(sqlite, hired(person(2))))
    assert [person(2)] == asyncio.run(everyone(sqlite))
    asyncio.run(sqlite.close())


async def test_the_use_of_a_key_is_written_by_the_time_of_closing(path: Path, sqlite: SqlStorage) -> None:
    await sqlite.api_keys.add_api_key(api_key(1))
    await sqlite.api_keys.record_api_key_use(api_key(1).id, at=NOW)
    await sqlite.close()

    async with open_storage(f"sqlite:///{path}") as again:
        assert [NOW] == [key.last_used_at for key in await again.api_keys.list_api_keys()]


async def test_the_use_of_a_key_never_moves_back_between_processes(path: Path, sqlite: SqlStorage) -> None:
    await sqlite.api_keys.add_api_key(api_key(1))
    for at in (LATER, NOW):
        async with open_storage(f"sqlite:///{path}") as other:
            await other.api_keys.record_api_key_use(api_key(1).id, at=at)

    assert [LATER] == [key.last_used_at for key in await sqlite.api_keys.list_api_keys()]


@pytest.mark.parametrize(
    "url",
    [
        "awareness.db",
        "",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///a.db?timeout=5",
        "sqlite+aiosqlite:///a.db",
        "sqlite://host/a.db",
        "mysql://user:secret@host/db",
    ],
)
def test_a_url_that_names_no_known_database_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"sqlite:///awareness\.db") as refusal:
        open_storage(url)

    assert "secret" not in str(refusal.value)
