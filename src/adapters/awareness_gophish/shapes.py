"""The shapes of GoPhish's answers, as far as anything of them is wanted; whatever else they hold is never taken up.

The decoder's errors name a place, never a content. What is inside `details` is `browsers`' business.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from awareness_core.errors import Fault, ValidationFailed


class TimelineEvent(msgspec.Struct, frozen=True):
    """One line of a campaign's history, and the body of a notice. Old versions leave `campaign_id` out of notices."""

    message: str | None
    time: str | None = ""
    email: str | None = ""
    details: str | None = ""
    campaign_id: int | None = None


class Target(msgspec.Struct, frozen=True):
    """One of `results`: somebody who is targeted. Its status is overwritten by late sending, so it is not read."""

    email: str | None


class Results(msgspec.Struct, frozen=True):
    """`GET /api/campaigns/{id}/results`, and the whole campaign that it is a part of, whose dates it lacks."""

    id: int
    results: list[Target] | None
    timeline: list[TimelineEvent] | None
    name: str = ""
    status: str = ""
    created_date: str | None = None
    launch_date: str | None = None
    completed_date: str | None = None


class Stats(msgspec.Struct, frozen=True):
    """How many people are in which state, by GoPhish's own reckoning."""

    total: int = 0
    sent: int = 0
    opened: int = 0
    clicked: int = 0
    submitted_data: int = 0
    email_reported: int = 0
    error: int = 0


class Summary(msgspec.Struct, frozen=True):
    """One campaign of a summary."""

    id: Annotated[int, msgspec.Meta(ge=0)]
    name: str
    status: str
    created_date: str | None = None
    launch_date: str | None = None
    send_by_date: str | None = None
    completed_date: str | None = None
    stats: Stats | None = None


class Summaries(msgspec.Struct, frozen=True):
    """`GET /api/campaigns/summary`. Without campaigns Go may write null."""

    total: int
    campaigns: list[Summary] | None


class Ping(msgspec.Struct, frozen=True):
    """What GoPhish sends when somebody presses the button beside a webhook."""

    success: bool


_event: Final = msgspec.json.Decoder(TimelineEvent)
_ping: Final = msgspec.json.Decoder(Ping)


def decode_notice(body: bytes) -> TimelineEvent | Ping:
    """The body of a notice. Raises `ValidationFailed`."""
    try:
        return _event.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        try:
            return _ping.decode(body)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            message = f"not an event of GoPhish: {error}"
            raise ValidationFailed([Fault(field="", code="invalid_notice", message=message)]) from None
