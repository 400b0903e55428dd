"""Somebody who was erased: nothing says who they were, every figure stays, and nothing brings them back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.anonymity import SECRET_BYTES, anonymous_address, is_anonymous, mark_of
from awareness_core.campaign_events import Event
from awareness_core.campaigns import Campaign, CampaignId, CampaignTelling
from awareness_core.emails import InvalidEmail, parse_email
from awareness_core.employees import Employee, EmployeeId, archive
from awareness_core.errors import NotFound
from awareness_core.kpis import Step
from awareness_core.recipients import Recipient
from awareness_core.records import RawEmployee, check_record
from awareness_core.results_plan import ImportSummary, Line
from awareness_core.use_cases.erase import erase
from awareness_core.use_cases.import_results import import_results
from awareness_core.use_cases.provision import provision
from awareness_core.use_cases.verdict_rules import reclassify_campaigns
from awareness_core.verdict_rules import VerdictRules
from tests.core.strategies import NOW, PERSON
from tests.core.tellings import SPRING, Told, happened, lines, targeted
from tests.core.worlds import (
    OURS,
    THEIRS,
    World,
    keep_rules,
    passwords_of,
    people_of,
    run,
    settle_people,
    settled_world,
)

HOUR = timedelta(hours=1)
FEW = VerdictRules(crowd=3, burst=3)
OTHERWISE = VerdictRules(crowd=2, burst=2, soon=HOUR)

Outcome = tuple[Campaign, list[Recipient], list[Event]]


def employee(who: int, external_id: str | None = None) -> Employee:
    return attrs.evolve(
        PERSON,
        id=EmployeeId(f"{who:04}"),
        email=parse_email(f"{who}@acme.example"),
        external_id=external_id,
        sector_id=None,
    )


ADA, BEN, CY = employee(0, "e1"), employee(1, "e2"), employee(2)


async def world_of(people: Sequence[Employee], *told: Sequence[Line]) -> World:
    """A strict company, told of a campaign."""
    world = await settled_world(people)
    await keep_rules(world, OURS, FEW)
    await import_results(world, OURS, Told(SPRING, told))
    return world


async def state_of(world: World, name: str = "spring") -> Outcome:
    async with world.store.reading(OURS) as reading:
        campaign = await reading.campaign_by_external_id(name)
        assert campaign is not None
        people = await reading.recipients_after(campaign.id, None, limit=1000)
        events = await reading.events(campaign.id, recipients=[one.email.key for one in people])
    return campaign, list(people), sorted(events, key=lambda event: event.key)


def figures(state: Outcome) -> object:
    """All that is counted, by whoever it was."""
    campaign, people, events = state
    return (
        attrs.evolve(campaign, id=CampaignId("drawn")),
        Counter((one.sector_id, one.progress) for one in people),
        Counter((one.step, one.at, one.signs) for one in events),
    )


@given(told=st.lists(lines, max_size=25), data=st.data())
def test_every_figure_stays_and_all_told_again_in_any_order_and_splitting_changes_nothing(
    told: list[Line], data: st.DataObject
) -> None:
    again = data.draw(st.permutations(told))
    cut = data.draw(st.integers(0, len(told)))

    async def story() -> None:
        world = await world_of([ADA, BEN, CY], told)
        before = await state_of(world)
        await erase(world, OURS, ADA.id)
        after = await state_of(world)
        await import_results(world, OURS, Told(SPRING, [again[:cut], again[cut:]]))

        assert figures(before) == figures(after)
        assert after == await state_of(world)

    run(story())


@given(told=st.lists(lines, max_size=25))
@example(told=[happened(0, Step.CLICKED, told_id="one", address="192.0.2.1", user_agent="Firefox")])
def test_nothing_is_left_of_whom_was_erased_and_everybody_else_is_as_before(told: list[Line]) -> None:
    async def story() -> None:
        world = await world_of([ADA, BEN, CY], told)
        _, people, events = await state_of(world)
        # Whom a tool told of under her address and another's id is that other.
        gone = {one.email.key for one in people if one.employee_id == ADA.id}
        await erase(world, OURS, ADA.id)
        _, people_after, events_after = await state_of(world)
        erased = [one for one in people_after if one.is_erased]
        keys = {event.key for event in events}

        assert [one for one in people if one.email.key not in gone] == [
            one for one in people_after if not one.is_erased
        ]
        assert len(gone) == len(erased)
        assert {(None, None)} >= {(one.employee_id, one.external_id) for one in erased}
        assert [one for one in events if one.recipient not in gone] == [
            one for one in events_after if one.key in keys
        ]
        for event in events_after:
            if event.key not in keys:
                assert event.recipient in {one.email.key for one in erased}
                assert (None, None, None) == (event.address, event.user_agent, event.method)

    run(story())


@given(told=st.lists(lines, max_size=25))
def test_judging_again_by_other_rules_leaves_whom_was_erased_as_they_were_judged(told: list[Line]) -> None:
    async def story() -> None:
        world = await world_of([ADA, BEN, CY], told)
        await erase(world, OURS, ADA.id)
        _, before, events_before = await state_of(world)
        await keep_rules(world, OURS, OTHERWISE)
        await reclassify_campaigns(world, OURS)
        campaign, after, events_after = await state_of(world)
        erased = {one.email.key for one in before if one.is_erased}

        assert [one for one in before if one.is_erased] == [one for one in after if one.is_erased]
        assert [one for one in events_before if one.recipient in erased] == [
            one for one in events_after if one.recipient in erased
        ]
        assert campaign.funnel.clicked == sum(one.progress.clicked_at is not None for one in after)

    run(story())


@given(
    told=st.lists(lines, max_size=25), ends=st.sampled_from([timedelta(0), timedelta(seconds=31), 2 * HOUR])
)
def test_an_end_that_is_told_later_counts_for_whom_was_erased_too(told: list[Line], ends: timedelta) -> None:
    telling = attrs.evolve(SPRING, ends_at=NOW + ends)

    async def story() -> None:
        kept, erased = await world_of([ADA, BEN], told), await world_of([ADA, BEN], told)
        await erase(erased, OURS, ADA.id)
        for world in (kept, erased):
            await import_results(world, OURS, Told(telling))

        assert figures(await state_of(kept)) == figures(await state_of(erased))

    run(story())


def test_lines_about_somebody_erased_are_counted_apart_even_what_is_told_for_the_first_time() -> None:
    async def story() -> tuple[ImportSummary, int]:
        world = await world_of([ADA], [targeted(0)])
        await erase(world, OURS, ADA.id)
        world.clock.advance(HOUR)
        told: list[Line] = [targeted(0, "e1"), happened(0, Step.CLICKED), happened(3, Step.CLICKED)]
        outcome = await import_results(world, OURS, Told(SPRING, [told]))
        return outcome.summary, outcome.campaign.funnel.total

    assert (ImportSummary(events=1, new=1, erased=2), 2) == run(story())


@pytest.mark.parametrize(
    ("telling", "is_known"),
    [
        (CampaignTelling(external_id="x", name="x", state=SPRING.state, created_at=NOW), False),
        (CampaignTelling(external_id="x", name="x", state=SPRING.state, starts_at=NOW), False),
        (CampaignTelling(external_id="x", name="x", state=SPRING.state), True),
        (CampaignTelling(external_id="x", name="x", state=SPRING.state, created_at=NOW + HOUR), True),
    ],
)
def test_a_campaign_of_before_tells_nothing_of_the_address_and_a_later_one_does(
    telling: CampaignTelling, *, is_known: bool
) -> None:
    """Who is hired with the address later takes part in what is later."""

    async def story() -> list[Recipient]:
        world = await world_of([ADA])
        await erase(world, OURS, ADA.id)
        world.clock.advance(timedelta(milliseconds=1))
        await import_results(world, OURS, Told(telling, [[targeted(0)]]))
        return (await state_of(world, "x"))[1]

    assert ([targeted(0)] if is_known else []) == run(story())


def test_a_campaign_that_is_said_to_be_newer_later_still_tells_nothing() -> None:
    newer = attrs.evolve(SPRING, created_at=NOW + 2 * HOUR, starts_at=NOW + 2 * HOUR)

    async def story() -> list[bool]:
        world = await world_of([ADA], [targeted(0)])
        world.clock.advance(HOUR)
        await erase(world, OURS, ADA.id)
        await import_results(world, OURS, Told(newer, [[targeted(0)]]))
        return [one.is_erased for one in (await state_of(world))[1]]

    assert [True] == run(story())


def test_a_tool_whose_clock_is_ahead_brings_nobody_back() -> None:
    ahead = attrs.evolve(SPRING, created_at=NOW + HOUR, starts_at=NOW + HOUR)

    async def story() -> list[bool]:
        world = await settled_world([ADA])
        await import_results(world, OURS, Told(ahead, [[targeted(0)]]))
        await erase(world, OURS, ADA.id)
        await import_results(world, OURS, Told(ahead, [[targeted(0)]]))
        return [one.is_erased for one in (await state_of(world))[1]]

    assert [True] == run(story())


def test_somebody_hired_anew_with_the_address_has_no_link_to_the_past() -> None:
    record = check_record(
        RawEmployee(email="0@acme.example", last_name="New", first_name="New", external_id="e1")
    )

    async def story() -> tuple[object, list[bool], list[bool]]:
        world = await world_of([ADA], [targeted(0), happened(0, Step.CLICKED)])
        await erase(world, OURS, ADA.id)
        report = await provision(world, OURS, [record])
        await import_results(world, OURS, Told(SPRING, [[happened(0, Step.REPORTED, HOUR)]]))
        world.clock.advance(HOUR)
        later = CampaignTelling(external_id="later", name="later", state=SPRING.state)
        await import_results(world, OURS, Told(later, [[targeted(0)]]))
        (hired,) = await people_of(world)
        old, new = (await state_of(world))[1], (await state_of(world, "later"))[1]
        return (
            (report.summary.created, hired.id != ADA.id),
            [one.is_erased for one in old],
            [one.employee_id == hired.id for one in new],
        )

    assert ((1, True), [True], [True]) == run(story())


def test_a_second_erasure_of_the_address_reaches_as_far_as_the_later_one() -> None:
    async def story() -> list[Recipient]:
        world = await world_of([ADA])
        await erase(world, OURS, ADA.id)
        world.clock.advance(2 * HOUR)
        again = attrs.evolve(ADA, id=EmployeeId("again"))
        await settle_people(world, OURS, [again])
        await erase(world, OURS, again.id)
        between = attrs.evolve(SPRING, external_id="x", created_at=NOW + HOUR, starts_at=None)
        await import_results(world, OURS, Told(between, [[targeted(0)]]))
        return (await state_of(world, "x"))[1]

    assert [] == run(story())


def test_whoever_has_the_mailbox_now_keeps_what_is_told_of_them() -> None:
    """Somebody else is the recipient under that address; erasing who had it before is not about them."""
    heir = attrs.evolve(ADA, id=EmployeeId("heir"), external_id="e9")

    async def story() -> tuple[list[object], int]:
        world = await settled_world([archive(ADA, now=NOW), heir])
        await import_results(world, OURS, Told(SPRING, [[targeted(0)]]))
        await erase(world, OURS, ADA.id)
        told = Told(SPRING, [[targeted(0), happened(0, Step.CLICKED)]])
        outcome = await import_results(world, OURS, told)
        people = (await state_of(world))[1]
        return [one.employee_id for one in people], outcome.campaign.funnel.clicked

    assert ([heir.id], 1) == run(story())


def test_whoever_was_told_of_under_an_earlier_address_does_not_come_back_under_it() -> None:
    async def story() -> tuple[list[bool], int]:
        world = await world_of([ADA], [targeted("before", "e1"), targeted(0)])
        await erase(world, OURS, ADA.id)
        outcome = await import_results(world, OURS, Told(SPRING, [[targeted("before"), targeted(0)]]))
        return [one.is_erased for one in (await state_of(world))[1]], outcome.summary.erased

    assert ([True, True], 2) == run(story())


def test_who_is_tied_to_nobody_and_has_the_address_or_the_external_id_is_erased_too() -> None:
    async def story() -> tuple[list[bool], list[bool]]:
        world = await world_of([], [targeted(0), targeted("x", "e1"), targeted("y")])
        await settle_people(world, OURS, [ADA])
        untied = [one.employee_id is None for one in (await state_of(world))[1]]
        await erase(world, OURS, ADA.id)
        return untied, sorted(one.is_erased for one in (await state_of(world))[1])

    assert ([True] * 3, [False, True, True]) == run(story())


def test_the_employee_and_their_passwords_are_gone_and_nobody_else() -> None:
    async def story() -> tuple[list[Employee], object]:
        world = await settled_world([PERSON, ADA, BEN], others=[attrs.evolve(CY, id=ADA.id)])
        await erase(world, OURS, PERSON.id)
        return await people_of(world) + await people_of(world, THEIRS), await passwords_of(world)

    assert ([ADA, BEN, attrs.evolve(CY, id=ADA.id)], []) == run(story())


def test_erasing_nobody_of_the_company_is_not_found_and_so_is_the_second_time() -> None:
    async def story() -> int:
        world = await settled_world([ADA], others=[BEN])
        await erase(world, OURS, ADA.id)
        refused = 0
        for someone in (ADA.id, BEN.id, EmployeeId("nobody")):
            with pytest.raises(NotFound, match=r"^No such employee\.$"):
                await erase(world, OURS, someone)
            refused += 1
        return refused

    assert 3 == run(story())


@given(st.binary(min_size=16, max_size=16))
def test_nobody_can_be_told_of_under_an_anonymous_address(entropy: bytes) -> None:
    address = anonymous_address(entropy)

    assert is_anonymous(address)
    with pytest.raises(InvalidEmail):
        parse_email(address.text)


@given(st.binary(max_size=40).filter(lambda entropy: len(entropy) != 16))
@example(b"")
@example(b"0" * 15)
@example(b"0" * 17)
def test_an_anonymous_address_is_made_of_exactly_the_randomness_that_it_takes(entropy: bytes) -> None:
    with pytest.raises(ValueError, match=f"takes 16 random bytes, not {len(entropy)}"):
        anonymous_address(entropy)


def test_the_same_address_has_another_mark_in_another_company_and_another_name_in_each_campaign() -> None:
    async def story() -> int:
        world = await world_of([ADA], [targeted(0)])
        await import_results(world, OURS, Told(attrs.evolve(SPRING, external_id="summer"), [[targeted(0)]]))
        await erase(world, OURS, ADA.id)
        states = [await state_of(world, name) for name in ("spring", "summer")]
        return len({one.email.key for _, people, _ in states for one in people})

    assert mark_of(ADA.email.key, b"1" * SECRET_BYTES) != mark_of(ADA.email.key, b"2" * SECRET_BYTES)
    assert 2 == run(story())
