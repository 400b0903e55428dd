"""Taking in what tools tell of campaigns: any order, repetition and splitting gives the same figures."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.campaign_events import Event
from awareness_core.campaigns import Campaign, CampaignState
from awareness_core.employees import Employee, EmployeeChange, EmployeeState, archive
from awareness_core.errors import Fault, NotFound, ValidationFailed
from awareness_core.interactions import judge_campaign
from awareness_core.kpis import Funnel, Step, tally
from awareness_core.pages import PageRequest
from awareness_core.recipients import Recipient, progress_of
from awareness_core.results_check import EventTelling, RefusedLine
from awareness_core.results_intake import MAX_ERRORS
from awareness_core.results_plan import ImportSummary, Line
from awareness_core.use_cases.import_results import import_results
from awareness_core.use_cases.read_campaigns import (
    RecipientView,
    all_recipients,
    get_campaign,
    list_recipients,
)
from awareness_core.verdict_rules import VerdictRules
from tests.core.strategies import NOW, PERSON
from tests.core.tellings import SPRING, Told, happened, lines, targeted
from tests.core.worlds import (
    NOBODYS,
    OURS,
    THEIRS,
    World,
    keep_rules,
    new_world,
    run,
    settle_people,
    settled_world,
)

HOUR = timedelta(hours=1)
FEW = VerdictRules(crowd=3, burst=3)


async def strict_world() -> World:
    """One whose company takes three for a crowd and for a burst."""
    world = await settled_world()
    await keep_rules(world, OURS, FEW)
    return world


async def state_of(world: World) -> tuple[Campaign, list[Recipient], list[Event]]:
    """The campaign, but for its id, with everyone and everything in it."""
    async with world.store.reading(OURS) as reading:
        campaign = await reading.campaign_by_external_id("spring")
        assert campaign is not None
        people = await reading.recipients_after(campaign.id, None, limit=1000)
        events = await reading.events(campaign.id, recipients=[one.email.key for one in people])
    return campaign, list(people), sorted(events, key=lambda event: event.key)


async def told_at_once(told: list[Line]) -> tuple[Campaign, list[Recipient], list[Event]]:
    world = await strict_world()
    await import_results(world, OURS, Told(SPRING, [told]))
    return await state_of(world)


@given(told=st.lists(lines, max_size=25), data=st.data())
def test_any_order_repetition_and_splitting_gives_the_same_state(
    told: list[Line], data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(told), max_size=5)) if told else []
    shuffled = data.draw(st.permutations([*told, *again]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(shuffled)), max_size=4)))
    parts = [shuffled[start:end] for start, end in zip([0, *cuts], [*cuts, len(shuffled)], strict=True)]

    async def story() -> None:
        world = await strict_world()
        for part in parts:
            await import_results(world, OURS, Told(SPRING, [part[::2], part[1::2]]))
        campaign, *rest = await state_of(world)
        expected_campaign, *expected = await told_at_once(told)

        assert expected == rest
        assert attrs.evolve(expected_campaign, id=campaign.id) == campaign

    run(story())


def test_a_second_click_of_somebody_is_one_more_event_and_changes_no_figure() -> None:
    async def story() -> tuple[object, object, tuple[int, int]]:
        world = await strict_world()
        await import_results(world, OURS, Told(SPRING, [[happened("a", Step.CLICKED)]]))
        campaign, people, events = await state_of(world)
        await import_results(world, OURS, Told(SPRING, [[happened("a", Step.CLICKED, HOUR)]]))
        campaign_after, people_after, events_after = await state_of(world)
        counts = (campaign.funnel.clicked, len(events_after) - len(events))
        return (campaign, people), (campaign_after, people_after), counts

    before, after, counts = run(story())

    assert (before, (1, 1)) == (after, counts)


@given(
    told=st.lists(lines, max_size=25), ends=st.sampled_from([None, timedelta(0), timedelta(seconds=2), HOUR])
)
@example(told=[happened("a", Step.CLICKED, HOUR)], ends=timedelta(0))
def test_the_figures_are_those_of_all_events_judged_together(
    told: list[Line], ends: timedelta | None
) -> None:
    telling = attrs.evolve(SPRING, ends_at=None if ends is None else NOW + ends)

    async def story() -> None:
        world = await strict_world()
        # The end is told last, and changes what had been counted.
        await import_results(world, OURS, Told(SPRING, [told]))
        await import_results(world, OURS, Told(telling))
        campaign, people, events = await state_of(world)

        assert sorted(judge_campaign(events, FEW), key=lambda event: event.key) == events
        for person in people:
            own = [event for event in events if event.recipient == person.email.key]
            assert progress_of(own, ends_at=telling.ends_at) == person.progress
        machine = sum(person.progress.machine for person in people)
        assert tally([person.progress.reached for person in people], machine=machine) == campaign.funnel
        assert campaign.funnel_with_machine == tally(
            [person.progress.with_machine for person in people], machine=machine
        )

    run(story())


def test_whoever_acted_before_is_judged_again_when_the_crowd_around_them_comes() -> None:
    def click(who: int, seconds: int, address: str = "192.0.2.1") -> EventTelling:
        return happened(who, Step.CLICKED, timedelta(seconds=seconds), address=address)

    async def story() -> list[tuple[int, int]]:
        world = await strict_world()
        counts = []
        for one in (
            click(1, 100),
            click(2, 102),
            click(3, 104),
            # The same click, told with more of its address, was elsewhere.
            click(1, 100, "192.0.2.2"),
        ):
            await import_results(world, OURS, Told(SPRING, [[one]]))
            funnel = (await state_of(world))[0].funnel
            counts.append((funnel.clicked, funnel.machine))
        return counts

    assert [(1, 0), (2, 0), (0, 3), (3, 0)] == run(story())


def test_imports_at_the_same_time_lose_nothing() -> None:
    async def story() -> Funnel:
        world = await strict_world()
        each: list[Line] = [happened(n, Step.CLICKED, n * HOUR) for n in range(20)]
        await asyncio.gather(*(import_results(world, OURS, Told(SPRING, [[one]])) for one in each))
        return (await state_of(world))[0].funnel

    assert Funnel(total=20, sent=20, opened=20, clicked=20) == run(story())


def test_what_is_told_again_is_known_and_writes_no_result() -> None:
    told: list[Line] = [targeted("a"), happened("a", Step.SENT), happened("b", Step.OPENED, HOUR)]

    async def story() -> list[ImportSummary]:
        world = await strict_world()
        return [(await import_results(world, OURS, Told(SPRING, [told]))).summary for _ in range(2)]

    assert [
        ImportSummary(recipients=1, events=2, new=2, known=0),
        ImportSummary(recipients=1, events=2, new=0, known=2),
    ] == run(story())


def test_an_id_names_one_event_for_good() -> None:
    told = [
        happened("a", Step.OPENED, told_id="x"),
        happened("a", Step.OPENED, told_id="x"),
        happened("b", Step.OPENED, told_id="x"),
        happened("b", Step.OPENED, told_id="y"),
    ]

    async def story() -> None:
        world = await strict_world()
        outcome = await import_results(world, OURS, Told(SPRING, [told]))
        (failure,) = outcome.failures

        assert ImportSummary(events=3, new=2, known=1, failed=1) == outcome.summary
        assert (2, "event_id_reused", False) == (failure.index, failure.faults[0].code, outcome.is_ok)

    run(story())


def test_bad_lines_are_told_by_their_place_and_spoil_no_other() -> None:
    bad = RefusedLine(faults=(Fault(field="email", message="m", code="c"),))

    async def story() -> tuple[ImportSummary, list[int]]:
        world = await strict_world()
        parts: list[list[Line]] = [[targeted("a"), bad], [bad, targeted("b")], [bad] * MAX_ERRORS]
        outcome = await import_results(world, OURS, Told(SPRING, parts))
        return outcome.summary, [failure.index for failure in outcome.failures]

    summary, places = run(story())

    assert ImportSummary(recipients=2, failed=MAX_ERRORS + 2) == summary
    assert [1, 2, *range(4, MAX_ERRORS + 2)] == places


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        (CampaignState.RUNNING, CampaignState.COMPLETED, CampaignState.COMPLETED),
        (CampaignState.COMPLETED, CampaignState.RUNNING, CampaignState.COMPLETED),
        (CampaignState.DRAFT, CampaignState.COMPLETED, CampaignState.COMPLETED),
        (CampaignState.RUNNING, CampaignState.SCHEDULED, CampaignState.RUNNING),
        (CampaignState.PAUSED, CampaignState.RUNNING, CampaignState.RUNNING),
        (CampaignState.CANCELLED, CampaignState.RUNNING, CampaignState.CANCELLED),
    ],
)
def test_a_state_told_late_does_not_turn_a_campaign_back(
    first: CampaignState, then: CampaignState, expected: CampaignState
) -> None:
    async def story() -> CampaignState:
        world = await strict_world()
        await import_results(world, OURS, Told(attrs.evolve(SPRING, state=first)))
        return (await import_results(world, OURS, Told(attrs.evolve(SPRING, state=then)))).campaign.state

    assert expected is run(story())


def test_what_is_not_told_again_stays() -> None:
    full = attrs.evolve(SPRING, created_at=NOW - HOUR, ends_at=NOW + HOUR)

    async def story() -> Campaign:
        world = await strict_world()
        await import_results(world, OURS, Told(full))
        again = attrs.evolve(SPRING, starts_at=None, name="Later")
        return (await import_results(world, OURS, Told(again))).campaign

    campaign = run(story())

    assert ("Later", NOW - HOUR, NOW, NOW + HOUR) == (
        campaign.name,
        campaign.created_at,
        campaign.starts_at,
        campaign.ends_at,
    )


def test_a_campaign_that_would_end_before_it_starts_is_refused_whole() -> None:
    async def story() -> Funnel:
        world = await strict_world()
        await import_results(world, OURS, Told(SPRING, [[targeted("a")]]))
        with pytest.raises(ValidationFailed) as refused:
            await import_results(
                world, OURS, Told(attrs.evolve(SPRING, ends_at=NOW - HOUR), [[targeted("b")]])
            )

        assert ["reversed_period"] == [fault.code for fault in refused.value.faults]
        return (await state_of(world))[0].funnel

    assert Funnel(total=1) == run(story())


def test_late_events_are_kept_and_not_counted() -> None:
    async def story() -> tuple[Funnel, int]:
        world = await strict_world()
        told = [happened("a", Step.OPENED, HOUR), happened("a", Step.CLICKED, HOUR * 2)]
        await import_results(world, OURS, Told(attrs.evolve(SPRING, ends_at=NOW + HOUR), [told]))
        campaign, _, events = await state_of(world)
        return campaign.funnel, len(events)

    assert (Funnel(total=1, sent=1, opened=1), 2) == run(story())


def person(**fields: object) -> Employee:
    return attrs.evolve(PERSON, **fields)  # type: ignore[arg-type]  # names and types as `Employee` has them


async def tied_to(*told: EventTelling | Recipient, people: list[Employee]) -> list[str | None]:
    world = await settled_world(people)
    for one in told:
        await import_results(world, OURS, Told(SPRING, [[one]]))
    return [one.employee_id for one in (await state_of(world))[1]]


def test_a_recipient_is_tied_by_external_id_then_by_address() -> None:
    by_id = person(external_id="E1")
    elsewhere = Recipient(email=by_id.email)

    assert [by_id.id] == run(tied_to(targeted("new", "E1"), people=[by_id]))
    assert [by_id.id] == run(tied_to(elsewhere, people=[by_id]))
    assert [None] == run(tied_to(targeted("new"), people=[by_id]))
    assert [by_id.id] == run(tied_to(targeted("new"), targeted("new", "E1"), people=[by_id]))


def test_a_recipient_stays_who_they_were_when_the_address_goes_to_somebody_else() -> None:
    async def story() -> str | None:
        world = await settled_world([PERSON])
        told = Recipient(email=PERSON.email)
        await import_results(world, OURS, Told(SPRING, [[told]]))
        gone = archive(PERSON, now=NOW)
        async with world.store.transaction(OURS) as transaction:
            await transaction.apply(changes=[EmployeeChange(before=PERSON, after=gone)])
        heir = person(id="01950000-0000-7000-8000-00000000beef", external_id="heir")
        await settle_people(world, OURS, [heir])
        await import_results(world, OURS, Told(SPRING, [[told]]))
        return (await state_of(world))[1][0].employee_id

    assert EmployeeState.ACTIVE is PERSON.state
    assert PERSON.id == run(story())


def test_a_recipient_nobody_was_found_for_is_sought_again() -> None:
    async def story() -> str | None:
        world = await strict_world()
        told = Recipient(email=PERSON.email)
        await import_results(world, OURS, Told(SPRING, [[told]]))
        await settle_people(world, OURS, [PERSON])
        await import_results(world, OURS, Told(SPRING, [[told]]))
        return (await state_of(world))[1][0].employee_id

    assert PERSON.id == run(story())


def test_reading_shows_progress_and_how_fast_it_was_noticed() -> None:
    told = [
        *(happened(who, Step.SENT) for who in "abcd"),
        happened("a", Step.CLICKED, HOUR),
        happened("b", Step.REPORTED, 2 * HOUR),
        happened("c", Step.REPORTED, 4 * HOUR),
        happened("d", Step.CLICKED, 3 * HOUR),
    ]

    async def story() -> None:
        world = await strict_world()
        imported = (await import_results(world, OURS, Told(SPRING, [told]))).campaign
        view = await get_campaign(world, OURS, imported.id)
        page = await list_recipients(world, OURS, imported.id, PageRequest(page=2, limit=3))
        everybody: list[RecipientView] = []
        async for part in await all_recipients(world, OURS, imported.id):
            everybody.extend(part)

        assert imported == view.campaign
        assert (NOW + 2 * HOUR, 3 * HOUR) == (view.response.first_report_at, view.response.median_delay)
        assert view.response.spared is not None
        assert 75.0 == view.response.spared.percent
        assert (["d@acme.example"], 4) == ([one.recipient.email.text for one in page.items], page.total)
        assert [f"{who}@acme.example" for who in "abcd"] == [one.recipient.email.text for one in everybody]

    run(story())


@pytest.mark.parametrize("company", [THEIRS, NOBODYS])
def test_another_companys_campaign_is_not_there(company: object) -> None:
    async def story() -> None:
        world = await strict_world()
        imported = (await import_results(world, OURS, Told(SPRING))).campaign
        for ask in (
            get_campaign(world, company, imported.id),  # type: ignore[arg-type]
            list_recipients(world, company, imported.id, PageRequest()),  # type: ignore[arg-type]
            all_recipients(world, company, imported.id),  # type: ignore[arg-type]
        ):
            with pytest.raises(NotFound):
                await ask

    run(story())


def test_an_unknown_company_has_no_campaigns() -> None:
    with pytest.raises(NotFound):
        run(import_results(new_world(), NOBODYS, Told(SPRING)))
