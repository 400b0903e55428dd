"""The fictional company on the memory adapter: whatever its size and seed, it is one that could exist."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from awareness_core.campaigns import CampaignState
from awareness_core.employees import Access
from awareness_server.demo_data import demo_data
from awareness_server.demo_people import fictional_people
from tests.end_to_end.demo_company import NOW, found


@given(employees=st.integers(20, 400), seed=st.integers())
@example(employees=20, seed=1)
@settings(max_examples=8)
def test_any_size_and_seed_make_a_whole_company(employees: int, seed: int) -> None:
    seen = found(employees=employees, seed=seed)

    assert employees == len(seen.people)
    assert {sector.name for sector in demo_data().sectors} == {
        view.sector.name for view in seen.people if view.sector is not None
    }
    assert set(CampaignState) == {campaign.state for campaign in seen.campaigns}
    for campaign in seen.campaigns:
        funnel = campaign.funnel
        assert funnel.total >= funnel.sent >= funnel.opened >= funnel.clicked >= funnel.submitted >= 0
        assert funnel.sent + funnel.errors <= funnel.total


def test_people_wait_log_in_use_sso_and_leave() -> None:
    people = found().people
    states = Counter(view.access for view in people)
    waiting = [view.employee.invitation for view in people if view.access is Access.AWAITING_ACCESS]

    assert states[Access.LOGGED_IN] > 100
    assert min(states[Access.SSO], states[Access.AWAITING_ACCESS], states[None]) > 5
    assert any(history.last_attempt_at is None for history in waiting)
    assert any(history.live_until is not None and history.live_until > NOW for history in waiting)
    assert any(history.live_until is not None and history.live_until < NOW for history in waiting)


def test_figures_are_the_same_on_every_day_of_a_week_and_only_dates_move() -> None:
    day = datetime(2026, 1, 6, 0, 0, tzinfo=UTC)
    figures = [
        {
            campaign.name: (campaign.state, campaign.funnel)
            for campaign in found(employees=120, now=now).campaigns
        }
        for now in (day, day + timedelta(days=3, hours=23), day + timedelta(days=400))
    ]

    assert figures[0] == figures[1] == figures[2]


def test_no_two_campaigns_begin_at_one_moment() -> None:
    moments = [campaign.listed_at for campaign in found().campaigns]

    assert len(moments) == len(set(moments))


@pytest.mark.parametrize("days", range(7))
def test_dates_fit_states_on_every_day_of_the_week(days: int) -> None:
    now = NOW + timedelta(days=days)
    for campaign in found(employees=20, now=now).campaigns:
        starts_at, ends_at = campaign.starts_at, campaign.ends_at
        assert campaign.created_at <= now
        match campaign.state:
            case CampaignState.DRAFT:
                assert starts_at is None
                assert ends_at is None
            case CampaignState.SCHEDULED:
                assert starts_at is not None
                assert now < starts_at
            case CampaignState.RUNNING | CampaignState.PAUSED:
                assert starts_at is not None
                assert ends_at is not None
                assert starts_at < now < ends_at
            case CampaignState.COMPLETED | CampaignState.CANCELLED:
                assert starts_at is not None
                assert ends_at is not None
                assert starts_at < ends_at < now


def test_people_have_addresses_of_their_own() -> None:
    people = fictional_people(demo_data(), count=5000, seed=1)

    assert 5000 == len({person.email for person in people})
    assert 5000 == len({person.external_id for person in people})
