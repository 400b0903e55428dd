"""What people are shown of simulated phishing: only what is over, the best first of what can be said of it."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.campaigns import Campaign, CampaignId, CampaignState
from awareness_core.outcomes import Outcome, OwnResult, is_over, outcome_of, told_outcomes
from awareness_core.recipients import Progress
from tests.contracts.storages import LATER, NOW, campaign

SENT = Progress(sent_at=NOW)
STATES = st.sampled_from(list(CampaignState))
ENDS = st.sampled_from([None, NOW, LATER])


@st.composite
def campaigns(draw: st.DrawFn) -> Campaign:
    number = draw(st.integers(0, 9))
    return campaign(number, state=draw(STATES), ends_at=draw(ENDS))


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ((), Outcome.UNTOUCHED),
        (("opened",), Outcome.OPENED),
        (("opened", "clicked"), Outcome.CLICKED),
        (("opened", "clicked", "submitted"), Outcome.SUBMITTED),
        (("reported",), Outcome.REPORTED),
        (("opened", "reported"), Outcome.REPORTED),
        (("opened", "clicked", "reported"), Outcome.REPORTED_LATE),
        (("opened", "clicked", "submitted", "reported"), Outcome.REPORTED_LATE),
    ],
)
def test_a_report_counts_whatever_came_before_it(steps: tuple[str, ...], outcome: Outcome) -> None:
    assert outcome is outcome_of(_after(steps))


@given(campaigns())
def test_nothing_is_told_of_a_campaign_whose_mails_may_still_come_in(one: Campaign) -> None:
    told = told_outcomes([OwnResult(campaign_id=one.id, progress=SENT)], [one], now=NOW)
    is_closed = one.state in {CampaignState.COMPLETED, CampaignState.CANCELLED} or one.ends_at == NOW

    assert is_closed == is_over(one, now=NOW) == bool(told)


@given(st.permutations([1, 2, 3, 4, 5]))
def test_the_latest_mail_comes_first_in_whatever_order_it_is_known(order: list[int]) -> None:
    over = [campaign(number, state=CampaignState.COMPLETED) for number in order]
    results = [
        OwnResult(campaign_id=one.id, progress=Progress(sent_at=NOW + timedelta(days=int(one.id))))
        for one in over
    ]
    told = told_outcomes(results, over, now=NOW)

    assert [f"{number:04}" for number in (5, 4, 3, 2, 1)] == [own.campaign.id for own in told]


def test_a_mail_that_was_never_sent_is_not_told_of() -> None:
    over = campaign(1, state=CampaignState.CANCELLED)
    unsent = [Progress(), Progress(error_at=NOW)]

    assert [] == told_outcomes(
        [OwnResult(campaign_id=over.id, progress=one) for one in unsent], [over], now=NOW
    )


def test_a_result_of_a_campaign_that_is_not_there_is_left_out() -> None:
    results = [OwnResult(campaign_id=CampaignId("gone"), progress=SENT)]

    assert [] == told_outcomes(results, [campaign(1, state=CampaignState.COMPLETED)], now=NOW)


def test_every_outcome_can_come_about() -> None:
    steps = ("opened", "clicked", "submitted", "reported")
    ways = (way for count in range(5) for way in itertools.combinations(steps, count))

    assert set(Outcome) == {outcome_of(_after(way)) for way in ways}


def _after(steps: tuple[str, ...]) -> Progress:
    at = dict.fromkeys(steps, LATER)
    return Progress(
        sent_at=NOW,
        opened_at=at.get("opened"),
        clicked_at=at.get("clicked"),
        submitted_at=at.get("submitted"),
        reported_at=at.get("reported"),
    )
