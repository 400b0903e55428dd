"""When a campaign was made, began and ended, as far as GoPhish can be believed.

A clock that was wrong when somebody completed a campaign must not take all its figures away: what happened after the
end does not count. So an end that cannot be is no end, and is told as what it is (Choice: decisions/026).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

import attrs

from awareness_core.campaigns import CampaignTelling
from awareness_core.errors import Fault
from awareness_core.kpis import Step
from awareness_core.periods import InvalidMoment, parse_moment
from awareness_core.results_check import YEARS, EventTelling
from awareness_core.results_plan import Line

DATES: Final[Mapping[str, str]] = MappingProxyType(
    {"created_at": "created_date", "starts_at": "launch_date", "ends_at": "completed_date"}
)
"""Our names of a campaign's moments, and GoPhish's."""

_UNSET: Final = "0001-01-01"
_REFUSED_WHEN_OVER: Final = frozenset({Step.OPENED, Step.CLICKED, Step.SUBMITTED})
"""GoPhish answers these with 404 once a campaign is completed. Mails on their way and reports come later, too."""


def is_set(text: object) -> bool:
    """Whether there is such a date at all: GoPhish writes the year 1 where there is none."""
    return isinstance(text, str) and bool(text) and not text.startswith(_UNSET)


def read_date(text: str | None, name: str) -> datetime | Fault | None:
    """The moment that GoPhish calls `name`, None when there is none, or what is wrong with it."""
    if text is None or not is_set(text):
        return None
    try:
        moment = parse_moment(text)
    except InvalidMoment as error:
        return Fault(field=name, code="invalid_moment", message=str(error))
    if moment.year not in YEARS:
        message = f"must be in the years {YEARS[0]} to {YEARS[-1]}; it is passed over"
        return Fault(field=name, code="out_of_range", message=message)
    return moment


def believed(telling: CampaignTelling, lines: Sequence[Line]) -> tuple[CampaignTelling, Fault | None]:
    """`telling` without an end before what `lines`, the whole campaign, tell of, and what was wrong with that end.

    Somebody may complete a campaign that is still queued, of which nothing is told yet; it began when it ended.
    """
    ends_at = telling.ends_at
    if ends_at is None:
        return telling, None
    not_before = _not_before(telling, lines)
    if not_before is not None and ends_at < not_before:
        message = (
            f"is {ends_at:%Y-%m-%d %H:%M:%S}, but the campaign went on at {not_before:%Y-%m-%d %H:%M:%S} UTC; "
            "it is passed over"
        )
        return attrs.evolve(telling, ends_at=None), Fault(
            field=DATES["ends_at"], code="reversed_period", message=message
        )
    return attrs.evolve(telling, starts_at=telling.starts_at and min(telling.starts_at, ends_at)), None


def _not_before(telling: CampaignTelling, lines: Sequence[Line]) -> datetime | None:
    """The earliest moment at which the campaign may have ended."""
    events = [line.event for line in lines if isinstance(line, EventTelling)]
    moments = [telling.created_at]
    if events:
        moments += [telling.starts_at, min(event.at for event in events)]
        moments += [event.at for event in events if event.step in _REFUSED_WHEN_OVER]
    return max((at for at in moments if at is not None), default=None)
