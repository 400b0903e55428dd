"""Where a campaign may go, and when a listing places it."""

from __future__ import annotations

from datetime import datetime

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.campaigns import (
    TRANSITIONS,
    Campaign,
    CampaignId,
    CampaignPart,
    CampaignState,
    CampaignTelling,
    Difficulty,
    may_become,
    retold,
)
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
FIELDS = {
    CampaignPart.START: "starts_at",
    CampaignPart.END: "ends_at",
    CampaignPart.DIFFICULTY: "difficulty",
}
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


_PERIODS = st.tuples(moments(), moments()).map(sorted)
_CLEARED = st.frozensets(st.sampled_from(CampaignPart))


@given(_PERIODS, _CLEARED)
def test_what_is_not_told_stays_and_what_is_told_to_be_none_goes(
    period: list[datetime], cleared: frozenset[CampaignPart]
) -> None:
    known = attrs.evolve(CAMPAIGN, starts_at=period[0], ends_at=period[1], difficulty=Difficulty.EASY)
    telling = CampaignTelling(external_id="c", name="n", state=CampaignState.DRAFT, cleared=cleared)
    after = retold(known, telling)

    parts = {part for part in CampaignPart if getattr(after, FIELDS[part]) is None}
    assert cleared == parts
    kept = CampaignPart.START not in cleared
    assert (known.starts_at if kept else None) == after.starts_at


@given(_PERIODS, _PERIODS, _CLEARED)
def test_what_is_told_replaces_what_was_known(
    known: list[datetime], told: list[datetime], cleared: frozenset[CampaignPart]
) -> None:
    telling = CampaignTelling(
        external_id="c",
        name="n",
        state=CampaignState.DRAFT,
        starts_at=told[0],
        ends_at=told[1],
        cleared=cleared,
    )
    after = retold(attrs.evolve(CAMPAIGN, starts_at=known[0], ends_at=known[1]), telling)

    assert told == [after.starts_at, after.ends_at]


@given(st.none() | moments(), moments())
def test_a_campaign_is_listed_under_its_start_or_else_its_creation(
    start: datetime | None, created_at: datetime
) -> None:
    campaign = attrs.evolve(CAMPAIGN, starts_at=start, created_at=created_at, ends_at=NOW)

    assert (start or created_at) == campaign.listed_at
