"""When each step of a fictional campaign was taken and by which browser, in the order of a tool's timeline.

Who takes which steps is `demo_campaigns`' business; here they get their moments, drawn by lot. People take minutes,
hours and some of them days; the mail gateway follows a link within seconds. So the core can tell one from the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from random import Random

import attrs

from awareness_core.kpis import Step
from awareness_core.periods import whole_milliseconds
from awareness_server.demo_data import GatewayPlan
from awareness_server.demo_people import DemoPerson

_EVENING, _MORNING = 19, 5
_NIGHT = timedelta(hours=11)

_SHARE_SCANNED = 0.03
_SHARE_SHOWING_IMAGES = 0.7
"""An opening is seen by an image that the mail loads. Whoever clicks without it was not seen to open."""


@attrs.frozen(kw_only=True)
class Happening:
    """One step of one person at one moment, with the browser where there was one."""

    at: datetime
    person: DemoPerson
    step: Step
    address: str | None = None
    user_agent: str | None = None


@attrs.frozen(kw_only=True)
class _Delay:
    """How long people take: half of them less than `median`, with a long tail."""

    median: timedelta
    spread: float
    least: timedelta
    most: timedelta

    def drawn(self, lot: Random) -> timedelta:
        seconds = lot.lognormvariate(math.log(self.median.total_seconds()), self.spread)
        return min(max(timedelta(seconds=seconds), self.least), self.most)


_MAILING = (0.2, 1.0)
_SCANNING = (1.0, 8.0)

# Nobody reads so soon after the sending that they would be taken for a machine, and nobody as late as the weekend.
_READING = _Delay(
    median=timedelta(minutes=40), spread=1.5, least=timedelta(seconds=45), most=timedelta(days=3)
)
_CLICKING = _Delay(
    median=timedelta(seconds=20), spread=0.8, least=timedelta(seconds=3), most=timedelta(minutes=10)
)
_SUBMITTING = _Delay(
    median=timedelta(seconds=35), spread=0.6, least=timedelta(seconds=8), most=timedelta(minutes=15)
)
_REPORTING = _Delay(
    median=timedelta(minutes=4), spread=1.3, least=timedelta(seconds=15), most=timedelta(hours=20)
)


def timeline(
    mails: Iterable[tuple[DemoPerson, AbstractSet[Step]]],
    *,
    starts_at: datetime,
    until: datetime,
    gateway: GatewayPlan,
    lot: Random,
) -> list[Happening]:
    """What happened up to `until`, when the mails went out one after the other from `starts_at`.

    Each of them with the steps that became of it, SENT or ERROR among them.
    """
    mailed_at = starts_at
    told: list[Happening] = []
    for person, taken in mails:
        mailed_at += timedelta(seconds=lot.uniform(*_MAILING))
        told += _one_mail(person, taken, whole_milliseconds(mailed_at), gateway, lot)
    return sorted((one for one in told if one.at <= until), key=lambda one: one.at)


def _one_mail(
    person: DemoPerson, taken: AbstractSet[Step], mailed_at: datetime, gateway: GatewayPlan, lot: Random
) -> Iterator[Happening]:
    # All of it is drawn whatever they do, so that one who does something else moves nobody else's moments.
    reads, clicks, submits, reports = (
        delay.drawn(lot) for delay in (_READING, _CLICKING, _SUBMITTING, _REPORTING)
    )
    is_scanned, shows_images = lot.random() < _SHARE_SCANNED, lot.random() < _SHARE_SHOWING_IMAGES
    scanned_at, scanner = (
        mailed_at + timedelta(seconds=lot.uniform(*_SCANNING)),
        lot.choice(gateway.user_agents),
    )

    def by_them(step: Step, at: datetime) -> Happening:
        moment = whole_milliseconds(at)
        return Happening(
            at=moment, person=person, step=step, address=person.address, user_agent=person.user_agent
        )

    if Step.ERROR in taken:
        yield Happening(at=mailed_at, person=person, step=Step.ERROR)
        return
    yield Happening(at=mailed_at, person=person, step=Step.SENT)
    if is_scanned:
        moment = whole_milliseconds(scanned_at)
        yield Happening(
            at=moment, person=person, step=Step.CLICKED, address=gateway.address, user_agent=scanner
        )
    at = _by_day(mailed_at + reads)
    if Step.OPENED in taken or (Step.CLICKED in taken and shows_images):
        yield by_them(Step.OPENED, at)
    if Step.CLICKED in taken:
        at += clicks
        yield by_them(Step.CLICKED, at)
    if Step.SUBMITTED in taken:
        at += submits
        yield by_them(Step.SUBMITTED, at)
    if Step.REPORTED in taken:
        # The button is in the mail program, which no browser is told of.
        yield Happening(at=whole_milliseconds(at + reports), person=person, step=Step.REPORTED)


def _by_day(at: datetime) -> datetime:
    """Whoever would read at night reads on the next day."""
    return at + _NIGHT if at.hour >= _EVENING or at.hour < _MORNING else at
