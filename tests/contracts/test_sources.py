"""What every `Sources` does."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TypedDict, Unpack

import attrs
import pytest

from awareness_core.errors import ConstraintViolated, NotFound
from awareness_core.sources import LEASE, CampaignReading, Source, SourceId, SourceKind, SourceState
from awareness_core.tenants import CompanyId
from tests.contracts.storages import ACME, GLOBEX, LATER, NOW, Storage

pytestmark = pytest.mark.anyio

UNTIL = NOW + timedelta(minutes=15)
READ = CampaignReading(digest="0a", read_at=NOW)
UNKNOWN = SourceId("nobody")


class SourceFields(TypedDict, total=False):
    id: SourceId
    company_id: CompanyId
    name: str
    created_at: datetime
    polled_at: datetime | None
    ok_at: datetime | None
    error: str | None
    wanted_at: datetime | None
    forged: int


def source(number: int, **fields: Unpack[SourceFields]) -> Source:
    plain = Source(
        id=SourceId(f"source-{number}"),
        company_id=ACME.id,
        kind=SourceKind.GOPHISH,
        name=f"Phishing {number}",
        url="https://gophish.example:3333",
        api_key_file="/run/secrets/gophish",
        salt=bytes(range(16)),
        created_at=NOW,
    )
    return attrs.evolve(plain, **fields)


async def found(storage: Storage, number: int = 1) -> Source:
    known = await storage.sources.find_source(source(number).id)
    assert known is not None
    return known


async def claim(storage: Storage, holder: str, *, at: datetime = NOW, until: datetime = UNTIL) -> bool:
    return await storage.sources.claim_source(source(1).id, holder=holder, at=at, until=until)


async def test_a_source_comes_back_as_it_was_stored(storage: Storage) -> None:
    full = source(2, polled_at=NOW, ok_at=LATER, error="away", wanted_at=LATER, forged=3)
    await storage.sources.add_source(source(1))
    await storage.sources.add_source(full)

    assert source(1) == await found(storage)
    assert full == await found(storage, 2)
    assert None is await storage.sources.find_source(UNKNOWN)
    assert None is await storage.sources.find_source(SourceId("a\0b\ud800"))


async def test_sources_are_listed_oldest_first(storage: Storage) -> None:
    late, early, twin = source(1, created_at=LATER), source(3), source(2)
    theirs = source(4, company_id=GLOBEX.id, name=late.name)
    for one in (late, early, twin, theirs):
        await storage.sources.add_source(one)

    assert [twin, early, late] == list(await storage.sources.list_sources(ACME.id))
    assert [twin, early, theirs, late] == list(await storage.sources.list_sources())


@pytest.mark.parametrize("second", [source(1, name="Another"), source(2, name=" phishing  1")])
async def test_an_id_or_a_name_is_taken(storage: Storage, second: Source) -> None:
    await storage.sources.add_source(source(1))

    with pytest.raises(ConstraintViolated):
        await storage.sources.add_source(second)

    assert [source(1)] == list(await storage.sources.list_sources())


async def test_a_source_of_an_unknown_company_is_refused(storage: Storage) -> None:
    with pytest.raises(NotFound):
        await storage.sources.add_source(source(1, company_id=CompanyId("nobody")))

    assert [] == list(await storage.sources.list_sources())


async def test_a_source_is_one_holders_to_poll_until_the_lease_ends(storage: Storage) -> None:
    await storage.sources.add_source(source(1))

    assert await claim(storage, "a")
    assert not await claim(storage, "b", at=UNTIL - timedelta(milliseconds=1))
    assert await claim(storage, "a", at=LATER, until=LATER + timedelta(minutes=1))
    assert not await claim(storage, "b", at=LATER)
    assert await claim(storage, "b", at=LATER + timedelta(minutes=1), until=LATER + timedelta(hours=1))
    assert not await claim(storage, "a", at=LATER + timedelta(minutes=1))


async def test_until_when_a_source_is_held_is_told(storage: Storage) -> None:
    await storage.sources.add_source(source(1))
    await claim(storage, "a")
    first = await found(storage)
    await claim(storage, "a", at=LATER, until=UNTIL + LEASE)
    later = await found(storage)
    await storage.sources.record_poll(source(1).id, holder="a", at=LATER, error=None)

    assert [UNTIL, UNTIL + LEASE] == [first.held_until, later.held_until]
    assert (SourceState.POLLING, UNTIL) == (later.state_at(UNTIL), later.alive_at(UNTIL))
    assert (SourceState.NEW, None) == (first.state_at(UNTIL), first.alive_at(UNTIL))
    assert SourceState.OK is (await found(storage)).state_at(LATER)


async def test_of_many_who_claim_at_once_one_gets_it(storage: Storage) -> None:
    await storage.sources.add_source(source(1))

    claimed = await asyncio.gather(*(claim(storage, f"holder {number}") for number in range(8)))

    assert 1 == claimed.count(True)


async def test_a_source_that_is_not_there_is_nobodys(storage: Storage) -> None:
    assert not await claim(storage, "a")
    assert not await storage.sources.remove_source(UNKNOWN)
    assert not await storage.sources.resalt_source(UNKNOWN, b"1")
    await storage.sources.want_poll(UNKNOWN, at=NOW)
    await storage.sources.count_forgery(UNKNOWN)
    await storage.sources.record_poll(UNKNOWN, holder="a", at=NOW, error=None)
    await storage.sources.record_campaign_reading(UNKNOWN, "1", READ)

    assert {} == dict(await storage.sources.campaign_readings(UNKNOWN))
    assert [] == list(await storage.sources.list_sources())


async def test_a_poll_leaves_its_end_on_record_and_the_source_free(storage: Storage) -> None:
    await storage.sources.add_source(source(1))

    await claim(storage, "a")
    await storage.sources.record_poll(source(1).id, holder="a", at=NOW, error=None)
    assert source(1, polled_at=NOW, ok_at=NOW) == await found(storage)

    assert await claim(storage, "b")
    await storage.sources.record_poll(source(1).id, holder="b", at=LATER, error="away")
    assert source(1, polled_at=LATER, ok_at=NOW, error="away") == await found(storage)

    assert await claim(storage, "c")
    await storage.sources.record_poll(source(1).id, holder="c", at=LATER, error=None)
    assert source(1, polled_at=LATER, ok_at=LATER) == await found(storage)


async def test_who_lost_the_lease_records_nothing(storage: Storage) -> None:
    await storage.sources.add_source(source(1))
    await claim(storage, "slow")
    await claim(storage, "next", at=UNTIL, until=LATER)

    await storage.sources.record_poll(source(1).id, holder="slow", at=UNTIL, error="late")

    assert attrs.evolve(source(1), held_until=LATER) == await found(storage)
    assert not await claim(storage, "third", at=UNTIL)


async def test_forgeries_are_counted_each(storage: Storage) -> None:
    await storage.sources.add_source(source(1))

    await asyncio.gather(*(storage.sources.count_forgery(source(1).id) for _ in range(50)))

    assert [50] == [one.forged for one in await storage.sources.list_sources()]


async def test_a_poll_can_be_asked_for_and_a_salt_changed(storage: Storage) -> None:
    await storage.sources.add_source(source(1))

    await storage.sources.want_poll(source(1).id, at=LATER)

    assert await storage.sources.resalt_source(source(1).id, b"other")
    assert attrs.evolve(source(1), wanted_at=LATER, salt=b"other") == await found(storage)


async def test_what_was_read_is_kept_by_campaign_and_source(storage: Storage) -> None:
    later = CampaignReading(digest="0b", read_at=LATER, left_out=3)
    for number in (1, 2):
        await storage.sources.add_source(source(number))
        await storage.sources.record_campaign_reading(source(number).id, "1", READ)
    await storage.sources.record_campaign_reading(source(1).id, "2", READ)
    await storage.sources.record_campaign_reading(source(1).id, "1", later)

    assert {"1": later, "2": READ} == dict(await storage.sources.campaign_readings(source(1).id))
    assert {"1": READ} == dict(await storage.sources.campaign_readings(source(2).id))


async def test_a_removed_source_leaves_nothing(storage: Storage) -> None:
    for number in (1, 2):
        await storage.sources.add_source(source(number))
        await storage.sources.record_campaign_reading(source(number).id, "1", READ)
    await claim(storage, "a")

    assert await storage.sources.remove_source(source(1).id)
    assert not await storage.sources.remove_source(source(1).id)
    assert [source(2)] == list(await storage.sources.list_sources())
    assert {} == dict(await storage.sources.campaign_readings(source(1).id))

    await storage.sources.add_source(source(1))
    assert await claim(storage, "b")
