"""A company's own rules on machines: what may be changed, and that history follows them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.campaign_events import Event, EventKey
from awareness_core.errors import NotFound, ValidationFailed
from awareness_core.interactions import judge_campaign
from awareness_core.kpis import Step, tally
from awareness_core.recipients import progress_of
from awareness_core.results_check import EventTelling
from awareness_core.results_plan import ResultChanges
from awareness_core.use_cases.import_results import import_results
from awareness_core.use_cases.verdict_rules import (
    JudgingProgress,
    Reclassified,
    change_verdict_rules,
    read_verdict_rules,
    reclassify_campaigns,
    reset_verdict_rules,
)
from awareness_core.verdict_rules import (
    DEFAULT_RULES,
    EVERYDAY_AGENTS,
    MAX_AGENTS,
    RulesChange,
    VerdictRules,
    changed_rules,
)
from tests.core.strategies import NOW
from tests.core.tellings import SPRING, Told, happened
from tests.core.worlds import NOBODYS, OURS, THEIRS, World, keep_rules, run, settled_world

spans = st.sampled_from([timedelta(0), timedelta(seconds=2), timedelta(seconds=60)])
rules_of_all_kinds = st.builds(
    VerdictRules,
    soon=spans,
    crowd=st.integers(2, 4),
    crowd_window=spans,
    burst=st.integers(2, 4),
    burst_window=spans,
    scanner_agents=st.sampled_from([(), ("curl/",)]),
)

# Around the border of two places, so that a crowd may stand on both sides of it.
meetings = st.builds(
    happened,
    st.integers(0, 3),
    st.sampled_from([Step.SENT, Step.OPENED, Step.CLICKED, Step.REPORTED]),
    st.sampled_from([57, 59, 61, 63, 3600]).map(lambda seconds: timedelta(seconds=seconds)),
    address=st.sampled_from(["192.0.2.1", "192.0.2.1", None]),
    user_agent=st.sampled_from([None, None, "curl/8"]),
)


# Two clicks two seconds apart, in two places.
TWO_TOGETHER = [
    happened(who, step, timedelta(seconds=seconds), address="192.0.2.1")
    for who, seconds in ((0, 59), (1, 61))
    for step in (Step.CLICKED, Step.REPORTED)
]


@given(
    past=st.lists(st.tuples(rules_of_all_kinds, st.lists(meetings, max_size=9)), min_size=1, max_size=3),
    now=rules_of_all_kinds,
    at_once=st.sampled_from([1, 2, 500]),
)
@example(past=[(VerdictRules(crowd=3), TWO_TOGETHER)], now=VerdictRules(crowd=2), at_once=1)
def test_history_follows_the_rules_however_they_changed(
    past: list[tuple[VerdictRules, list[EventTelling]]], now: VerdictRules, at_once: int
) -> None:
    async def story() -> None:
        world = await settled_world()
        for rules, told in past:
            await keep_rules(world, OURS, rules)
            await import_results(world, OURS, Told(SPRING, [told]))
        await keep_rules(world, OURS, now)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("awareness_core.reclassification._RECIPIENTS_AT_ONCE", at_once)
            await reclassify_campaigns(world, OURS)

        await assert_judged_by(world, now)
        assert 0 == (await reclassify_campaigns(world, OURS)).changed_events

    run(story())


async def assert_judged_by(world: World, rules: VerdictRules) -> None:
    async with world.store.reading(OURS) as reading:
        campaign = await reading.campaign_by_external_id("spring")
        assert campaign is not None
        people = await reading.recipients_after(campaign.id, None, limit=1000)
        events = await reading.events(campaign.id, recipients=[one.email.key for one in people])
    assert by_key(judge_campaign(events, rules)) == by_key(events)
    for person in people:
        own = [event for event in events if event.recipient == person.email.key]
        assert progress_of(own, ends_at=None) == person.progress
    machine = sum(person.progress.machine for person in people)
    assert tally([person.progress.reached for person in people], machine=machine) == campaign.funnel
    with_machine = tally([person.progress.with_machine for person in people], machine=machine)
    assert with_machine == campaign.funnel_with_machine


def by_key(events: Iterable[Event]) -> dict[EventKey, Event]:
    return {event.key: event for event in events}


def test_what_was_counted_by_an_earlier_rule_is_counted_again() -> None:
    async def story() -> None:
        world = await settled_world()
        told = [
            happened("a", Step.ERROR),
            happened("a", Step.SENT, timedelta(minutes=5)),
            happened("b", Step.ERROR),
        ]
        outcome = await import_results(world, OURS, Told(SPRING, [told]))
        assert (2, 1, 1) == (
            outcome.campaign.funnel.total,
            outcome.campaign.funnel.sent,
            outcome.campaign.funnel.errors,
        )
        async with world.store.transaction(OURS) as transaction:
            stale = [
                attrs.evolve(person, progress=attrs.evolve(person.progress, error_at=NOW))
                for person in await transaction.recipients_after(outcome.campaign.id, None, limit=10)
            ]
            await transaction.save_results(outcome.campaign.id, ResultChanges(changed_recipients=stale))
            errors = attrs.evolve(outcome.campaign.funnel, errors=2)
            await transaction.save_campaigns([attrs.evolve(outcome.campaign, funnel=errors)])

        assert Reclassified(campaigns=1) == await reclassify_campaigns(world, OURS)
        await assert_judged_by(world, DEFAULT_RULES)

    run(story())


def test_a_change_leaves_the_rest_as_it_is() -> None:
    change = RulesChange(crowd=4, burst_window=timedelta(0), agents=["  Zscaler "], no_agents=["CURL/"])

    rules = changed_rules(DEFAULT_RULES, change)

    assert (4, timedelta(0)) == (rules.crowd, rules.burst_window)
    agents = {*DEFAULT_RULES.scanner_agents, "zscaler"} - {"curl/"}
    assert tuple(sorted(agents)) == rules.scanner_agents
    assert DEFAULT_RULES == attrs.evolve(
        rules,
        crowd=DEFAULT_RULES.crowd,
        burst_window=DEFAULT_RULES.burst_window,
        scanner_agents=DEFAULT_RULES.scanner_agents,
    )


def test_all_that_is_wrong_is_told_at_once() -> None:
    change = RulesChange(
        soon=timedelta(days=2),
        crowd=1,
        crowd_window=timedelta(seconds=61),
        burst=1_000_001,
        burst_window=-timedelta(seconds=1),
        agents=["", "a" * 101, "a\nbc"],
        no_agents=["never heard of"],
    )

    with pytest.raises(ValidationFailed) as refusal:
        changed_rules(DEFAULT_RULES, change)

    assert [
        "soon",
        "crowd_window",
        "burst_window",
        "crowd",
        "burst",
        "agent",
        "agent",
        "agent",
        "no_agent",
    ] == [fault.field for fault in refusal.value.faults]


everyday_parts = st.sampled_from(EVERYDAY_AGENTS).flatmap(
    lambda everyday: st.tuples(st.just(everyday), st.integers(0, len(everyday)), st.integers(0, 30))
)


@given(
    agent=st.one_of(
        everyday_parts.map(lambda part: part[0][part[1] : part[1] + part[2]]),
        st.text("cefhmorzl/ 5.0", max_size=12),
        st.text(max_size=12),
    )
)
@example(agent="e")
@example(agent="Mozilla/5.0")
@example(agent=" /5 ")
def test_an_agent_that_is_kept_makes_no_machine_of_peoples_browsers(agent: str) -> None:
    try:
        rules = changed_rules(DEFAULT_RULES, RulesChange(agents=[agent]))
    except ValidationFailed:
        return

    assert all(3 <= len(kept) for kept in rules.scanner_agents)
    assert not [
        (kept, everyday) for kept in rules.scanner_agents for everyday in EVERYDAY_AGENTS if kept in everyday
    ]


def test_a_version_of_a_browser_may_be_a_scanners() -> None:
    changed_rules(DEFAULT_RULES, RulesChange(agents=["Chrome/79.0.3945.88", "HeadlessChrome/"]))


def test_an_agent_that_was_kept_before_can_be_taken_away() -> None:
    before = attrs.evolve(DEFAULT_RULES, scanner_agents=(*DEFAULT_RULES.scanner_agents, "e"))

    assert DEFAULT_RULES == changed_rules(before, RulesChange(no_agents=["E"]))


def test_agents_are_not_without_number() -> None:
    many = [f"agent {number}" for number in range(MAX_AGENTS)]
    with pytest.raises(ValidationFailed):
        changed_rules(DEFAULT_RULES, RulesChange(agents=many))

    assert MAX_AGENTS == len(
        changed_rules(attrs.evolve(DEFAULT_RULES, scanner_agents=()), RulesChange(agents=many)).scanner_agents
    )


def test_a_company_changes_its_own_rules_and_no_others() -> None:
    async def story() -> None:
        world = await settled_world()
        changed = await change_verdict_rules(world, OURS, RulesChange(crowd=3))

        assert changed == await read_verdict_rules(world, OURS)
        assert DEFAULT_RULES == await read_verdict_rules(world, THEIRS)
        assert DEFAULT_RULES == await reset_verdict_rules(world, OURS)
        assert DEFAULT_RULES == await read_verdict_rules(world, OURS)

    run(story())


def test_it_tells_how_far_it_has_come_and_what_changed() -> None:
    async def story() -> tuple[Reclassified, list[JudgingProgress]]:
        world = await settled_world()
        for number in range(2):
            telling = attrs.evolve(SPRING, external_id=str(number))
            click = happened(
                "a", Step.CLICKED, timedelta(hours=1), user_agent="Mozilla/5.0" if number else "curl/8"
            )
            await import_results(world, OURS, Told(telling, [[click]]))
        await change_verdict_rules(world, OURS, RulesChange(no_agents=["curl/"]))
        reached: list[JudgingProgress] = []
        return await reclassify_campaigns(world, OURS, on_progress=reached.append), reached

    outcome, reached = run(story())

    assert Reclassified(campaigns=2, changed_campaigns=1, changed_events=1) == outcome
    assert [JudgingProgress(done=done, total=2) for done in range(3)] == reached


def test_a_company_that_does_not_exist_has_no_rules() -> None:
    async def story() -> None:
        world = await settled_world()
        for asked in (
            read_verdict_rules(world, NOBODYS),
            change_verdict_rules(world, NOBODYS, RulesChange(crowd=3)),
            reset_verdict_rules(world, NOBODYS),
            reclassify_campaigns(world, NOBODYS),
        ):
            with pytest.raises(NotFound):
                await asked

    run(story())
