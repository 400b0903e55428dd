"""Which interactions are taken for a machine's, and why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.campaign_events import HUMAN, PLACE_SPAN, Event, EventKey, Sign, event_key, place_of
from awareness_core.emails import EmailKey
from awareness_core.interactions import judge_anew, judge_campaign, places_that_matter
from awareness_core.kpis import Step
from awareness_core.verdict_rules import DEFAULT_RULES, VerdictRules

NINE = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def event(
    who: int | str,
    step: Step,
    seconds: float = 0,
    *,
    address: str | None = None,
    user_agent: str | None = FIREFOX,
    method: str | None = "GET",
) -> Event:
    at = NINE + timedelta(seconds=seconds)
    recipient = EmailKey(f"{who}@acme.example")
    return Event(
        key=event_key(None, recipient, step, at),
        recipient=recipient,
        step=step,
        at=at,
        address=address,
        user_agent=user_agent,
        method=method,
    )


def signs_of(*events: Event) -> list[Sign]:
    return [judged.signs for judged in judge_campaign(events)]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-11, HUMAN),
        (-10, Sign.TOO_SOON),
        (0.5, Sign.TOO_SOON),
        (10, Sign.TOO_SOON),
        (10.001, HUMAN),
        (3600, HUMAN),
    ],
)
def test_nobody_opens_within_seconds_of_the_sending(seconds: float, expected: Sign) -> None:
    opened = event("ada", Step.OPENED, seconds)

    assert [HUMAN, expected] == signs_of(event("ada", Step.SENT), opened)


def test_only_a_sending_to_the_same_recipient_makes_an_interaction_too_soon() -> None:
    assert [HUMAN, HUMAN] == signs_of(event("bob", Step.SENT), event("ada", Step.CLICKED, 1))


@pytest.mark.parametrize("step", [Step.SENT, Step.REPORTED, Step.ERROR])
def test_sendings_reports_and_errors_are_never_a_machines(step: Step) -> None:
    told = event("ada", step, 1, method="HEAD", user_agent="curl/8", address="192.0.2.1")

    assert HUMAN == signs_of(event("ada", Step.SENT), told)[1]


def test_head_requests_and_scanners_are_machines_and_both_reasons_are_told() -> None:
    assert [Sign.HEAD_REQUEST, Sign.SCANNER_AGENT, Sign.HEAD_REQUEST | Sign.SCANNER_AGENT, HUMAN] == signs_of(
        event("a", Step.CLICKED, 100, method="HEAD"),
        event("b", Step.CLICKED, 200, user_agent="Mozilla/5.0 (compatible; Proofpoint URL Defense)"),
        event("c", Step.CLICKED, 300, method="HEAD", user_agent="CURL/8.5"),
        event("d", Step.CLICKED, 400, user_agent=None, method=None),
    )


def test_a_whole_office_behind_one_address_is_people() -> None:
    clicks = [event(who, Step.CLICKED, 60 * who, address="192.0.2.1") for who in range(200)]

    assert {HUMAN} == set(signs_of(*clicks))


def test_one_address_touching_many_recipients_within_seconds_is_a_machine() -> None:
    crowd = [event(who, Step.CLICKED, who / 2, address="192.0.2.1") for who in range(10)]
    elsewhere = event(99, Step.CLICKED, 1, address="192.0.2.2")
    later = event(100, Step.CLICKED, 60, address="192.0.2.1")

    assert [Sign.CROWD] * 10 + [HUMAN, HUMAN] == signs_of(*crowd, elsewhere, later)
    assert [HUMAN] * 9 == signs_of(*crowd[:9])


def test_one_person_clicking_often_is_no_crowd_of_recipients() -> None:
    clicks = [event("ada", Step.CLICKED, 3 * n / 4, address="192.0.2.1") for n in range(12)]

    assert {HUMAN} == set(signs_of(*clicks))


def test_a_burst_is_a_machine_and_a_double_click_is_not() -> None:
    burst = [event("ada", Step.CLICKED, 0.4 * n) for n in range(5)]
    double = [event("bob", Step.CLICKED, 0.2 * n) for n in range(2)]

    assert [Sign.BURST] * 5 + [HUMAN, HUMAN] == signs_of(*burst, *double)


def test_rules_are_data() -> None:
    lenient = VerdictRules(soon=timedelta(0), scanner_agents=())
    told = [event("ada", Step.SENT), event("ada", Step.OPENED, 1, user_agent="curl/8")]

    assert [HUMAN, HUMAN] == [judged.signs for judged in judge_campaign(told, lenient)]


def test_a_crowd_within_longer_than_a_place_is_no_rule() -> None:
    with pytest.raises(ValueError, match="crowd_window"):
        VerdictRules(crowd_window=PLACE_SPAN + timedelta(milliseconds=1))


FEW = attrs.evolve(DEFAULT_RULES, crowd=3, burst=3)
happenings = st.builds(
    event,
    st.integers(0, 4),
    st.sampled_from([Step.SENT, Step.OPENED, Step.CLICKED]),
    st.integers(0, 400).map(lambda tenths: tenths / 2),
    address=st.sampled_from([None, "192.0.2.1", "192.0.2.2"]),
)


def by_key(events: Sequence[Event]) -> dict[EventKey, Event]:
    return {one.key: one for one in events}


@given(told=st.lists(happenings, max_size=30), data=st.data())
def test_verdicts_do_not_depend_on_the_order_or_on_what_came_together(
    told: list[Event], data: st.DataObject
) -> None:
    everything = by_key(told)
    whole = by_key(judge_campaign(list(everything.values()), FEW))
    shuffled = data.draw(st.permutations(list(everything.values())))
    cut = data.draw(st.integers(0, len(shuffled)))

    first = judge_campaign(shuffled[:cut], FEW)
    both = [*first, *shuffled[cut:]]

    assert whole == by_key(judge_campaign(shuffled, FEW))
    assert whole == by_key(both) | by_key(judge_anew(both, shuffled[cut:], FEW))


def judged_anew(first: Sequence[Event], fresh: Sequence[Event]) -> dict[EventKey, Event]:
    """All of them, where of `first` only what is asked for was given."""
    people, places = {one.recipient for one in fresh}, places_that_matter(fresh, FEW)
    near = [one for one in first if one.recipient in people or place_of(one) in places]
    anew = by_key(judge_anew([*near, *fresh], fresh, FEW))
    together = by_key([*first, *fresh])

    assert all(one.signs != together[key].signs for key, one in anew.items())
    return together | anew


on_both_sides_of_a_minute = st.builds(
    event,
    st.integers(0, 4),
    st.sampled_from([Step.OPENED, Step.CLICKED]),
    st.integers(110, 150).map(lambda tenths: tenths / 2),
    address=st.just("192.0.2.1"),
)


@given(
    told=st.lists(happenings, max_size=30) | st.lists(on_both_sides_of_a_minute, max_size=8), data=st.data()
)
def test_of_what_was_judged_before_only_what_is_near_in_person_or_place_matters(
    told: list[Event], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(list(by_key(told).values())))
    cut = data.draw(st.integers(0, len(shuffled)))

    whole = by_key(judge_campaign(shuffled, FEW))

    assert whole == judged_anew(judge_campaign(shuffled[:cut], FEW), shuffled[cut:])


@pytest.mark.parametrize("seconds", [(0, 2, 5), (57, 58, 61.5, 66), (57, 58, 59.5, 61, 71.5), (0, 5, 5.5)])
def test_the_last_to_come_takes_nobody_out_of_a_crowd_and_draws_in_who_is_near(
    seconds: Sequence[float],
) -> None:
    told = [event(who, Step.CLICKED, at, address="192.0.2.1") for who, at in enumerate(seconds)]

    whole = by_key(judge_campaign(told, FEW))

    assert whole == judged_anew(judge_campaign(told[:-1], FEW), told[-1:])


def test_an_interaction_that_is_gone_lets_others_out_of_their_crowd() -> None:
    crowd = [event(who, Step.CLICKED, who, address="192.0.2.1") for who in range(3)]
    first, *others = judge_campaign(crowd, FEW)
    elsewhere = attrs.evolve(first, address="192.0.2.2")

    anew = judge_anew([elsewhere, *others], [elsewhere, first], FEW)

    assert [HUMAN] * 3 == [one.signs for one in anew]
