"""Whole directories sent at once, on every store: as if they had come one after the other, in some order."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable, Sequence

import pytest

from awareness_core.emails import parse_email
from awareness_core.employees import EmployeeRecord, Presence
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.provision import provision
from awareness_core.use_cases.synchronise import synchronise
from awareness_memory import memory_ports
from tests.contracts.storages import ACME, GLOBEX, Storage, everyone, memory_storage
from tests.model.payloads import KeptResults, ListedPayload, SpeltLine

pytestmark = pytest.mark.anyio

ADDRESSES = 8
Sync = tuple[CompanyId, list[EmployeeRecord]]
Send = Callable[[Ports, CompanyId, Sequence[EmployeeRecord]], Awaitable[object]]


async def _at_once(ports: Ports, company_id: CompanyId, records: Sequence[EmployeeRecord]) -> object:
    return await provision(ports, company_id, records)


async def _in_chunks(ports: Ports, company_id: CompanyId, records: Sequence[EmployeeRecord]) -> object:
    payload = ListedPayload([SpeltLine(record) for record in records], at_once=3)
    return await synchronise(ports, company_id, payload, KeptResults())


@pytest.mark.parametrize("seed", range(6))
async def test_six_syncs_of_two_companies_end_as_in_some_order(storage: Storage, seed: int) -> None:
    syncs = _six_syncs(seed)
    ports = _ports_of(storage)

    await asyncio.gather(*(_at_once(ports, company_id, records) for company_id, records in syncs))

    stored = await _end_state(storage)
    _no_address_has_two_holders(stored)
    for order in itertools.permutations(syncs):
        alone = memory_storage()
        await _add_companies(alone)
        for company_id, records in order:
            await _at_once(_ports_of(alone), company_id, records)
        if stored == await _end_state(alone):
            return
    pytest.fail("no order of the six ends like this")


@pytest.mark.parametrize("seed", range(3))
async def test_six_syncs_in_chunks_all_come_through(storage: Storage, seed: int) -> None:
    """Chunks take addresses in the order sent, so they wait for each other, and some have to begin anew."""
    syncs = _six_syncs(seed)
    ports = _ports_of(storage)

    await asyncio.gather(*(_in_chunks(ports, company_id, records) for company_id, records in syncs))

    _no_address_has_two_holders(await _end_state(storage))


def _six_syncs(seed: int) -> list[Sync]:
    """Shuffled, overlapping people: whoever is in two payloads has another external id, address or state in each."""
    chance = random.Random(seed)
    return [
        ((ACME, GLOBEX)[number % 2].id, [_record(chance, number) for _ in range(chance.randint(3, 10))])
        for number in range(6)
    ]


def _record(chance: random.Random, number: int) -> EmployeeRecord:
    return EmployeeRecord(
        email=parse_email(f"p{chance.randrange(ADDRESSES)}@acme.example"),
        last_name=f"sync {number}",
        first_name="Jeanne",
        external_id=f"E{chance.randrange(ADDRESSES)}",
        presence=chance.choice([Presence.PRESENT, Presence.PRESENT, *Presence]),
    )


def _ports_of(storage: Storage) -> Ports:
    others = memory_ports()
    return Ports(
        clock=others.clock,
        entropy=others.entropy,
        companies=storage.companies,
        api_keys=storage.api_keys,
        store=storage.store,
        sources=storage.sources,
        mailer=others.mailer,
        quota=others.quota,
    )


async def _add_companies(storage: Storage) -> None:
    await storage.companies.add_company(ACME)
    await storage.companies.add_company(GLOBEX)


async def _end_state(storage: Storage) -> list[tuple[str, ...]]:
    """Everyone, the archived without their addresses.

    A leaver's new address is stored when nobody else holds it, but not held: nothing keeps another company from taking
    it in that very moment, and nobody minds.
    """
    state: list[tuple[str, ...]] = []
    for company in (ACME, GLOBEX):
        for someone in await everyone(storage, company):
            address = someone.email.key if someone.is_active else ""
            state.append((company.id, str(someone.external_id), address, someone.last_name))
    return sorted(state)


def _no_address_has_two_holders(stored: Sequence[tuple[str, ...]]) -> None:
    held = [address for _, _, address, _ in stored if address]

    assert len(set(held)) == len(held)
