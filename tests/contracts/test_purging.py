"""The look-out for who left long ago: all of them are erased in time, and nothing that goes wrong stops it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import attrs
import pytest

from awareness_core.employees import archive
from awareness_core.errors import StoreUnavailable
from awareness_core.ports import Ports, Transaction
from awareness_core.tenants import Company, CompanyId
from awareness_memory import ManualClock, MemoryPorts, MemoryStore, SeededEntropy, memory_ports
from awareness_server.purging import purging
from tests.contracts.polling import until
from tests.contracts.storages import ACME, GLOBEX, NOW, hired, people_of, person

pytestmark = pytest.mark.anyio

OFTEN = 0.01
LONG = timedelta(days=30)


async def with_leavers(store: MemoryStore | None = None, *, clock: ManualClock | None = None) -> MemoryPorts:
    """Two companies, of each of which somebody left long ago, somebody of late, and somebody is there."""
    world = memory_ports(clock=clock or ManualClock(NOW), entropy=SeededEntropy(1))
    if store is not None:
        world = attrs.evolve(world, companies=store, api_keys=store, store=store)
    for number, company in enumerate((ACME, GLOBEX)):
        await world.companies.add_company(company)
        old, late, there = (person(10 * number + place) for place in range(1, 4))
        left = [archive(old, now=NOW - 2 * LONG), archive(late, now=NOW - LONG / 2)]
        async with world.store.transaction(company.id) as transaction:
            await transaction.apply(changes=hired(*left, there))
    return world


async def left_of(world: Ports) -> list[str]:
    ids: list[str] = []
    for company in (ACME, GLOBEX):
        async with world.store.reading(company.id) as reading:
            ids += [one.id for one in await people_of(reading)]
    return ids


async def test_who_left_long_ago_is_erased_whoever_looks_and_the_others_when_their_time_comes() -> None:
    clock = ManualClock(NOW)
    world = await with_leavers(clock=clock)
    async with purging(world, after=LONG, look_every=OFTEN), purging(world, after=LONG, look_every=OFTEN):

        async def old_are_gone() -> bool:
            return ["0002", "0003", "0012", "0013"] == await left_of(world)

        await until(old_are_gone)
        clock.advance(LONG)

        async def late_are_gone() -> bool:
            return ["0003", "0013"] == await left_of(world)

        await until(late_are_gone)


async def test_without_a_time_nobody_is_erased() -> None:
    world = await with_leavers()
    async with purging(world, after=timedelta(0), look_every=OFTEN):
        before = await left_of(world)

    assert 6 == len(before) == len(await left_of(world))


class Flaky(MemoryStore):
    """Away the first time that it is asked for its companies; one of them fails, ever after."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.is_flaky = False

    async def list_companies(self) -> Sequence[Company]:
        """As told."""
        self.asked += 1
        if self.asked == 1:
            raise StoreUnavailable("away")
        return await super().list_companies()

    @asynccontextmanager
    async def transaction(self, company_id: CompanyId) -> AsyncIterator[Transaction]:
        """As told."""
        if self.is_flaky and company_id == ACME.id:
            raise RuntimeError("nobody thought of this")
        async with super().transaction(company_id) as transaction:
            yield transaction


async def test_what_goes_wrong_reaches_neither_the_next_look_nor_another_company() -> None:
    store = Flaky()
    world = await with_leavers(store)
    store.is_flaky = True
    async with purging(world, after=LONG, look_every=OFTEN):

        async def other_is_done() -> bool:
            return ["0001", "0002", "0003", "0012", "0013"] == await left_of(world)

        await until(other_is_done)
        asked = store.asked

        async def goes_on() -> bool:
            return store.asked > asked + 1

        await until(goes_on)
