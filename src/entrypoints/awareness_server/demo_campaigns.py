"""A year of campaigns at the fictional company: who was targeted, and what each of them did.

People are drawn into each step one by one; nothing is counted here, as that is for the core to do from what it is told.
Over the year fewer fall for a lure and more report it, as programs hope. The same seed gives the same figures.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from random import Random
from types import MappingProxyType

import attrs

from awareness_core.campaigns import CampaignState, Difficulty
from awareness_core.kpis import Step
from awareness_server.demo_data import CampaignPlan, DemoData, GatewayPlan
from awareness_server.demo_people import DemoPerson
from awareness_server.demo_timeline import Happening, timeline

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

_TOKEN_SIGNS = string.ascii_letters + string.digits
_TOKEN_LENGTH = 7


@attrs.frozen(kw_only=True)
class FictionalRecipient:
    """Somebody who is targeted, and the token in the link of their mail."""

    person: DemoPerson
    token: str


@attrs.frozen(kw_only=True)
class FictionalCampaign:
    """A campaign as far as it has come. `number` is what the tool that ran it calls it; a draft has no dates."""

    number: int
    plan: CampaignPlan
    created_at: datetime
    starts_at: datetime | None
    ends_at: datetime | None
    recipients: tuple[FictionalRecipient, ...]
    timeline: tuple[Happening, ...]


def fictional_campaigns(
    data: DemoData, people: Sequence[DemoPerson], *, seed: int, now: datetime
) -> Iterator[FictionalCampaign]:
    """Draw every campaign of the data, one after the other, dated from the weeks before `now`."""
    week = _latest_tuesday(now)
    for number, plan in enumerate(data.campaigns, start=1):
        yield _campaign(plan, people, data.gateway, number=number, seed=seed, week=week)


def _campaign(
    plan: CampaignPlan,
    people: Sequence[DemoPerson],
    gateway: GatewayPlan,
    *,
    number: int,
    seed: int,
    week: datetime,
) -> FictionalCampaign:
    # Apart from each other, so that how long somebody takes to do a thing never decides who does it.
    lot = Random(f"{seed}/campaign/{plan.name}")  # noqa: S311 (a story, no secret)
    moments = Random(f"{seed}/moments/{plan.name}")  # noqa: S311 (as above)
    starts_at = week + (number - 1) * _APART - timedelta(weeks=plan.weeks_ago)
    is_dated = plan.state in _DURATION
    ends_at = starts_at + _DURATION[plan.state] if is_dated else None
    # Who is there is asked of the week and not of the day, so that the figures are the same all week.
    day = plan.weeks_ago * 7 + _TUESDAY
    targets = [
        person
        for person in people
        if person.is_there(max(day, 0)) and (not plan.sectors or person.sector in plan.sectors)
    ]
    progress = 1 - max(plan.weeks_ago, 0) / _WEEKS
    mails = [
        (person, _steps(person, lot, lure=_LURE[plan.difficulty], progress=progress))
        for person in targets
        if lot.random() < _SHARE_MAILED[plan.state]
    ]
    known_until = _first_night_after(week)
    return FictionalCampaign(
        number=number,
        plan=plan,
        created_at=starts_at - _PREPARATION if plan.weeks_ago >= 0 and is_dated else week,
        starts_at=starts_at if is_dated else None,
        ends_at=ends_at,
        recipients=tuple(FictionalRecipient(person=person, token=_token(moments)) for person in targets),
        timeline=tuple(
            timeline(
                mails,
                starts_at=starts_at,
                until=known_until if ends_at is None else min(ends_at, known_until),
                gateway=gateway,
                lot=moments,
            )
        ),
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


def _token(lot: Random) -> str:
    return "".join(lot.choices(_TOKEN_SIGNS, k=_TOKEN_LENGTH))


def _latest_tuesday(now: datetime) -> datetime:
    """The last Tuesday before today, at the time of mailing."""
    days = (now.weekday() - _TUESDAY - 1) % 7 + 1
    return datetime.combine(now.date() - timedelta(days=days), _MAILING_TIME)


def _first_night_after(week: datetime) -> datetime:
    """The first moment of which `week` is the latest Tuesday.

    Nothing later is told on any day of the week: nothing must lie ahead of `now`, and the figures of the campaign that
    is running must not depend on the moment at which the demo was started. So it stands where its first day left it.
    """
    return datetime.combine(week.date() + timedelta(days=1), time.min, UTC)
