"""What every `Store` guarantees when several tasks write at once: as if they had come one after the other."""

from __future__ import annotations

import asyncio
import random

import attrs
import pytest

from awareness_core.employees import Employee, EmployeeChange, archive
from awareness_core.errors import ConstraintViolated
from awareness_core.tenants import Company
from tests.contracts.storages import (
    ACME,
    GLOBEX,
    NOW,
    Storage,
    apply,
    changed,
    everyone,
    hired,
    people_of,
    person,
)

pytestmark = pytest.mark.anyio

WRITERS = 16


async def _outcome(storage: Storage, changes: list[EmployeeChange], company: Company) -> str:
    try:
        await apply(storage, changes, to=company)
    except ConstraintViolated:
        return "refused"
    return "written"


async def test_of_many_who_hire_one_address_one_succeeds(storage: Storage) -> None:
    outcomes = await asyncio.gather(
        *(
            _outcome(storage, hired(person(number, email="wanted@acme.example")), company)
            for number in range(WRITERS)
            for company in (ACME, GLOBEX)
        )
    )

    assert ["refused"] * (2 * WRITERS - 1) + ["written"] == sorted(outcomes)
    assert 1 == len(await everyone(storage)) + len(await everyone(storage, GLOBEX))


async def test_one_that_fails_takes_none_of_the_others_with_it(storage: Storage) -> None:
    await apply(storage, hired(person(99)), to=GLOBEX)
    taken = person(5, email=person(99).email.text)

    outcomes = await asyncio.gather(
        *(
            _outcome(storage, hired(taken if number == 5 else person(number)), ACME)
            for number in range(WRITERS)
        )
    )

    assert ["refused" if number == 5 else "written" for number in range(WRITERS)] == outcomes
    assert [person(number) for number in range(WRITERS) if number != 5] == await everyone(storage)


async def test_no_update_is_lost(storage: Storage) -> None:
    await apply(storage, hired(person(1, last_name="0")))

    async def count_up() -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            (counter,) = await transaction.employees_by_id([person(1).id])
            await asyncio.sleep(0)
            await transaction.apply(changes=[changed(counter, last_name=str(int(counter.last_name) + 1))])

    await asyncio.gather(*(count_up() for _ in range(WRITERS)))

    assert [str(WRITERS)] == [employee.last_name for employee in await everyone(storage)]


async def test_an_address_that_is_given_up_and_wanted_at_once_never_has_two_holders(storage: Storage) -> None:
    holder = person(1, email="wanted@acme.example")
    await apply(storage, hired(holder))
    leaves = [EmployeeChange(before=holder, after=archive(holder, now=NOW))]

    outcomes = await asyncio.gather(
        _outcome(storage, hired(person(2, email="wanted@acme.example")), GLOBEX),
        _outcome(storage, leaves, ACME),
        _outcome(storage, hired(person(3, email="wanted@acme.example")), GLOBEX),
    )

    assert "written" == outcomes[1]
    everybody = [*await everyone(storage), *await everyone(storage, GLOBEX)]
    active = sum(employee.is_active for employee in everybody)
    assert active <= 1
    assert outcomes.count("written") - 1 == active


async def test_writers_of_two_companies_who_shuffle_addresses_leave_each_with_one_holder(
    storage: Storage,
) -> None:
    """Each takes addresses over, gives them up, swaps them, in a seeded order; refusals are expected, chaos is not."""
    for company in (ACME, GLOBEX):
        await apply(
            storage,
            hired(*(person(number, email=f"start{number}@{company.id}.example") for number in range(4))),
            to=company,
        )
    addresses = [f"shared{number}@acme.example" for number in range(3)]

    async def shuffle(seed: int) -> None:
        chance = random.Random(seed)
        company = chance.choice([ACME, GLOBEX])
        try:
            async with storage.store.transaction(company.id) as transaction:
                people = await people_of(transaction)
                await asyncio.sleep(0)
                await transaction.apply(changes=_shuffled(people, addresses, chance))
        except ConstraintViolated:
            pass

    await asyncio.gather(*(shuffle(seed) for seed in range(60)))

    everybody = [*await everyone(storage), *await everyone(storage, GLOBEX)]
    held = [employee.email.key for employee in everybody if employee.is_active]
    assert 8 == len(everybody)
    assert len(set(held)) == len(held)


def _shuffled(people: list[Employee], addresses: list[str], chance: random.Random) -> list[EmployeeChange]:
    first, second = chance.sample(people, 2)
    if chance.random() < 0.4:
        return [changed(first, email=second.email), changed(second, email=first.email)]
    wanted = person(0, email=chance.choice(addresses)).email
    if chance.random() < 0.5 and first.is_active:
        return [EmployeeChange(before=first, after=archive(first, now=NOW))]
    back = attrs.evolve(person(0), id=first.id, email=wanted)
    return [EmployeeChange(before=first, after=back)]
