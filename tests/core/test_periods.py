"""Moments as callers write them: read exactly, spelt back the same, refused when they name no moment."""

from __future__ import annotations

import re
import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.periods import (
    InvalidMoment,
    Period,
    parse_moment,
    parse_time,
    spell_moment,
    whole_milliseconds,
)
from tests.core.strategies import NOW, any_moments, moments

OFFSETS = st.integers(min_value=-23 * 60 - 59, max_value=23 * 60 + 59)


@given(any_moments())
def test_a_moment_reads_back_as_it_was_spelt(moment: datetime) -> None:
    assert moment == parse_moment(spell_moment(moment))


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_is_spelt_is_the_moment_cut_to_milliseconds(moment: datetime) -> None:
    assert whole_milliseconds(moment) == parse_moment(spell_moment(moment))


@given(moments(), OFFSETS)
def test_every_offset_names_the_same_moment(moment: datetime, minutes: int) -> None:
    elsewhere = moment.astimezone(timezone(timedelta(minutes=minutes)))

    assert spell_moment(moment) == spell_moment(elsewhere)
    assert moment == parse_moment(elsewhere.isoformat(timespec="milliseconds"))


@given(moments(), OFFSETS)
def test_moments_are_read_in_utc(moment: datetime, minutes: int) -> None:
    text = moment.astimezone(timezone(timedelta(minutes=minutes))).isoformat()

    assert timedelta(0) == parse_moment(text).utcoffset()


@given(moments())
def test_a_spelt_moment_ends_in_z_and_shows_milliseconds_only_where_there_are_any(moment: datetime) -> None:
    shows_milliseconds = len("2026-03-31T08:00:00.000Z") == len(spell_moment(moment))

    assert "Z" == spell_moment(moment)[-1]
    assert shows_milliseconds == (moment.microsecond > 0)


@pytest.mark.parametrize(
    ("microsecond", "text"),
    [
        (0, "2026-03-31T08:00:00Z"),
        (999, "2026-03-31T08:00:00Z"),
        (1000, "2026-03-31T08:00:00.001Z"),
        (1999, "2026-03-31T08:00:00.001Z"),
        (999_999, "2026-03-31T08:00:00.999Z"),
    ],
)
def test_microseconds_are_cut_not_rounded(microsecond: int, text: str) -> None:
    assert text == spell_moment(NOW.replace(microsecond=microsecond))


def test_the_computers_own_time_zone_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        read, spelt = parse_moment("2026-03-31T10:00:00+02:00"), spell_moment(NOW)
    finally:
        monkeypatch.undo()
        time.tzset()

    assert (NOW, timedelta(0), "2026-03-31T08:00:00Z") == (read, read.utcoffset(), spelt)


@given(st.dates())
def test_a_date_is_its_first_moment_in_utc(day: date) -> None:
    assert datetime(day.year, day.month, day.day, tzinfo=UTC) == parse_moment(day.isoformat())


@given(st.dates())
def test_a_date_that_ends_a_period_is_its_last_millisecond(day: date) -> None:
    expected = datetime(day.year, day.month, day.day, 23, 59, 59, 999_000, tzinfo=UTC)

    assert expected == parse_moment(day.isoformat(), end_of_day=True)


@given(moments())
def test_a_date_time_is_itself_at_either_end(moment: datetime) -> None:
    text = spell_moment(moment)

    assert parse_moment(text) == parse_moment(text, end_of_day=True)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-31T08:00:00Z", NOW),
        ("2026-03-31t08:00:00z", NOW),
        ("2026-03-31 08:00:00Z", NOW),
        ("2026-03-31T08:00:00-00:00", NOW),
        ("2026-03-31T10:00:00+02:00", NOW),
        ("2026-04-01T07:59:00+23:59", NOW),
        ("2026-03-31T02:15:00-05:45", NOW),
        ("2026-03-31T08:00:00.1Z", NOW.replace(microsecond=100_000)),
        ("2026-03-31T08:00:00.001999999Z", NOW.replace(microsecond=1000)),
        ("2026-03-31T08:00:00.0009Z", NOW),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999Z", datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
    ],
)
def test_rfc_3339_is_read(text: str, moment: datetime) -> None:
    assert moment == parse_moment(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29",
        "2026-13-01",
        "2026-00-10",
        "0000-01-01",
        "2026-03-31T25:00:00Z",
        "2026-03-31T08:60:00Z",
        "2026-03-31T08:00:60Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    ],
)
def test_a_date_or_time_that_does_not_exist_is_refused_as_such(text: str) -> None:
    with pytest.raises(InvalidMoment, match=r"^no such date or time: "):
        parse_moment(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "2026",
        "2026-3-31",
        "20260331",
        "31/03/2026",
        "2026-W14-2",
        "2026-090",
        "+2026-03-31",
        "12026-03-31",
        " 2026-03-31",
        "2026-03-31\n",
        "٢٠٢٦-٠٣-٣١",
        "2026-03-31T08:00:00",
        "2026-03-31T08:00:00.000",
        "2026-03-31T08:00Z",
        "2026-03-31T08Z",
        "2026-03-31TZ",
        "2026-03-31Z",
        "2026-03-31T24:00:00Z",
        "2026-03-31_08:00:00Z",
        "2026-03-31T08:00:00 02:00",
        "2026-03-31T08:00:00+02",
        "2026-03-31T08:00:00+0200",
        "2026-03-31T08:00:00+24:00",
        "2026-03-31T08:00:00+01:99",
        "2026-03-31T08:00:00+02:00:00",
        "2026-03-31T08:00:00.Z",
        "2026-03-31T08:00:00,5Z",
        "2026-03-31T08:00:00.1234567890Z",
        "2026-03-31T08:00:00Zulu",
        "2026-03-31T٠٨:00:00Z",
        "1774944000",
        "now",
    ],
)
def test_any_other_form_is_refused_and_told_the_right_one(text: str) -> None:
    right = (
        "must be a date like 2026-03-31, or a date-time with its offset like 2026-03-31T08:00:00Z (RFC 3339)"
    )

    with pytest.raises(InvalidMoment, match=f"^{re.escape(right)}$"):
        parse_moment(text)


@pytest.mark.parametrize("text", ["2026-03-31", "", "31/03/2026 08:00", "2026-03-31T08:00:00"])
def test_who_needs_a_time_is_not_told_that_a_date_would_do(text: str) -> None:
    right = "must be a date-time with its offset like 2026-03-31T08:00:00Z (RFC 3339)"

    with pytest.raises(InvalidMoment, match=f"^{re.escape(right)}$"):
        parse_time(text)


@given(st.text(alphabet="0123456789-:.TZ+ ", max_size=30) | st.text())
def test_any_text_is_a_moment_or_is_refused(text: str) -> None:
    try:
        moment = parse_moment(text)
    except InvalidMoment:
        moment = NOW

    assert whole_milliseconds(moment) == moment.astimezone(UTC)


@given(moments(), moments())
def test_a_period_does_not_end_before_it_begins(one: datetime, other: datetime) -> None:
    start, end = sorted((one, other))

    period = Period(start=start, end=end)

    assert (start, end) == (period.start, period.end)
    if start < end:
        with pytest.raises(ValueError, match=r"^the period ends before it begins$"):
            Period(start=end, end=start)


@given(moments())
def test_a_period_may_be_one_moment(moment: datetime) -> None:
    assert moment == Period(start=moment, end=moment).end
