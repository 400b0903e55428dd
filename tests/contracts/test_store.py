"""What every `Store` does with transactions: all or nothing, one company at a time, what one sees of another."""

from __future__ import annotations

import asyncio
import contextvars

import attrs
import pytest

from awareness_core.employees import Employee, EmployeeId
from awareness_core.errors import ConstraintViolated, NotFound
from awareness_core.ports import refuse_inside_transaction
from awareness_core.sectors import Sector, SectorId
from awareness_core.tenants import CompanyId
from tests.contracts.storages import (
    ACME,
    GLOBEX,
    Storage,
    apply,
    campaign,
    changed,
    everyone,
    hired,
    password,
    people_of,
    person,
)

pytestmark = pytest.mark.anyio


class _Failure(Exception):
    pass


async def _write_and_fail(storage: Storage, anna: Employee) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.apply(
            changes=[changed(anna, last_name="Other"), *hired(person(2))],
            sectors=[Sector(id=SectorId(1), name="Sales")],
        )
        await transaction.record_attempts([password(anna)])
        await transaction.save_campaigns([campaign(1)])
        raise _Failure


async def test_what_a_transaction_wrote_is_there_after_it(storage: Storage) -> None:
    anna = person(1)

    await apply(storage, hired(anna))

    assert [anna] == await everyone(storage)


async def test_a_transaction_sees_its_own_writes(storage: Storage) -> None:
    anna, sales = person(1, sector_id=SectorId(1)), Sector(id=SectorId(1), name="Sales")

    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.apply(changes=hired(anna), sectors=[sales])
        await transaction.record_attempts([password(anna)])

        assert [sales] == await transaction.sectors()
        assert [anna.id] == [found.id for found in await people_of(transaction)]
        assert [password(anna)] == await transaction.temporary_passwords(anna.id)


async def test_nothing_of_a_transaction_that_raised_is_there(storage: Storage) -> None:
    anna = person(1)
    await apply(storage, hired(anna))

    with pytest.raises(_Failure):
        await _write_and_fail(storage, anna)

    async with storage.store.transaction(ACME.id) as transaction:
        assert [anna] == await people_of(transaction)
        assert [] == await transaction.sectors()
        assert [] == await transaction.temporary_passwords(anna.id)


async def test_nothing_of_a_cancelled_transaction_is_there(storage: Storage) -> None:
    is_written = asyncio.Event()

    async def write_and_wait() -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=hired(person(1)))
            is_written.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write_and_wait())
    await is_written.wait()
    task.cancel()
    await asyncio.wait([task])

    await apply(storage, hired(person(2)))
    assert [person(2)] == await everyone(storage)


async def test_a_transaction_that_is_cancelled_while_it_waits_lets_the_next_one_in(storage: Storage) -> None:
    outside = contextvars.copy_context()
    async with storage.store.transaction(ACME.id):
        waiting = asyncio.create_task(apply(storage, hired(person(1))), context=outside.copy())
        next_one = asyncio.create_task(apply(storage, hired(person(2))), context=outside.copy())
        await asyncio.sleep(0)
        waiting.cancel()
    await asyncio.wait([waiting])
    await next_one

    assert [person(2)] == await everyone(storage)


@pytest.mark.parametrize("steps", range(8))
async def test_a_writer_that_is_cancelled_just_when_its_turn_comes_gives_it_back(
    storage: Storage, steps: int
) -> None:
    async def cancel_soon() -> None:
        for _ in range(steps):
            await asyncio.sleep(0)
        waiting.cancel()

    outside = contextvars.copy_context()
    async with storage.store.transaction(ACME.id):
        waiting = asyncio.create_task(apply(storage, hired(person(1))), context=outside.copy())
        await asyncio.sleep(0)
        cancelling = asyncio.create_task(cancel_soon())
    await asyncio.wait([waiting, cancelling])

    async with asyncio.timeout(2):
        await apply(storage, hired(person(2)))
    assert person(2) in await everyone(storage)
    assert waiting.cancelled() or person(1) in await everyone(storage)


async def test_a_reading_sees_nothing_of_an_open_transaction_and_does_not_wait_for_it(
    storage: Storage,
) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.apply(changes=hired(person(1)))

        async with asyncio.timeout(2):
            assert [] == await asyncio.create_task(everyone(storage))


async def test_a_reading_is_one_moment(storage: Storage) -> None:
    await apply(storage, hired(person(1)))

    async with storage.store.reading(ACME.id) as reading:
        await asyncio.create_task(apply(storage, hired(person(2))))
        await asyncio.create_task(apply(storage, hired(person(3)), to=GLOBEX))

        assert [person(1)] == await people_of(reading)
        assert frozenset() == await reading.addresses_held_by_other_companies([person(3).email.key])
    assert [person(1), person(2)] == await everyone(storage)


async def test_transactions_of_one_company_run_one_after_the_other(storage: Storage) -> None:
    events: list[str] = []

    async def hire(number: int) -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            events.append(f"{number} begins")
            seen = len(await people_of(transaction))
            await asyncio.sleep(0)
            await transaction.apply(changes=hired(person(seen)))
            events.append(f"{number} ends")

    await asyncio.gather(*(hire(number) for number in range(5)))

    assert [f"{number} {event}" for number in range(5) for event in ("begins", "ends")] == events
    assert [person(number) for number in range(5)] == await everyone(storage)


async def test_a_transaction_of_an_unknown_company_is_refused(storage: Storage) -> None:
    with pytest.raises(NotFound):
        async with storage.store.transaction(CompanyId("nobody")):
            pytest.fail("the block was entered")


async def test_a_reading_of_an_unknown_company_is_empty(storage: Storage) -> None:
    await apply(storage, hired(person(1)))

    assert [] == await everyone(storage, attrs.evolve(ACME, id=CompanyId("nobody")))
    async with storage.store.reading(CompanyId("nobody")) as reading:
        with pytest.raises(NotFound):
            await reading.company()


async def test_a_transaction_inside_another_is_refused_instead_of_waiting_for_itself(
    storage: Storage,
) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        with pytest.raises(RuntimeError, match="a store transaction was opened"):
            async with storage.store.transaction(GLOBEX.id):
                pytest.fail("the block was entered")
        await transaction.apply(changes=hired(person(1)))

    assert [person(1)] == await everyone(storage)


async def test_network_calls_are_refused_inside_a_transaction_only(storage: Storage) -> None:
    async with storage.store.transaction(ACME.id):
        with pytest.raises(RuntimeError, match="network"):
            refuse_inside_transaction()
    async with storage.store.reading(ACME.id):
        refuse_inside_transaction()
    refuse_inside_transaction()


async def test_a_refused_apply_writes_none_of_its_changes_and_spoils_no_others(storage: Storage) -> None:
    anna, bob = person(1), person(2, external_id="E2")
    await apply(storage, hired(anna, bob))

    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.apply(changes=hired(person(3)))
        with pytest.raises(ConstraintViolated):
            await transaction.apply(
                changes=[
                    changed(bob, external_id=None, last_name="Other"),
                    *hired(person(4), person(5, email=anna.email.text)),
                ],
                sectors=[Sector(id=SectorId(1), name="Sales")],
            )
        assert [] == await transaction.sectors()

    assert [anna, bob, person(3)] == await everyone(storage)


async def test_a_store_in_order_passes_its_check(storage: Storage) -> None:
    await storage.store.check()


async def test_an_empty_apply_changes_nothing(storage: Storage) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.apply(changes=[])
        await transaction.record_attempts([])
        await transaction.record_deliveries([])
        await transaction.record_failures([])
        await transaction.forget_passwords([EmployeeId("nobody")])
        await transaction.save_campaigns([])

    assert [] == await everyone(storage)
