"""Timelines: nobody is lost or counted twice between spans, whatever the order and however long it took."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.kpis import Funnel
from awareness_core.recipients import Progress, Recipient, recounted
from awareness_core.timelines import MARKS, Moments, Span, Timeline, timeline_of
from tests.core.strategies import NOW, any_moments, moments
from tests.core.tellings import targeted

MINUTE = timedelta(minutes=1)
TICK = timedelta(milliseconds=1)


def progresses() -> st.SearchStrategy[Progress]:
    """How far recipients came, each moment as it may be: steps are not even in their order."""
    near_marks = st.builds(
        lambda mark, ticks: NOW + mark + ticks * TICK, st.sampled_from(MARKS), st.sampled_from([-1, 0, 1])
    )
    maybe = st.none() | moments() | near_marks | any_moments()
    return st.builds(
        Progress, sent_at=maybe, opened_at=maybe, clicked_at=maybe, submitted_at=maybe, reported_at=maybe
    )


people = st.lists(progresses(), max_size=12)
LAST = datetime.max.replace(microsecond=999_000, tzinfo=UTC)


@given(people)
@example([Progress(sent_at=LAST, reported_at=LAST)])
@example([Progress(sent_at=datetime.min.replace(tzinfo=UTC), clicked_at=LAST)])
def test_the_spans_sum_to_the_funnel(told: list[Progress]) -> None:
    spans = timeline_of(told).spans
    recipients = [
        Recipient(email=targeted(number).email, progress=progress) for number, progress in enumerate(told)
    ]
    funnel = recounted(Funnel(), [], recipients)

    assert (funnel.opened, funnel.clicked, funnel.submitted, funnel.reported) == (
        sum(span.opened for span in spans),
        sum(span.clicked for span in spans),
        sum(span.submitted for span in spans),
        sum(span.reported for span in spans),
    )


@given(people)
def test_every_moment_is_in_the_span_that_counts_it(told: list[Progress]) -> None:
    for span in timeline_of(told).spans:
        within = [one for one in told if one.clicked_at and span.start <= one.clicked_at < span.end]

        assert len(within) == span.clicked


@given(people)
def test_spans_are_few_and_follow_each_other_from_the_first_mail_to_the_last_moment(
    told: list[Progress],
) -> None:
    spans = timeline_of(told).spans
    shown = [
        at
        for one in told
        for at in (one.opened_at, one.clicked_at, one.submitted_at, one.reported_at)
        if at is not None
    ]
    mails = [one.sent_at for one in told if one.sent_at is not None]

    assert len(spans) <= len(MARKS)
    assert all(one.end == next_one.start and one.start < one.end for one, next_one in pairwise(spans))
    assert bool(shown) == bool(spans)
    if shown:
        assert min(shown + mails) == spans[0].start
        assert spans[-1].start <= max(shown) <= spans[-1].end


@given(people, st.data())
def test_neither_order_nor_parts_matter(told: list[Progress], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(told))
    cut = data.draw(st.integers(0, len(told)))
    parts = Moments()
    parts.gather(shuffled[:cut])
    parts.gather(shuffled[cut:])

    assert timeline_of(told) == parts.timeline()


def test_without_moments_there_is_no_span() -> None:
    assert Timeline() == timeline_of([])
    assert Timeline() == timeline_of([Progress(sent_at=NOW), Progress(error_at=NOW)])


def test_one_moment_is_in_one_span() -> None:
    told = Progress(sent_at=NOW, opened_at=NOW)

    assert Timeline(spans=(Span(start=NOW, end=NOW + MINUTE, opened=1),)) == timeline_of([told])


def test_what_is_later_than_the_last_mark_ends_the_last_span() -> None:
    late = NOW + MARKS[-1] + 900 * timedelta(days=1)
    spans = timeline_of([Progress(sent_at=NOW, reported_at=late)]).spans

    assert len(MARKS) == len(spans)
    assert Span(start=NOW + MARKS[-1], end=late + TICK, reported=1) == spans[-1]


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        ([], None),
        ([3], 3 * MINUTE),
        ([9, 1, 5], 5 * MINUTE),
        ([1, 2], 1.5 * MINUTE),
        # A click that is all we know of the mail says nothing of how long it took.
        ([0, 4], 4 * MINUTE),
    ],
)
def test_half_of_the_clicks_came_within_the_median(minutes: list[int], expected: timedelta | None) -> None:
    told = [Progress(sent_at=NOW, clicked_at=NOW + number * MINUTE) for number in minutes]

    assert expected == timeline_of(told).median_click
