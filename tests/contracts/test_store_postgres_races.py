"""How writers of several companies meet on PostgreSQL, where they do not wait for each other as a whole."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Coroutine, Sequence

import pytest

from awareness_core.emails import parse_email
from awareness_core.employees import Employee
from awareness_core.errors import ConstraintViolated, StoreUnavailable
from awareness_core.tenants import Company
from awareness_sql import SqlStorage
from awareness_sql.postgres import precedence
from tests.contracts.polling import until
from tests.contracts.postgres_database import PlacedDatabase, open_postgres
from tests.contracts.storages import ACME, GLOBEX, apply, changed, everyone, hired, person

pytestmark = pytest.mark.anyio

ANNA, BOB = person(1), person(2, email="bob@globex.example")


class _Refused(ConstraintViolated):
    def __init__(self) -> None:
        super().__init__("for a test")


@pytest.fixture
async def storage(postgres: PlacedDatabase) -> AsyncIterator[SqlStorage]:
    """Anna works at Acme, Bob at Globex."""
    async with open_postgres(postgres) as storage:
        await storage.companies.add_company(ACME)
        await storage.companies.add_company(GLOBEX)
        await apply(storage, hired(ANNA))
        await apply(storage, hired(BOB), to=GLOBEX)
        yield storage


async def test_two_companies_write_at_the_same_time(storage: SqlStorage) -> None:
    both_are_inside = asyncio.Barrier(2)

    async def write(company: Company, someone: Employee) -> None:
        async with storage.store.transaction(company.id) as transaction:
            await both_are_inside.wait()
            await transaction.apply(changes=[changed(someone, last_name="Changed")])

    async with asyncio.timeout(10):
        await asyncio.gather(write(ACME, ANNA), write(GLOBEX, BOB))

    assert ["Changed"] == [someone.last_name for someone in await everyone(storage)]


async def test_two_that_wait_for_each_others_addresses_do_not_wait_for_ever(storage: SqlStorage) -> None:
    both_have_begun = asyncio.Barrier(2)

    async def take(company: Company, first: int, second: int) -> None:
        async with storage.store.transaction(company.id) as transaction:
            await transaction.apply(changes=hired(person(first, email=f"p{first}@acme.example")))
            await both_have_begun.wait()
            await transaction.apply(changes=hired(person(second, email=f"p{second}@acme.example")))

    outcomes = await asyncio.gather(take(ACME, 11, 12), take(GLOBEX, 12, 11), return_exceptions=True)

    assert [None, ConstraintViolated] == sorted(_kinds(outcomes), key=str, reverse=True)


async def test_what_a_writer_was_told_of_an_address_stays_so_until_it_ends(storage: SqlStorage) -> None:
    """Else two companies that each give up what the other wants would both be told that it is taken."""
    both_have_asked = asyncio.Barrier(2)

    async def move(company: Company, someone: Employee, wanted: Employee) -> None:
        async with storage.store.transaction(company.id) as transaction:
            held = await transaction.addresses_held_by_other_companies([wanted.email.key])
            await both_have_asked.wait()
            assert {wanted.email.key} == held
            moved = changed(someone, email=parse_email(f"new@{company.id}.example"))
            await transaction.apply(changes=[moved])

    outcomes = await asyncio.gather(move(ACME, ANNA, BOB), move(GLOBEX, BOB, ANNA), return_exceptions=True)

    assert [None, ConstraintViolated] == sorted(_kinds(outcomes), key=str, reverse=True)


async def test_asking_about_an_address_holds_up_no_other_change_of_its_holder(storage: SqlStorage) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.addresses_held_by_other_companies([BOB.email.key])
        async with asyncio.timeout(5):
            await _elsewhere(apply(storage, [changed(BOB, last_name="Changed")], to=GLOBEX))

    assert ["Changed"] == [someone.last_name for someone in await everyone(storage, GLOBEX)]


async def test_whoever_was_refused_twice_meets_nobody_the_third_time(
    storage: SqlStorage, postgres: PlacedDatabase
) -> None:
    globex_is_inside, globex_may_end = asyncio.Event(), asyncio.Event()
    events: list[str] = []

    async def linger() -> None:
        async with storage.store.transaction(GLOBEX.id):
            globex_is_inside.set()
            await globex_may_end.wait()
            events.append("globex ends")

    async def try_thrice() -> None:
        for attempt in range(3):
            try:
                async with storage.store.transaction(ACME.id) as transaction:
                    events.append(f"attempt {attempt}")
                    if attempt < 2:
                        raise _Refused
                    await transaction.apply(changes=[changed(ANNA, last_name="At last")])
            except ConstraintViolated:
                continue

    lingering = asyncio.create_task(linger())
    await globex_is_inside.wait()
    trying = asyncio.create_task(try_thrice())
    await until(lambda: _someone_waits(postgres))
    newcomer = asyncio.create_task(apply(storage, [changed(BOB, last_name="Later")], to=GLOBEX))
    globex_may_end.set()
    await asyncio.gather(lingering, trying, newcomer)

    assert ["attempt 0", "attempt 1", "globex ends", "attempt 2"] == events
    assert ["At last"] == [someone.last_name for someone in await everyone(storage)]


async def test_success_ends_a_series_of_refusals(storage: SqlStorage) -> None:
    async def refuse() -> None:
        with pytest.raises(_Refused):
            async with storage.store.transaction(ACME.id):
                raise _Refused

    series = []
    for outcome in (refuse(), apply(storage, []), refuse(), refuse(), apply(storage, [])):
        await outcome
        series.append(precedence.precedence().is_alone)

    assert [False, False, False, True, False] == series


async def test_nobody_is_made_to_wait_for_long_for_whoever_wants_to_be_alone(
    storage: SqlStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precedence, "_PATIENCE", 1)
    monkeypatch.setattr(precedence, "_FAILURES_BEFORE", 0)
    async with storage.store.transaction(GLOBEX.id):
        with pytest.raises(StoreUnavailable, match="is busy with other work"):
            await _elsewhere(apply(storage, []))

    await apply(storage, [])


async def _someone_waits(postgres: PlacedDatabase) -> bool:
    sql = (
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'ExclusiveLock' AND locktype = 'advisory'"
    )
    return ["1"] == postgres.within(sql)


async def _elsewhere(call: Coroutine[None, None, None]) -> None:
    """Await what must not think that it is inside the transaction of this test."""
    await asyncio.create_task(call, context=contextvars.Context())


def _kinds(outcomes: Sequence[BaseException | None]) -> list[type | None]:
    return [None if outcome is None else type(outcome) for outcome in outcomes]
