"""What PostgreSQL adds to a `Store`: a server that is killed, restarted, hung, moved or full, and comes back."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import attrs
import pytest

from awareness_core.api_keys import PublicId
from awareness_core.employees import EmployeeId
from awareness_core.errors import ConstraintViolated, StoreUnavailable
from awareness_core.tenants import CompanyId
from awareness_sql import SqlStorage, open_storage
from awareness_sql.postgres import database as database_module
from awareness_sql.postgres import driver as driver_module
from awareness_sql.postgres import pool as pool_module
from tests.contracts.polling import until
from tests.contracts.postgres_database import PlacedDatabase, database_on
from tests.contracts.postgres_server import (
    DURABLE,
    PASSWORD,
    SERVICE,
    PostgresServer,
    make_url,
    suspended,
)
from tests.contracts.redis_server import free_port
from tests.contracts.storages import (
    ACME,
    GLOBEX,
    apply,
    campaign,
    changed,
    everyone,
    hired,
    people_of,
    person,
)
from tests.contracts.test_api_keys import api_key

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of these tests' own, which keeps its promises."""
    with PostgresServer(DURABLE) as running:
        yield running


@pytest.fixture(scope="module")
def made(server: PostgresServer) -> PlacedDatabase:
    return database_on(server)


@pytest.fixture
async def database(server: PostgresServer, made: PlacedDatabase) -> PlacedDatabase:
    """The database with two companies and a key in it."""
    made.empty()
    async with open_storage(made.url) as storage:
        await storage.companies.add_company(ACME)
        await storage.companies.add_company(GLOBEX)
        await storage.api_keys.add_api_key(api_key(1))
    return made


@pytest.fixture
async def storage(database: PlacedDatabase) -> AsyncIterator[SqlStorage]:
    async with open_storage(database.url) as storage:
        yield storage
    await until(lambda: _connections(database, at_most=0))


async def _connections(database: PlacedDatabase, *, at_most: int) -> bool:
    sql = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{SERVICE}'"
    (count,) = await asyncio.to_thread(database.as_superuser, sql)
    return int(count) <= at_most


Use = Callable[[SqlStorage], Awaitable[object]]

USES: dict[str, Use] = {
    "reading": everyone,
    "glance": lambda storage: storage.store.glance(ACME.id).sectors(),
    "transaction": lambda storage: apply(storage, []),
    "look-up": lambda storage: storage.api_keys.find_api_key(PublicId(f"{1:011}")),
    "list": lambda storage: storage.companies.list_companies(),
    "revoke": lambda storage: storage.api_keys.revoke_api_key(api_key(1).id, at=ACME.created_at),
    "check": lambda storage: storage.store.check(),
}
each_use = pytest.mark.parametrize("use", USES.values(), ids=USES)


async def _use_all(storage: SqlStorage) -> None:
    for use in USES.values():
        await use(storage)


# Away and back


@each_use
async def test_a_killed_server_is_unavailable_and_come_back_to_by_itself(
    server: PostgresServer, storage: SqlStorage, use: Use
) -> None:
    await _use_all(storage)
    server.kill()
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            await use(storage)

    server.start()

    await _use_all(storage)


@each_use
async def test_a_restart_between_two_uses_is_not_noticed(
    server: PostgresServer, storage: SqlStorage, use: Use
) -> None:
    await _use_all(storage)
    server.stop()
    server.start()

    await use(storage)


@each_use
async def test_connections_that_the_server_has_cut_are_replaced_within_one_use(
    database: PlacedDatabase, storage: SqlStorage, use: Use
) -> None:
    """Also before the event loop has heard of it, as nothing runs here in between."""
    await asyncio.gather(*(everyone(storage) for _ in range(5)))
    await _use_all(storage)
    _cut_all(database)

    await use(storage)


def _cut_all(database: PlacedDatabase) -> None:
    database.as_superuser(
        f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = '{SERVICE}'"
    )


@pytest.mark.parametrize("fault", ["kill", "stop"])
async def test_a_transaction_that_the_server_goes_away_in_leaves_nothing(
    server: PostgresServer, storage: SqlStorage, fault: str
) -> None:
    await apply(storage, hired(person(1)))

    async def meet_the_fault() -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=[changed(person(1), last_name="Other"), *hired(person(2))])
            getattr(server, fault)()
            await people_of(transaction)

    with pytest.raises(StoreUnavailable):
        await meet_the_fault()
    server.start()

    assert [person(1)] == await everyone(storage)
    await apply(storage, hired(person(2)))
    assert [person(1), person(2)] == await everyone(storage)


async def test_a_commit_that_the_server_went_away_before_is_told_to_have_failed(
    server: PostgresServer, storage: SqlStorage
) -> None:
    async def meet_the_fault() -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=hired(person(1)))
            server.kill()

    with pytest.raises(StoreUnavailable):
        await meet_the_fault()
    server.start()

    assert [] == await everyone(storage)


async def test_what_was_acknowledged_survives_every_crash_and_nothing_is_half_written(
    server: PostgresServer, storage: SqlStorage
) -> None:
    """Writers hire somebody and count up in one transaction; the server is killed again and again meanwhile."""
    await apply(storage, hired(person(9999, last_name="0")))
    acknowledged: list[str] = []
    numbers = itertools.count()
    is_over = False

    async def write() -> None:
        while not is_over:
            name = f"writer{next(numbers)}"
            newcomer = attrs.evolve(person(0, email=f"{name}@acme.example"), id=EmployeeId(name))
            try:
                async with storage.store.transaction(ACME.id) as transaction:
                    (counter,) = await transaction.employees_by_id([person(9999).id])
                    await transaction.apply(
                        changes=[
                            changed(counter, last_name=str(int(counter.last_name) + 1)),
                            *hired(newcomer),
                        ]
                    )
            except StoreUnavailable:
                await asyncio.sleep(0.01)
            else:
                acknowledged.append(name)

    writers = [asyncio.create_task(write()) for _ in range(4)]
    for kills in range(1, 9):
        expected = kills * 20

        async def enough(expected: int = expected) -> bool:
            return len(acknowledged) >= expected

        await until(enough)
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
    is_over = True
    await asyncio.gather(*writers)

    async with storage.store.reading(ACME.id) as reading:
        stored = {someone.id: someone for someone in await reading.employees_without_password()}
    counted = int(stored.pop(person(9999).id).last_name)
    print(f"{len(acknowledged)} acknowledged, {len(stored)} stored, 8 kills")
    assert set() == set(acknowledged) - stored.keys()
    assert counted == len(stored)


# Slow, hung, full


async def test_a_hung_server_is_given_up_in_time(
    server: PostgresServer, storage: SqlStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_LOOK_UP_PATIENCE", 0.2)
    await _use_all(storage)
    with suspended(server):
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="did not answer in time"):
            await USES["look-up"](storage)
        took = time.monotonic() - began

    await _use_all(storage)
    assert took < 1.5


async def test_a_server_that_hangs_in_a_transaction_is_given_up_and_nothing_is_written(
    server: PostgresServer, database: PlacedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_module, "_GRACE", 0)
    monkeypatch.setattr(database_module, "_ROLLBACK_PATIENCE", 0.2)

    async def meet_the_fault(storage: SqlStorage) -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=hired(person(1)))
            with suspended(server):
                await people_of(transaction)

    async with open_storage(f"{database.url}?statement_timeout=1") as storage:
        with pytest.raises(StoreUnavailable, match="did not answer in time"):
            await meet_the_fault(storage)

        assert [] == await everyone(storage)
        await apply(storage, hired(person(2)))


async def test_a_server_that_does_not_take_connections_is_given_up_in_time(
    server: PostgresServer, database: PlacedDatabase
) -> None:
    async with open_storage(f"{database.url}?connect_timeout=1") as storage:
        with suspended(server):
            began = time.monotonic()
            with pytest.raises(StoreUnavailable, match="did not answer in time"):
                await everyone(storage)
            took = time.monotonic() - began

        assert [] == await everyone(storage)
    assert took < 3


async def test_a_company_that_is_being_written_to_elsewhere_is_waited_for_and_then_unavailable(
    database: PlacedDatabase,
) -> None:
    url = f"{database.url}?statement_timeout=1"
    async with open_storage(url) as here, open_storage(database.url) as elsewhere:
        outside = contextvars.copy_context()
        async with elsewhere.store.transaction(ACME.id):
            waiting = asyncio.create_task(apply(here, hired(person(1))), context=outside.copy())
            other = asyncio.create_task(apply(here, hired(person(2)), to=GLOBEX), context=outside.copy())
            await other
            with pytest.raises(StoreUnavailable, match=r"did not finish in time|busy with other writes"):
                await waiting

        await apply(here, hired(person(1)))


async def test_those_who_wait_for_one_company_leave_the_connections_to_the_others(
    database: PlacedDatabase,
) -> None:
    async with open_storage(f"{database.url}?pool_size=2&statement_timeout=1") as storage:
        outside = contextvars.copy_context()
        async with storage.store.transaction(ACME.id):
            crowd = [
                asyncio.create_task(apply(storage, hired(person(number))), context=outside.copy())
                for number in range(20)
            ]
            await asyncio.sleep(0)
            other = apply(storage, hired(person(30)), to=GLOBEX)
            await asyncio.create_task(other, context=outside.copy())
            outcomes = await asyncio.gather(*crowd, return_exceptions=True)

        assert [StoreUnavailable] * 20 == [type(outcome) for outcome in outcomes]
        assert "busy with other writes for 1 seconds" in str(outcomes[0])
        await apply(storage, hired(person(1)))


async def test_when_all_connections_are_in_use_the_next_one_waits_and_then_is_told(
    database: PlacedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "_PATIENCE", 0.1)
    async with open_storage(f"{database.url}?pool_size=2") as storage:
        async with storage.store.reading(ACME.id), storage.store.reading(GLOBEX.id):
            with pytest.raises(StoreUnavailable, match="All 2 connections"):
                await everyone(storage)
            # Who calls is found out all the same.
            assert api_key(1) == await storage.api_keys.find_api_key(api_key(1).public_id)

        assert [] == await everyone(storage)


async def test_a_server_that_is_full_says_so(database: PlacedDatabase) -> None:
    database.as_superuser(f"ALTER ROLE {SERVICE} CONNECTION LIMIT 1")
    try:
        async with open_storage(database.url) as storage, storage.store.reading(ACME.id):
            with pytest.raises(StoreUnavailable, match="takes no more connections: lower pool_size"):
                await everyone(storage)
    finally:
        database.as_superuser(f"ALTER ROLE {SERVICE} CONNECTION LIMIT -1")


async def test_a_transaction_that_is_left_alone_for_too_long_is_given_up(
    database: PlacedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_module, "_LEFT_ALONE_FOR", 1)

    async def dawdle(storage: SqlStorage) -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=hired(person(1)))
            await until(lambda: _connections(database, at_most=0))

    async with open_storage(database.url) as storage:
        with pytest.raises(StoreUnavailable):
            await dawdle(storage)

        assert [] == await everyone(storage)


# Moved, locked, misnamed


async def test_one_of_several_hosts_is_enough(server: PostgresServer, database: PlacedDatabase) -> None:
    url = make_url(f"127.0.0.1:{free_port()},{database.place}", database.name, SERVICE)
    async with open_storage(url) as storage:
        await _use_all(storage)


async def test_a_database_that_takes_no_writes_is_unavailable_until_it_does(
    database: PlacedDatabase, storage: SqlStorage
) -> None:
    """As after a failover, when the server that the connections lead to has become a standby."""
    await _use_all(storage)
    database.as_superuser(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on")
    _cut_all(database)
    with pytest.raises(StoreUnavailable, match="None of the hosts match"):
        await apply(storage, hired(person(1)))
    database.as_superuser(f"ALTER DATABASE {database.name} RESET default_transaction_read_only")

    await apply(storage, hired(person(1)))


async def test_a_connection_that_takes_no_writes_any_more_is_replaced(database: PlacedDatabase) -> None:
    async with open_storage(f"{database.url}?target_session_attrs=any") as storage:
        database.as_superuser(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on")
        with pytest.raises(StoreUnavailable, match="takes no writes now"):
            await apply(storage, hired(person(1)))
        with pytest.raises(StoreUnavailable, match="takes no writes now"):
            await storage.store.check()
        database.as_superuser(f"ALTER DATABASE {database.name} RESET default_transaction_read_only")

        await apply(storage, hired(person(1)))


async def test_a_password_that_is_changed_in_its_file_is_taken_up(
    database: PlacedDatabase, tmp_path: Path
) -> None:
    host, _, port = database.place.partition(":")
    passfile = tmp_path / "pgpass"

    def write(password: str) -> None:
        passfile.write_text(f"{host}:{port}:*:{SERVICE}:{password}\n")
        passfile.chmod(0o600)

    database.as_superuser(f"ALTER ROLE {SERVICE} PASSWORD 'one'")
    write("one")
    url = f"postgresql://{SERVICE}@{database.place}/{database.name}?passfile={passfile}"
    async with open_storage(url) as storage:
        await _use_all(storage)
        database.as_superuser(f"ALTER ROLE {SERVICE} PASSWORD 'another'")
        try:
            _cut_all(database)
            with pytest.raises(StoreUnavailable, match="refused the user or the password"):
                await everyone(storage)
            write("another")
            await _use_all(storage)
        finally:
            database.as_superuser(f"ALTER ROLE {SERVICE} PASSWORD '{PASSWORD}'")


@pytest.mark.parametrize(
    ("user", "place", "name", "told"),
    [
        (SERVICE, "127.0.0.1:{free}", "awareness_test", "cannot be reached"),
        (SERVICE, "host.invalid", "awareness_test", "cannot be reached"),
        (SERVICE, "{place}", "elsewhere", "does not exist: check the setting"),
        ("nobody", "{place}", "awareness_test", "refused the user or the password"),
    ],
)
async def test_what_is_wrong_is_told_without_any_secret(
    database: PlacedDatabase, user: str, place: str, name: str, told: str
) -> None:
    url = make_url(place.format(free=free_port(), place=database.place), name, user)
    async with open_storage(url) as storage:
        for use in USES.values():
            with pytest.raises(StoreUnavailable, match=told) as refused:
                await use(storage)
            said = f"{refused.value.message} {refused.value!r} {storage.store.__dict__} {storage!r}"
            assert PASSWORD not in said
            assert "with%3A" not in said


# What is left behind


class _Failure(Exception):
    pass


async def test_failing_cancelled_and_refused_uses_leave_no_connection_behind(
    database: PlacedDatabase, storage: SqlStorage
) -> None:
    async def fail(number: int) -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=hired(person(number)))
            raise _Failure

    async def refuse(number: int) -> None:
        await apply(storage, hired(person(number), person(number)))

    async def read(number: int) -> None:
        async with storage.store.reading(ACME.id) as reading:
            await reading.sectors()
            if number % 2:
                raise _Failure

    for _ in range(5):
        tasks = [asyncio.create_task(use(number)) for number in range(20) for use in (fail, refuse, read)]
        await asyncio.sleep(0.02)
        for task in tasks[::3]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        expected = (_Failure, ConstraintViolated, asyncio.CancelledError, type(None))
        assert [] == [outcome for outcome in outcomes if not isinstance(outcome, expected)]

    assert [] == await everyone(storage)
    assert await _connections(database, at_most=10)
    idle = database.as_superuser(f"SELECT DISTINCT state FROM pg_stat_activity WHERE usename = '{SERVICE}'")
    assert ["idle"] == idle


async def test_a_failure_that_somebody_swallowed_is_not_committed_in_silence(storage: SqlStorage) -> None:
    await apply(storage, hired(person(1)))

    async def swallow() -> None:
        nameless = attrs.evolve(campaign(1), name=None)  # type: ignore[arg-type]
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=hired(person(2)))
            with contextlib.suppress(ConstraintViolated):
                await transaction.save_campaigns([nameless])

    with pytest.raises(RuntimeError, match="after one of its statements had failed"):
        await swallow()

    assert [person(1)] == await everyone(storage)


def test_a_storage_outlives_an_event_loop(made: PlacedDatabase) -> None:
    made.empty()
    storage = open_storage(made.url)

    async def write(number: int) -> None:
        company = attrs.evolve(ACME, id=CompanyId(str(number)), name=str(number))
        await storage.companies.add_company(company)
        await apply(storage, hired(person(number)), to=company)
        assert [person(number)] == await everyone(storage, company)
        await storage.close()

    asyncio.run(write(1))
    asyncio.run(write(2))
