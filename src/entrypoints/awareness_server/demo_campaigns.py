"""A year of campaigns at the fictional company: who was targeted, and what each of them did.

People are drawn into each step one by one and counted by the core's own `tally`, so that the figures keep its rules.
Over the year fewer fall for a lure and more report it, as programs hope. The same seed gives the same figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from random import Random
from types import MappingProxyType

from awareness_core.campaigns import Campaign, CampaignId, CampaignState
from awareness_core.identifiers import UUID7_ENTROPY_BYTES, uuid7
from awareness_core.kpis import Step, tally
from awareness_core.ports import Entropy
from awareness_server.demo_data import CampaignPlan, DemoData, Difficulty
from awareness_server.demo_people import DemoPerson

_WEEKS = 52
_TUESDAY = 1
_MAILING_TIME = time(8, 0, tzinfo=UTC)
_PREPARATION = timedelta(days=6)
_APART = timedelta(minutes=3)
"""No two campaigns begin at one moment, so that a listing has the same order every time."""

_DURATION: Mapping[CampaignState, timedelta] = MappingProxyType(
    {
        CampaignState.CANCELLED: timedelta(days=2),
        CampaignState.COMPLETED: timedelta(days=7),
        CampaignState.PAUSED: timedelta(days=21),
        CampaignState.RUNNING: timedelta(days=14),
        CampaignState.SCHEDULED: timedelta(days=10),
    }
)

_SHARE_MAILED: Mapping[CampaignState, float] = MappingProxyType(
    {
        CampaignState.DRAFT: 0.0,
        CampaignState.SCHEDULED: 0.0,
        CampaignState.CANCELLED: 0.3,
        CampaignState.PAUSED: 0.5,
        CampaignState.RUNNING: 0.7,
        CampaignState.COMPLETED: 1.0,
    }
)

_LURE: Mapping[Difficulty, float] = MappingProxyType(
    {Difficulty.EASY: 0.65, Difficulty.MODERATE: 1.0, Difficulty.DIFFICULT: 1.45}
)

# At the year's beginning and at its end, of those who received the mail and could still do it.
_OPENS = (0.56, 0.52)
_CLICKS = (0.25, 0.07)
_SUBMITS_AFTER_CLICK = (0.46, 0.28)
_REPORTS = (0.07, 0.36)
_REPORTS_AFTER_CLICK = (0.05, 0.16)
_BOUNCES = 0.008
_SCANNED = 0.03


def fictional_campaigns(
    data: DemoData, people: Sequence[DemoPerson], *, seed: int, now: datetime, entropy: Entropy
) -> list[Campaign]:
    """Draw every campaign of the data, dated from the weeks before `now`. The ids are new each time."""
    return [
        _campaign(
            plan,
            people,
            Random(f"{seed}/campaign/{plan.name}"),  # noqa: S311 (a story, no secret)
            week=_latest_tuesday(now) + place * _APART,
            entropy=entropy,
        )
        for place, plan in enumerate(data.campaigns)
    ]


def _campaign(
    plan: CampaignPlan, people: Sequence[DemoPerson], lot: Random, *, week: datetime, entropy: Entropy
) -> Campaign:
    starts_at = week - timedelta(weeks=plan.weeks_ago)
    is_dated = plan.state in _DURATION
    created_at = starts_at - _PREPARATION if plan.weeks_ago >= 0 and is_dated else week
    # Who is there is asked of the week and not of the day, so that the figures are the same all week.
    day = plan.weeks_ago * 7 + _TUESDAY
    targets = [
        person
        for person in people
        if person.is_there(max(day, 0)) and (not plan.sectors or person.sector in plan.sectors)
    ]
    progress = 1 - max(plan.weeks_ago, 0) / _WEEKS
    steps = [
        _steps(person, lot, lure=_LURE[plan.difficulty], progress=progress)
        if lot.random() < _SHARE_MAILED[plan.state]
        else set()
        for person in targets
    ]
    mailed = sum(map(bool, steps))
    return Campaign(
        id=CampaignId(uuid7(at=created_at, entropy=entropy.take(UUID7_ENTROPY_BYTES))),
        name=plan.name,
        state=plan.state,
        created_at=created_at,
        starts_at=starts_at if is_dated else None,
        ends_at=starts_at + _DURATION[plan.state] if is_dated else None,
        funnel=tally(steps, machine=sum(lot.random() < _SCANNED for _ in range(mailed))),
    )


def _steps(person: DemoPerson, lot: Random, *, lure: float, progress: float) -> set[Step]:
    def now_at(rates: tuple[float, float]) -> float:
        return rates[0] + (rates[1] - rates[0]) * progress

    if lot.random() < _BOUNCES:
        return {Step.ERROR}
    steps = {Step.SENT}
    # As many numbers are drawn for each person, whatever they do, so that a change to one rate moves no other figure.
    opens, clicks, submits, reports = (lot.random() for _ in range(4))
    if clicks < min(0.9, now_at(_CLICKS) * lure * person.recklessness):
        steps |= {Step.CLICKED}
        if submits < now_at(_SUBMITS_AFTER_CLICK):
            steps |= {Step.SUBMITTED}
    elif opens < now_at(_OPENS):
        steps |= {Step.OPENED}
    if reports < now_at(_REPORTS_AFTER_CLICK if Step.CLICKED in steps else _REPORTS):
        steps |= {Step.REPORTED}
    return steps


def _latest_tuesday(now: datetime) -> datetime:
    """The last Tuesday before today, at the time of mailing."""
    days = (now.weekday() - _TUESDAY - 1) % 7 + 1
    return datetime.combine(now.date() - timedelta(days=days), _MAILING_TIME)
