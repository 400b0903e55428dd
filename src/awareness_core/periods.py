"""Moments and periods as callers write them: RFC 3339 with an offset, or a date taken in UTC.

All moments inside the program are aware, in UTC and whole milliseconds, which is what the API shows.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

import attrs

DEFAULT_PERIOD = timedelta(days=30)
"""Reference 4.4: without a start, a listing begins 30 days before now."""

# The hour 24 and offsets of 60 minutes or more are no RFC 3339, but some versions of Python read them.
_RFC3339 = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ](?!24)\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MILLISECOND = 1000
"""In microseconds."""


class InvalidMoment(ValueError):
    """The text is no date, or a time without its offset. The message says what would be right."""


@attrs.frozen(kw_only=True)
class Period:
    """From `start` to `end`, both included. Both aware; `start` is not after `end`."""

    start: datetime
    end: datetime

    def __attrs_post_init__(self) -> None:
        if self.start > self.end:
            raise ValueError("the period ends before it begins")


def parse_moment(text: str, *, end_of_day: bool = False) -> datetime:
    """The moment that `text` names, in UTC, cut to milliseconds.

    A bare date means its first moment in UTC, or with `end_of_day` its last. Raises `InvalidMoment`.
    """
    try:
        if _DATE.fullmatch(text):
            day = date.fromisoformat(text)
            return datetime.combine(day, time.max if end_of_day else time.min, UTC).replace(
                microsecond=999_000 if end_of_day else 0
            )
    except ValueError as error:
        raise InvalidMoment(f"no such date or time: {error}") from error
    if _RFC3339.fullmatch(text):
        return parse_time(text)
    raise InvalidMoment(
        "must be a date like 2026-03-31, or a date-time with its offset like 2026-03-31T08:00:00Z (RFC 3339)"
    )


def parse_time(text: str) -> datetime:
    """The same for what is more than a day. Raises `InvalidMoment`."""
    if not _RFC3339.fullmatch(text):
        raise InvalidMoment("must be a date-time with its offset like 2026-03-31T08:00:00Z (RFC 3339)")
    try:
        return whole_milliseconds(datetime.fromisoformat(text.upper()).astimezone(UTC))
    except (ValueError, OverflowError) as error:
        raise InvalidMoment(f"no such date or time: {error}") from error


def spell_moment(moment: datetime) -> str:
    """RFC 3339 in UTC with `Z`: whole seconds, or milliseconds where there are any."""
    at = moment.astimezone(UTC)
    # With a `timespec` this takes twice as long, and an answer may hold a thousand moments.
    text = at.isoformat()
    return f"{text[:23]}Z" if at.microsecond >= _MILLISECOND else f"{text[:19]}Z"


def whole_milliseconds(moment: datetime) -> datetime:
    """`moment` cut down to the millisecond."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
