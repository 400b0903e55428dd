"""The timeline of a campaign as terminals show it: wide, narrow, and without blocks. Changed with `--update` only."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.recipients import Progress
from awareness_core.timelines import MARKS, Span, Timeline, timeline_of
from awareness_server.cli.bars import bar
from awareness_server.cli.campaign_timeline import drawn_timeline, spell_timeline
from tests.core.strategies import NOW

SECOND = timedelta(seconds=1)
FIRST_REPORT = NOW + 250 * SECOND
TIMELINE = timeline_of(
    Progress(
        sent_at=NOW + number * SECOND,
        opened_at=NOW + 40 * SECOND * number**1.6,
        clicked_at=NOW + 90 * SECOND * number**1.8 if number % 5 == 0 else None,
        submitted_at=NOW + 95 * SECOND * number**1.8 if number % 20 == 0 else None,
        reported_at=FIRST_REPORT + 8 * SECOND * number**2 if number % 9 == 0 else None,
    )
    for number in range(400)
)


def spans(counts: st.SearchStrategy[int]) -> st.SearchStrategy[Timeline]:
    """As many spans as there may be, from the shortest label to the longest."""
    edges = [NOW + mark for mark in (*MARKS, MARKS[-1] + timedelta(days=400, seconds=1))]
    span = [
        st.builds(
            Span,
            start=st.just(start),
            end=st.just(end),
            opened=counts,
            clicked=counts,
            submitted=counts,
            reported=counts,
        )
        for start, end in pairwise(edges)
    ]
    return st.tuples(*span).map(lambda drawn: Timeline(spans=drawn))


@pytest.mark.parametrize("width", [120, 80, 40])
def test_timeline_is_drawn_as_it_was(golden: Callable[[str, str], str], width: int) -> None:
    lines = drawn_timeline(TIMELINE, first_report_at=FIRST_REPORT, width=width)
    actual = "".join(f"{line}\n" for line in lines)

    assert golden(f"pictures/timeline.{width}.txt", actual) == actual


def test_timeline_is_drawn_of_signs_that_ascii_has(
    golden: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    lines = drawn_timeline(TIMELINE, first_report_at=FIRST_REPORT, width=80)
    monkeypatch.undo()
    actual = "".join(f"{line}\n" for line in lines)

    assert actual.isascii()
    assert golden("pictures/timeline.80.ascii.txt", actual) == actual


@given(
    timeline=spans(st.integers(0, 3) | st.integers(0, 999_999)),
    width=st.integers(40, 200),
    mark=st.sampled_from(MARKS),
)
def test_no_line_is_wider_than_the_terminal_and_no_number_is_lost(
    timeline: Timeline, width: int, mark: timedelta
) -> None:
    lines = drawn_timeline(timeline, first_report_at=NOW + mark, width=width)
    text = "\n".join(lines)

    assert max(map(len, lines)) <= width
    assert text.count("*") == 1
    for span in timeline.spans:
        assert all(str(count or ".") in text for count in (span.opened, span.clicked, span.reported))


def test_nothing_is_drawn_of_no_span() -> None:
    assert [] == drawn_timeline(Timeline(), first_report_at=None, width=80)
    assert [] == spell_timeline(Timeline())


@given(share=st.floats(0, 1), width=st.integers(1, 60))
def test_only_nothing_is_drawn_as_nothing(share: float, width: int) -> None:
    drawn = bar(share, width)

    assert (share > 0) == bool(drawn)
    assert len(drawn) <= width
