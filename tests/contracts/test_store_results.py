"""What every `Store` keeps of the results of campaigns: as the one in memory does, whatever the order of arrival."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta

import attrs
import pytest

from awareness_core.campaign_events import EventKey, Sign
from awareness_core.campaigns import Campaign, CampaignId, CampaignState, CampaignTelling, Difficulty
from awareness_core.emails import EmailKey
from awareness_core.errors import ConstraintViolated
from awareness_core.kpis import Step
from awareness_core.pages import PageRequest
from awareness_core.ports import Ports, Reading
from awareness_core.recipients import Recipient, progress_of
from awareness_core.results_plan import Line, ResultChanges
from awareness_core.sectors import Sector, SectorId
from awareness_core.use_cases.import_results import import_results
from awareness_core.use_cases.verdict_rules import reclassify_campaigns
from awareness_core.verdict_rules import DEFAULT_RULES, VerdictRules
from awareness_memory import ManualClock, SeededEntropy, memory_ports
from tests.contracts.storages import (
    ACME,
    GLOBEX,
    LATER,
    NOW,
    Storage,
    campaign,
    hired,
    memory_storage,
    person,
)
from tests.core.tellings import SPRING, Told, happened, targeted
from tests.core.worlds import keep_rules

pytestmark = pytest.mark.anyio

MINUTE = timedelta(minutes=1)
FEW = VerdictRules(crowd=3, burst=3)
UNKNOWN = CampaignId("unknown")


def ports_of(storage: Storage) -> Ports:
    memory = memory_ports(clock=ManualClock(NOW), entropy=SeededEntropy(1))
    return Ports(
        clock=memory.clock,
        entropy=memory.entropy,
        companies=storage.companies,
        api_keys=storage.api_keys,
        store=storage.store,
        sources=storage.sources,
        mailer=memory.mailer,
        quota=memory.quota,
    )


async def tell(storage: Storage, *parts: Sequence[Line], campaign: CampaignTelling = SPRING) -> Campaign:
    ports = ports_of(storage)
    await keep_rules(ports, ACME.id, FEW)
    return (await import_results(ports, ACME.id, Told(campaign, parts))).campaign


async def everything(reading: Reading, found: Campaign) -> tuple[object, ...]:
    """All that a store says of one campaign, but for ids that it drew."""
    people = await reading.recipients_after(found.id, None, limit=1000)
    keys = [one.email.key for one in people]
    events = await reading.events(found.id, recipients=keys)
    times = await reading.report_times(found.id)
    return (
        attrs.evolve(found, id=CampaignId("drawn")),
        people,
        {event.key: event for event in events},
        (times.first_at, times.clicked_before, sorted(times.delays)),
        {event.key for event in await reading.events(found.id, keys=[event.key for event in events])},
        sorted(await reading.recipients_active_after(found.id, NOW + MINUTE)),
        (await reading.list_recipients(found.id, PageRequest(page=2, limit=3))).items,
    )


async def state_of(storage: Storage) -> tuple[object, ...]:
    async with storage.store.reading(ACME.id) as reading:
        found = await reading.campaign_by_external_id("spring")
        assert found is not None
        assert found == await reading.campaign(found.id)
        return await everything(reading, found)


def told_by_chance(seed: int) -> list[Line]:
    chance = random.Random(seed)
    lines: list[Line] = [targeted(who, chance.choice([None, "e1", "e2"])) for who in range(6)]
    lines += [
        happened(
            chance.randrange(8),
            chance.choice([Step.OPENED, Step.CLICKED, *Step]),
            timedelta(seconds=chance.choice([0, 30, 31, 32, 59, 60, 61, 3600])),
            address=chance.choice([None, "192.0.2.1", "2001:db8::1"]),
            user_agent=chance.choice([None, "Firefox", "curl/8", "é" * 300]),
            method=chance.choice([None, "GET", "HEAD"]),
        )
        for _ in range(60)
    ]
    return lines


@pytest.mark.parametrize("seed", range(4))
async def test_any_order_and_splitting_is_kept_as_memory_keeps_it_at_once(
    storage: Storage, seed: int
) -> None:
    told = told_by_chance(seed)
    reference = memory_storage()
    await reference.companies.add_company(ACME)
    ending = attrs.evolve(SPRING, ends_at=NOW + timedelta(seconds=100), difficulty=Difficulty.MODERATE)
    await tell(reference, told, campaign=ending)

    random.Random(seed).shuffle(told)
    for start in range(0, len(told), 17):
        await tell(storage, told[start : start + 5], told[start + 5 : start + 17])
    await tell(storage, told[::3], campaign=ending)

    assert await state_of(reference) == await state_of(storage)


async def test_imports_at_once_lose_nothing(storage: Storage) -> None:
    lines = [happened(who, Step.CLICKED, MINUTE * who) for who in range(1, 9)]
    await tell(storage, [])

    await asyncio.gather(*(tell(storage, [line]) for line in lines))

    async with storage.store.reading(ACME.id) as reading:
        found = await reading.campaign_by_external_id("spring")
        assert found is not None
        assert (8, 8) == (found.funnel.total, found.funnel.clicked)


async def test_a_block_that_raises_leaves_no_result(storage: Storage) -> None:
    imported = await tell(storage, [targeted("a")])
    changes = ResultChanges(new_recipients=[targeted("b")], new_events=[happened("b", Step.SENT).event])

    async def break_off() -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.save_results(imported.id, changes)
            assert 2 == len(await transaction.recipients_after(imported.id, None, limit=10))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await break_off()

    async with storage.store.reading(ACME.id) as reading:
        assert ["a@acme.example"] == [
            one.email.text for one in await reading.recipients_after(imported.id, None, limit=10)
        ]
        assert [] == await reading.events(imported.id, recipients=[targeted("b").email.key])


async def test_progress_and_verdicts_of_more_than_fit_one_statement_are_each_ones_own(
    storage: Storage,
) -> None:
    people = [targeted(who, f"e{who}") for who in range(1203)]
    clicks = [happened(who, Step.CLICKED, MINUTE * who, told_id=f"{who}").event for who in range(1203)]
    told = await tell(storage, people)
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_results(told.id, ResultChanges(new_events=clicks))
    came_far = [
        attrs.evolve(one, progress=progress_of([click], ends_at=None))
        for one, click in zip(people[2:], clicks[2:], strict=True)
    ]
    judged = [attrs.evolve(click, signs=Sign.BURST) for click in clicks[2:]]

    async with storage.store.transaction(ACME.id) as transaction:
        changes = ResultChanges(progressed_recipients=came_far, judged_events=judged)
        await transaction.save_results(told.id, changes)

    async with storage.store.reading(ACME.id) as reading:
        kept = await reading.recipients_after(told.id, None, limit=2000)
        events = await reading.events(told.id, keys={click.key for click in clicks})
    assert sorted([*people[:2], *came_far], key=lambda one: one.email.key) == kept
    assert {click.key: click for click in (*clicks[:2], *judged)} == {event.key: event for event in events}


async def test_results_are_for_a_campaign_of_the_company(storage: Storage) -> None:
    imported = await tell(storage)
    changes = ResultChanges(new_recipients=[targeted("a")])
    for company, campaign_id in ((ACME, UNKNOWN), (GLOBEX, imported.id)):
        with pytest.raises(ConstraintViolated):
            async with storage.store.transaction(company.id) as transaction:
                await transaction.save_results(campaign_id, changes)


async def test_an_external_id_is_one_campaigns_within_a_company(storage: Storage) -> None:
    named = campaign(1, external_id="spring")
    with pytest.raises(ConstraintViolated):
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.save_campaigns([named, campaign(2, external_id="spring")])
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_campaigns([named, campaign(2), campaign(3)])
    async with storage.store.transaction(GLOBEX.id) as transaction:
        await transaction.save_campaigns([named])

    async with storage.store.reading(GLOBEX.id) as reading:
        assert named == await reading.campaign_by_external_id("spring")
        assert None is await reading.campaign(CampaignId("0002"))


@pytest.mark.parametrize("unheard_of", ["unknown", "\0", "\ud800", "x" * 60_000])
async def test_what_is_unheard_of_is_not_found(storage: Storage, unheard_of: str) -> None:
    imported = await tell(storage, [happened("a", Step.REPORTED)])
    async with storage.store.reading(ACME.id) as reading:
        assert None is await reading.campaign(CampaignId(unheard_of))
        assert None is await reading.campaign_by_external_id(unheard_of)
        assert [] == await reading.recipients(imported.id, [EmailKey(unheard_of)])
        assert [] == await reading.events(imported.id, keys=[EventKey(unheard_of)], places=[unheard_of])
        assert [] == (await reading.list_recipients(UNKNOWN, PageRequest())).items
        assert [] == await reading.recipients_after(UNKNOWN, None, limit=1)
        assert [] == await reading.recipients_active_after(UNKNOWN, NOW - MINUTE)
        assert None is (await reading.report_times(UNKNOWN)).first_at


async def test_another_company_sees_none_of_it(storage: Storage) -> None:
    imported = await tell(storage, [happened("a", Step.REPORTED)])
    async with storage.store.reading(GLOBEX.id) as reading:
        assert None is await reading.campaign_by_external_id("spring")
        assert 0 == (await reading.list_recipients(imported.id, PageRequest())).total
        assert [] == await reading.recipients(imported.id, [targeted("a").email.key])
        assert [] == await reading.events(imported.id, recipients=[targeted("a").email.key])


async def test_recipients_are_in_the_order_of_their_addresses_page_by_page(storage: Storage) -> None:
    imported = await tell(storage, [targeted(who) for who in ("b", "é", "Z", "a", "z1", "z-1")])
    async with storage.store.reading(ACME.id) as reading:
        pages = [
            await reading.list_recipients(imported.id, PageRequest(page=number, limit=4))
            for number in (1, 2, 3)
        ]
        parts: list[Recipient] = []
        while part := await reading.recipients_after(
            imported.id, parts[-1].email.key if parts else None, limit=4
        ):
            parts.extend(part)

    assert {6} == {page.total for page in pages}
    assert parts == [one for page in pages for one in page.items]
    assert sorted(one.email.key for one in parts) == [one.email.key for one in parts]


async def test_a_tie_is_kept_with_the_sector_of_that_moment(storage: Storage) -> None:
    somebody = person(1, email="a@acme.example", external_id="E1", sector_id=SectorId(7))
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.apply(changes=hired(somebody), sectors=[Sector(id=SectorId(7), name="Sales")])

    imported = await tell(storage, [targeted("a")])

    async with storage.store.reading(ACME.id) as reading:
        (tied,) = await reading.recipients(imported.id, [somebody.email.key])
    assert (somebody.id, 7) == (tied.employee_id, tied.sector_id)


async def test_a_company_has_the_default_rules_until_it_says_otherwise_and_again_afterwards(
    storage: Storage,
) -> None:
    own = VerdictRules(
        soon=timedelta(milliseconds=1500),
        crowd=2,
        crowd_window=timedelta(0),
        burst=1_000_000,
        burst_window=timedelta(hours=1),
        scanner_agents=(),
    )
    seen = []
    for rules in (FEW, own, None):
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.save_verdict_rules(rules)
            own_view = await transaction.verdict_rules()
        async with storage.store.reading(ACME.id) as reading, storage.store.reading(GLOBEX.id) as others:
            assert own_view == await reading.verdict_rules()
            assert DEFAULT_RULES == await others.verdict_rules()
        seen.append(own_view)

    assert [FEW, own, DEFAULT_RULES] == seen


async def test_judged_again_everything_is_as_if_the_rules_had_always_been_these(storage: Storage) -> None:
    told = told_by_chance(5)
    ending = attrs.evolve(SPRING, ends_at=NOW + timedelta(seconds=100))
    await tell(storage, told[:40], told[40:], campaign=ending)
    await keep_rules(ports_of(storage), ACME.id, DEFAULT_RULES)
    outcome = await reclassify_campaigns(ports_of(storage), ACME.id)
    by_default = await state_of(storage)
    await keep_rules(ports_of(storage), ACME.id, FEW)
    await reclassify_campaigns(ports_of(storage), ACME.id)
    by_few = await state_of(storage)

    reference = memory_storage()
    await reference.companies.add_company(ACME)
    await tell(reference, told, campaign=ending)
    assert await state_of(reference) == by_few
    assert by_default != by_few
    assert (1, 1) == (outcome.campaigns, outcome.changed_campaigns)
    assert 0 == (await reclassify_campaigns(ports_of(storage), ACME.id)).changed_events


async def test_a_campaign_is_read_back_as_it_was_saved(storage: Storage) -> None:
    saved = campaign(
        1,
        state=CampaignState.PAUSED,
        starts_at=NOW,
        ends_at=LATER,
        external_id="gophish 12",
        difficulty=Difficulty.DIFFICULT,
    )
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_campaigns([saved])

    async with storage.store.reading(ACME.id) as reading:
        assert saved == await reading.campaign(saved.id)
