"""Small worlds in memory for the tests of the use cases: a clock that stands still, and a store that can be watched.

The store is the memory adapter itself. It only notes what is written, and lets a test step in just before a write,
where on a database another writer would.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from datetime import timedelta
from typing import TypeVar, cast

import attrs

from awareness_core.campaigns import Campaign
from awareness_core.employees import Employee, EmployeeChange
from awareness_core.errors import AwarenessError, StoreUnavailable
from awareness_core.pages import PageRequest
from awareness_core.passwords import TemporaryPassword
from awareness_core.ports import EmployeeQuery, Ports, Transaction
from awareness_core.sectors import Sector, SectorId
from awareness_core.tenants import Company, CompanyId
from awareness_core.verdict_rules import VerdictRules
from awareness_memory import (
    ManualClock,
    MemoryPorts,
    MemorySources,
    MemoryStore,
    ScryptHasher,
    SeededEntropy,
    memory_ports,
)
from tests.core.strategies import COMPANY, NOW, PERSON

Answer = TypeVar("Answer")

OURS = CompanyId("01950000-0000-7000-9000-000000000001")
THEIRS = CompanyId("01950000-0000-7000-9000-000000000002")
NOBODYS = CompanyId("01950000-0000-7000-9000-00000000dead")
SECTORS = tuple(Sector(id=SectorId(number), name=f"sector {number}") for number in range(1, 5))


async def keep_rules(ports: Ports, company_id: CompanyId, rules: VerdictRules) -> None:
    """Let the company judge by these."""
    async with ports.store.transaction(company_id) as transaction:
        await transaction.save_verdict_rules(rules)


class WatchedStore(MemoryStore):
    """The memory store. `writes` names every write; `before_apply` is awaited before each `apply`, and may raise."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []
        self.before_apply: Callable[[], Awaitable[None]] | None = None
        self.is_away = False

    @contextlib.asynccontextmanager
    async def transaction(self, company_id: CompanyId) -> AsyncIterator[Transaction]:
        """As the memory store's, watched."""
        if self.is_away:
            raise StoreUnavailable("The store is away.")
        async with super().transaction(company_id) as transaction:
            yield cast("Transaction", _Watched(self, transaction))


@attrs.frozen
class _Watched:
    store: WatchedStore
    transaction: Transaction

    async def apply(self, *, changes: Sequence[EmployeeChange], sectors: Sequence[Sector] = ()) -> None:
        if self.store.before_apply is not None:
            await self.store.before_apply()
        await self.transaction.apply(changes=changes, sectors=sectors)
        self.store.writes.append("apply")

    def __getattr__(self, name: str) -> object:
        if name.startswith(("record_", "forget_", "save_")):
            self.store.writes.append(name)
        return getattr(self.transaction, name)


@attrs.frozen(kw_only=True)
class World(MemoryPorts):
    """`Ports` of which a test may turn the clock and watch the store."""

    clock: ManualClock
    store: WatchedStore


def new_world(*, seed: int = 1) -> World:
    """A world without companies, at `NOW`."""
    store = WatchedStore()
    clock = ManualClock(NOW)
    memory = memory_ports(clock=clock, entropy=SeededEntropy(seed))
    return World(
        clock=clock,
        entropy=memory.entropy,
        companies=store,
        api_keys=store,
        store=store,
        sources=MemorySources(store),
        mailer=memory.mailer,
        quota=memory.quota,
        visitors=store.visitors,
        hasher=ScryptHasher(cost=2),
        frequent_passwords=memory.frequent_passwords,
        identity_providers=store.identity_providers,
        single_sign_on=memory.single_sign_on,
    )


async def settled_world(
    people: Iterable[Employee] = (),
    *,
    company: Company = COMPANY,
    sectors: Iterable[Sector] = SECTORS,
    others: Iterable[Employee] = (),
    campaigns: Sequence[Campaign] = (),
) -> World:
    """A world with `company`, called `OURS`, and another one, `THEIRS`, with the people given."""
    world = new_world()
    await world.companies.add_company(attrs.evolve(company, id=OURS, name="ours"))
    await world.companies.add_company(attrs.evolve(COMPANY, id=THEIRS, name="theirs"))
    await settle_people(world, OURS, people, sectors=sectors, campaigns=campaigns)
    await settle_people(world, THEIRS, others, sectors=SECTORS)
    world.store.writes.clear()
    return world


async def settle_people(
    world: World,
    company_id: CompanyId,
    people: Iterable[Employee],
    *,
    sectors: Iterable[Sector] = (),
    campaigns: Sequence[Campaign] = (),
) -> None:
    """Put people as they are into a company."""
    async with MemoryStore.transaction(world.store, company_id) as transaction:
        await transaction.apply(
            changes=[EmployeeChange(before=None, after=person) for person in people], sectors=tuple(sectors)
        )
        await transaction.save_campaigns(campaigns)


async def meanwhile(deed: Coroutine[None, None, object]) -> None:
    """Do something in another task, outside any transaction that is open in this one."""
    await asyncio.get_running_loop().create_task(deed, context=contextvars.Context())


async def refusal_or_answer(request: Coroutine[None, None, Answer]) -> Answer | AwarenessError:
    """What the request answers, or how it is refused."""
    try:
        return await request
    except AwarenessError as refusal:
        return refusal


async def people_of(world: World, company_id: CompanyId = OURS) -> list[Employee]:
    """Everyone of a company, by id."""
    people: list[Employee] = []
    async with world.store.reading(company_id) as reading:
        for number in range(1, 1000):
            query = EmployeeQuery(page=PageRequest(page=number, limit=100))
            page = await reading.list_employees(query)
            people.extend(page.items)
            if not page.has_more:
                break
    return people


async def passwords_of(
    world: World, person: Employee = PERSON, company_id: CompanyId = OURS
) -> Sequence[TemporaryPassword]:
    """The temporary passwords kept for one person, newest first."""
    async with world.store.reading(company_id) as reading:
        return await reading.temporary_passwords(person.id)


async def sectors_of(world: World, company_id: CompanyId = OURS) -> list[Sector]:
    """Every sector of a company, by id."""
    async with world.store.reading(company_id) as reading:
        return list(await reading.sectors())


async def mail_password(world: World) -> None:
    """Send `PERSON`, who is one of `OURS`, a temporary password."""
    password = TemporaryPassword(
        employee_id=PERSON.id, salt=b"s", digest=b"d", created_at=NOW, expires_at=NOW + timedelta(days=7)
    )
    async with world.store.transaction(OURS) as transaction:
        await transaction.record_attempts([password])
        await transaction.record_deliveries([password])


def run(story: Coroutine[None, None, Answer]) -> Answer:
    """Run one story in an event loop of its own."""
    return asyncio.run(story)
