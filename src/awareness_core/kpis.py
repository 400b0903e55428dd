"""From what recipients did to counts, and from counts to rates with their uncertainty.

Counts are distinct recipients. A step implies the steps before it (a submission a click, a click an open, an open that
the mail was sent), as image blocking and scanners hide the earlier ones; a report implies only that it was sent.
Rates are percent of the recipients a campaign targets (Choice: decisions/011).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from types import MappingProxyType

import attrs


class Step(enum.Enum):
    """What can become known of one recipient."""

    SENT = "sent"
    OPENED = "opened"
    CLICKED = "clicked"
    SUBMITTED = "submitted"
    REPORTED = "reported"
    ERROR = "error"

    # There is one of each, and the hash that an Enum brings is computed in Python whenever a set is asked.
    __hash__ = object.__hash__


IMPLIES: Mapping[Step, frozenset[Step]] = MappingProxyType(
    {
        Step.SENT: frozenset({Step.SENT}),
        Step.OPENED: frozenset({Step.OPENED, Step.SENT}),
        Step.CLICKED: frozenset({Step.CLICKED, Step.OPENED, Step.SENT}),
        Step.SUBMITTED: frozenset({Step.SUBMITTED, Step.CLICKED, Step.OPENED, Step.SENT}),
        Step.REPORTED: frozenset({Step.REPORTED, Step.SENT}),
        Step.ERROR: frozenset({Step.ERROR}),
    }
)
"""Each step with all that it proves."""

_Z_95 = 1.959963984540054


@attrs.frozen(kw_only=True)
class Funnel:
    """How many of `total` targeted recipients came how far. `machine` counts interactions left out as not human."""

    total: int = 0
    sent: int = 0
    opened: int = 0
    clicked: int = 0
    submitted: int = 0
    reported: int = 0
    errors: int = 0
    machine: int = 0


@attrs.frozen(kw_only=True)
class MachineSteps:
    """How many more recipients would have come to each step if what machines did counted."""

    sent: int = 0
    opened: int = 0
    clicked: int = 0
    submitted: int = 0


@attrs.frozen(kw_only=True)
class Rate:
    """A share in percent, 0..100, two decimals, with its 95 % Wilson score interval `low..high`."""

    percent: float
    low: float
    high: float


@attrs.frozen(kw_only=True)
class ReportTimes:
    """When the recipients of a campaign reported it: first, how many had clicked by then, how long each took.

    `delays` has no order. It leaves out reporters of whom nothing earlier than the report is known.
    """

    first_at: datetime | None = None
    clicked_before: int = 0
    delays: Sequence[timedelta] = ()


@attrs.frozen(kw_only=True)
class Response:
    """How fast a campaign was noticed; all None while nobody has reported it.

    `spared` is the share of recipients who had not clicked when the first report came: whom an alarm would still reach.
    """

    first_report_at: datetime | None = None
    median_delay: timedelta | None = None
    spared: Rate | None = None


def response(times: ReportTimes, total: int) -> Response:
    """How fast a campaign with `total` recipients was noticed."""
    if times.first_at is None:
        return Response()
    return Response(
        first_report_at=times.first_at,
        median_delay=median(times.delays),
        spared=rate(total - times.clicked_before, total),
    )


def median(delays: Iterable[timedelta]) -> timedelta | None:
    """The middle one, or of an even number the mean of the middle two; None of none."""
    ordered = sorted(delays)
    middle = len(ordered) // 2
    return (ordered[middle] + ordered[~middle]) / 2 if ordered else None


def reached(observed: AbstractSet[Step]) -> frozenset[Step]:
    """All the steps that the observed ones prove."""
    return frozenset().union(*(IMPLIES[step] for step in observed))


def tally(recipients: Iterable[AbstractSet[Step]], *, machine: int = 0) -> Funnel:
    """The funnel of recipients given as the steps observed of each. The order of recipients never matters."""
    counts = dict.fromkeys(Step, 0)
    total = 0
    for observed in recipients:
        total += 1
        for step in reached(observed):
            counts[step] += 1
    return Funnel(
        total=total,
        sent=counts[Step.SENT],
        opened=counts[Step.OPENED],
        clicked=counts[Step.CLICKED],
        submitted=counts[Step.SUBMITTED],
        reported=counts[Step.REPORTED],
        errors=counts[Step.ERROR],
        machine=machine,
    )


def rate(count: int, total: int) -> Rate:
    """100 · count / total, half-up; 0.0 within 0..100 when `total` is 0, as then nothing is known.

    The interval is Wilson's (1927), which stays within 0..100 and is honest for small groups.
    """
    if total == 0:
        return Rate(percent=0.0, low=0.0, high=100.0)
    # In integers: `round` would go to the even neighbour of an exact half.
    percent = (count * 20_000 + total) // (2 * total) / 100
    share = count / total
    z2 = _Z_95 * _Z_95
    centre = share + z2 / (2 * total)
    margin = _Z_95 * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    scale = 100 / (1 + z2 / total)
    # Where the bound is 0, float noise must not show as -0.0.
    low = round(max(0.0, centre - margin) * scale, 2)
    high = round((centre + margin) * scale, 2)
    return Rate(percent=percent, low=min(low, percent), high=max(high, percent))
