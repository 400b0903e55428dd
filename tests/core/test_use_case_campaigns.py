"""Listing campaigns: the period is inclusive, the latest come first, and a reversed period is told."""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.campaigns import (
    Campaign,
    CampaignId,
    CampaignState,
    CampaignTelling,
    can_reach,
    retold,
)
from awareness_core.errors import AwarenessError, Fault, NotFound, ValidationFailed
from awareness_core.pages import Page, PageRequest
from awareness_core.use_cases.correct_campaign import correct_campaign_state
from awareness_core.use_cases.list_campaigns import list_campaigns
from tests.core.strategies import NOW, moments
from tests.core.worlds import OURS, THEIRS, refusal_or_answer, run, settled_world

TICK = timedelta(milliseconds=1)
MONTH = timedelta(days=30)
CAMPAIGN = Campaign(id=CampaignId("c"), name="n", state=CampaignState.RUNNING, created_at=NOW)

CAMPAIGNS = st.lists(
    st.builds(
        attrs.evolve,
        st.just(CAMPAIGN),
        id=st.sampled_from("abcdef").map(CampaignId),
        state=st.sampled_from(CampaignState),
        created_at=moments(),
        starts_at=st.none() | moments() | st.sampled_from((NOW, NOW - MONTH, NOW + TICK, NOW - MONTH - TICK)),
    ),
    max_size=5,
    unique_by=lambda campaign: campaign.id,
)


@given(
    CAMPAIGNS,
    st.none() | moments(),
    st.none() | moments(),
    st.none() | st.sampled_from(CampaignState),
)
def test_a_listing_holds_what_starts_in_the_period_latest_first(
    campaigns: list[Campaign],
    start: datetime | None,
    end: datetime | None,
    state: CampaignState | None,
) -> None:
    first, last = start or NOW - timedelta(days=30), end or NOW

    async def story() -> Page[Campaign] | AwarenessError:
        world = await settled_world(campaigns=campaigns)
        return await refusal_or_answer(list_campaigns(world, OURS, start=start, end=end, state=state))

    answer = run(story())

    if first > last:
        assert isinstance(answer, ValidationFailed)
        return
    assert isinstance(answer, Page)
    by_id = sorted(campaigns, key=lambda campaign: campaign.id, reverse=True)
    assert [
        campaign
        for campaign in sorted(by_id, key=lambda campaign: campaign.listed_at, reverse=True)
        if first <= campaign.listed_at <= last and state in {None, campaign.state}
    ] == list(answer.items)
    assert (len(answer.items), PageRequest()) == (answer.total, answer.request)


@pytest.mark.parametrize(
    ("starts_at", "is_listed"),
    [
        (NOW, True),
        (NOW + TICK, False),
        (NOW - MONTH, True),
        (NOW - MONTH - TICK, False),
    ],
)
def test_by_default_the_last_thirty_days_up_to_now_are_listed(starts_at: datetime, is_listed: bool) -> None:  # noqa: FBT001
    async def story() -> int:
        world = await settled_world(campaigns=[attrs.evolve(CAMPAIGN, starts_at=starts_at)])
        return (await list_campaigns(world, OURS)).total

    assert is_listed == run(story())


def test_a_period_that_ends_before_it_begins_is_told() -> None:
    async def story() -> AwarenessError | Page[Campaign]:
        return await refusal_or_answer(list_campaigns(await settled_world(), OURS, start=NOW, end=NOW - TICK))

    refusal = run(story())

    assert isinstance(refusal, ValidationFailed)
    assert (
        Fault(
            field="period",
            code="reversed_period",
            message="the period ends before it begins; the defaults are 30 days ago and now",
        ),
    ) == refusal.faults


def test_a_page_is_the_page_asked_for() -> None:
    campaigns = [attrs.evolve(CAMPAIGN, id=CampaignId(letter)) for letter in "abcde"]

    async def story() -> Page[Campaign]:
        world = await settled_world(campaigns=campaigns)
        return await list_campaigns(world, OURS, page=PageRequest(page=2, limit=2))

    page = run(story())

    assert ["c", "b"] == [campaign.id for campaign in page.items]
    assert (5, 3, True) == (page.total, page.total_pages, page.has_more)


def test_another_companys_campaigns_are_not_listed() -> None:
    async def story() -> int:
        return (await list_campaigns(await settled_world(campaigns=[CAMPAIGN]), THEIRS)).total

    assert 0 == run(story())


@given(st.sampled_from(CampaignState), st.sampled_from(CampaignState), st.sampled_from(CampaignState))
def test_a_corrected_state_stands_whatever_it_was_and_imports_go_on_from_there(
    before: CampaignState, right: CampaignState, told: CampaignState
) -> None:
    async def story() -> None:
        world = await settled_world()
        known = attrs.evolve(CAMPAIGN, state=before, external_id="x", ends_at=NOW)
        async with world.store.transaction(OURS) as transaction:
            await transaction.save_campaigns([known])
        corrected = await correct_campaign_state(world, OURS, known.id, right)
        again = await correct_campaign_state(world, OURS, known.id, right)
        assert attrs.evolve(known, state=right) == corrected.campaign == again.campaign
        assert (before, right) == (corrected.before, again.before)

        telling = CampaignTelling(external_id="x", name="n", state=told)
        assert (told if can_reach(right, told) else right) is retold(corrected.campaign, telling).state
        async with world.store.reading(OURS) as reading:
            assert corrected.campaign == await reading.campaign(known.id)
        assert NotFound is type(
            await refusal_or_answer(correct_campaign_state(world, THEIRS, known.id, right))
        )

    run(story())
