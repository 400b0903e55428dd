"""Where a campaign may go, and when a listing places it."""

from __future__ import annotations

from datetime import datetime

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.campaigns import TRANSITIONS, Campaign, CampaignId, CampaignState, may_become
from tests.core.strategies import NOW, moments

TABLE = """
    draft      scheduled cancelled
    scheduled  running cancelled
    running    paused completed cancelled
    paused     running completed cancelled
    completed
    cancelled
"""
"""A state, and where it may go: draft → scheduled → running ⇄ paused → completed; any but completed → cancelled."""

STEPS = {words[0]: set(words[1:]) for words in (line.split() for line in TABLE.strip().splitlines())}
CAMPAIGN = Campaign(id=CampaignId("c"), name="n", state=CampaignState.DRAFT, created_at=NOW)


def test_every_state_goes_where_the_table_says() -> None:
    assert STEPS == {
        state.value: {following.value for following in followers} for state, followers in TRANSITIONS.items()
    }
    assert set(CampaignState) == set(TRANSITIONS)


@pytest.mark.parametrize("current", CampaignState)
@pytest.mark.parametrize("following", CampaignState)
def test_a_campaign_may_stay_or_go_where_the_table_says(
    current: CampaignState, following: CampaignState
) -> None:
    expected = following is current or following.value in STEPS[current.value]

    assert expected == may_become(current, following)


@given(st.lists(st.sampled_from(CampaignState)))
def test_no_way_leads_out_of_an_end_or_back_before_the_start(wishes: list[CampaignState]) -> None:
    history = [CampaignState.DRAFT]
    for wish in wishes:
        if may_become(history[-1], wish) and wish is not history[-1]:
            history.append(wish)

    assert CampaignState.DRAFT not in history[1:]
    assert not {CampaignState.COMPLETED, CampaignState.CANCELLED} & set(history[:-1])
    assert CampaignState.COMPLETED not in history or CampaignState.RUNNING in history
    assert 1 >= history.count(CampaignState.SCHEDULED)


@given(st.none() | moments(), moments())
def test_a_campaign_is_listed_under_its_start_or_else_its_creation(
    start: datetime | None, created_at: datetime
) -> None:
    campaign = attrs.evolve(CAMPAIGN, starts_at=start, created_at=created_at, ends_at=NOW)

    assert (start or created_at) == campaign.listed_at
