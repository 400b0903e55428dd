"""How a campaign went over time: when, since its first mail, recipients first opened, clicked, submitted, reported.

Spans are short at first and long later, because half of all clicks come within the hour while the last come after
weeks: equal ones would put nearly everything into the first. Time runs from the first mail that is known and not from
the campaign's start, which may be no more than a date. What counts is `Progress`' business.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

import attrs

from awareness_core.kpis import median
from awareness_core.recipients import Progress

_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)

MARKS: Final = (
    *(minutes * _MINUTE for minutes in (0, 1, 2, 5, 10, 15, 30)),
    *(hours * _HOUR for hours in (1, 2, 4, 8, 12)),
    *(days * _DAY for days in (1, 2, 3, 4, 5, 6, 7, 14, 30, 60, 90, 180)),
)
"""Where one span ends and the next begins, since the first mail. What is later than the last is one span more."""

_TICK: Final = timedelta(milliseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@attrs.frozen(kw_only=True)
class Span:
    """From `start` until before `end`, and how many recipients did something for the first time meanwhile."""

    start: datetime
    end: datetime
    opened: int = 0
    clicked: int = 0
    submitted: int = 0
    reported: int = 0


@attrs.frozen(kw_only=True)
class Timeline:
    """At most `len(MARKS)` spans, each beginning where the one before ends, up to the last moment that counts.

    `median_click` is how long after the mail half of the clicks had come; it leaves out those before which no mail is
    known.
    """

    spans: Sequence[Span] = ()
    median_click: timedelta | None = None


class Moments:
    """What a timeline is made of, gathered in parts and in any order: eight bytes a moment, whoever it was."""

    def __init__(self) -> None:
        self._first: datetime | None = None
        self._opened = array("q")
        self._clicked = array("q")
        self._submitted = array("q")
        self._reported = array("q")
        self._click_delays = array("q")

    def gather(self, people: Iterable[Progress]) -> None:
        """Add how far these recipients came."""
        for progress in people:
            firsts = (
                (self._opened, progress.opened_at),
                (self._clicked, progress.clicked_at),
                (self._submitted, progress.submitted_at),
                (self._reported, progress.reported_at),
            )
            known = [at for at in (progress.sent_at, *(at for _, at in firsts)) if at is not None]
            self._first = min([*known, *([] if self._first is None else [self._first])], default=None)
            for moments, at in firsts:
                if at is not None:
                    moments.append(_ticks(at - _EPOCH))
            if progress.click_delay is not None:
                self._click_delays.append(_ticks(progress.click_delay))

    def timeline(self) -> Timeline:
        """All of it in spans; none while nobody has opened, clicked, submitted or reported."""
        steps = (self._opened, self._clicked, self._submitted, self._reported)
        if self._first is None or not any(steps):
            return Timeline()
        begin = _ticks(self._first - _EPOCH)
        last = max(max(moments) for moments in steps if moments)
        edges = [begin + _ticks(mark) for mark in MARKS]
        edges = edges[: bisect_right(edges, last) + 1]
        if edges[-1] <= last:
            edges.append(last + 1)
        opened, clicked, submitted, reported = (_counted(moments, edges) for moments in steps)
        return Timeline(
            spans=tuple(
                Span(
                    start=_moment(start),
                    end=_moment(end),
                    opened=opened[index],
                    clicked=clicked[index],
                    submitted=submitted[index],
                    reported=reported[index],
                )
                for index, (start, end) in enumerate(pairwise(edges))
            ),
            median_click=median(delay * _TICK for delay in self._click_delays),
        )


def timeline_of(people: Iterable[Progress]) -> Timeline:
    """The timeline of a campaign with these recipients, whose order never matters."""
    moments = Moments()
    moments.gather(people)
    return moments.timeline()


def _counted(moments: Iterable[int], edges: Sequence[int]) -> list[int]:
    counts = [0] * (len(edges) - 1)
    for at in moments:
        counts[bisect_right(edges, at) - 1] += 1
    return counts


def _ticks(time: timedelta) -> int:
    return time // _TICK


def _moment(ticks: int) -> datetime:
    try:
        return _EPOCH + ticks * _TICK
    except OverflowError:
        # A moment of the year 9999 ends a span that Python cannot tell.
        return datetime.max.replace(tzinfo=UTC)
