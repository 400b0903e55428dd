"""What happened to one recipient of a campaign at one moment, and when two tellings are of one event.

Events are only ever added. An event is known by the id that its teller gives it, else by address, step and moment
(Choice: decisions/022). Two tellings of one event may differ in how much they say of the browser; the one that is kept
is the same whichever came first. Whether a person or a machine did it is `interactions`' business.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NewType

import attrs

from awareness_core.emails import EmailKey
from awareness_core.kpis import Step
from awareness_core.periods import spell_moment

EventKey = NewType("EventKey", str)
"""32 hexadecimal digits: one event of one campaign."""

PLACE_SPAN = timedelta(minutes=1)
"""How much time one place covers."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Sign(enum.Flag):
    """Why an interaction is taken for a machine's; none for a person's."""

    TOO_SOON = 1
    CROWD = 2
    BURST = 4
    SCANNER_AGENT = 8
    HEAD_REQUEST = 16


HUMAN = Sign(0)


@attrs.frozen(kw_only=True)
class Event:
    """One event. `at` is aware, in UTC, whole milliseconds; `address` is the normal form of an IP address."""

    key: EventKey
    recipient: EmailKey
    step: Step
    at: datetime
    address: str | None = None
    user_agent: str | None = None
    method: str | None = None
    signs: Sign = HUMAN

    @property
    def is_machine(self) -> bool:
        """Whether it is kept and not counted."""
        return self.signs != HUMAN

    @property
    def is_same_as(self) -> tuple[EmailKey, Step, datetime]:
        """What two tellings of one event cannot differ in."""
        return self.recipient, self.step, self.at


def event_key(told_id: str | None, recipient: EmailKey, step: Step, at: datetime) -> EventKey:
    """The key of an event that its teller calls `told_id`, or calls nothing."""
    # No text holds a line feed, so no id reads as the other form.
    known_by = f"id\n{told_id}" if told_id is not None else f"{recipient}\n{step.value}\n{spell_moment(at)}"
    return EventKey(hashlib.blake2b(known_by.encode(), digest_size=16).hexdigest())


def merged(one: Event, other: Event) -> Event:
    """Of two tellings of one event that which says more of the browser, or is greater; the signs are `one`'s."""
    fuller = max(one, other, key=_browser)
    return one if _browser(fuller) == _browser(one) else attrs.evolve(fuller, signs=one.signs)


def places_around(events: Iterable[Event], distance: timedelta) -> frozenset[str]:
    """All places of what happened at the address of one of `events`, at most `distance` before or after it."""
    return frozenset(
        [
            f"{event.address} {number}"
            for event in events
            if event.address is not None
            for number in range(_place_number(event.at - distance), _place_number(event.at + distance) + 1)
        ]
    )


def place_of(event: Event) -> str | None:
    """The address and the span of time in which `event` happened."""
    return None if event.address is None else f"{event.address} {_place_number(event.at)}"


def _place_number(at: datetime) -> int:
    return (at - _EPOCH) // PLACE_SPAN


def _browser(event: Event) -> tuple[str, str, str]:
    return event.address or "", event.user_agent or "", event.method or ""
