"""From the plain texts of a caller to checked results of a campaign, telling all that is wrong at once.

It speaks of fields by the names it is given, because callers must read of *their* fields in a message. What is bad in
one line never spoils the others: a `RefusedLine` stands in its place.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

import attrs

from awareness_core.campaign_events import Event, event_key
from awareness_core.campaigns import CampaignPart, CampaignState, CampaignTelling, Difficulty
from awareness_core.emails import EmailAddress, InvalidEmail, parse_email
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.kpis import Step
from awareness_core.periods import InvalidMoment, parse_moment, parse_time
from awareness_core.recipients import Recipient
from awareness_core.texts import normal_text, text_problem

MAX_LENGTHS: Mapping[str, int] = {
    "external_id": 191,
    "name": 200,
    "id": 191,
    "user_agent": 1000,
    "method": 16,
    "address": 45,
}
"""Code points after normalisation (Choice: decisions/022)."""

_METHOD = re.compile(r"[A-Z]+")
YEARS = range(2000, 2100)
"""Tools write the year 1 for what they do not know. Once kept, it would be the first moment of everything."""


@attrs.frozen(kw_only=True)
class RawCampaign:
    """A campaign's fields as sent; what is None was not, or was sent to be none if it is among `cleared`."""

    external_id: str
    name: str
    state: CampaignState
    created_at: str | None = None
    starts_at: str | None = None
    ends_at: str | None = None
    difficulty: Difficulty | None = None
    cleared: frozenset[CampaignPart] = frozenset()
    is_name_guessed: bool = False
    is_state_guessed: bool = False


@attrs.frozen(kw_only=True)
class RawEvent:
    """An event's fields as sent; what is None was not."""

    email: str
    step: Step
    at: str
    id: str | None = None
    address: str | None = None
    user_agent: str | None = None
    method: str | None = None


@attrs.frozen(kw_only=True)
class RefusedLine:
    """A line that could not be read, in its place among others."""

    faults: tuple[Fault, ...]


@attrs.frozen(kw_only=True)
class EventTelling:
    """An event and the address as its teller spells it."""

    event: Event
    email: EmailAddress


def check_campaign(raw: RawCampaign, *, names: Mapping[str, str]) -> CampaignTelling:
    """What `raw` says of a campaign. Raises `ValidationFailed` with every fault."""
    check = _Check(names)
    telling = CampaignTelling(
        external_id=check.text("external_id", raw.external_id, min_length=1),
        name=check.text("name", raw.name, min_length=1),
        state=raw.state,
        created_at=check.optional_moment("created_at", raw.created_at),
        starts_at=check.optional_moment("starts_at", raw.starts_at),
        ends_at=check.optional_moment("ends_at", raw.ends_at, end_of_day=True),
        difficulty=raw.difficulty,
        cleared=raw.cleared,
        is_name_guessed=raw.is_name_guessed,
        is_state_guessed=raw.is_state_guessed,
    )
    check.finish()
    return telling


def check_recipient(email: str, external_id: str | None, *, names: Mapping[str, str]) -> Recipient:
    """The recipient of that address. Raises `ValidationFailed` with every fault."""
    check = _Check(names)
    address = check.email(email)
    told_id = check.optional_text("external_id", external_id)
    check.finish()
    return Recipient(email=address, external_id=told_id)


def check_event(raw: RawEvent, *, names: Mapping[str, str]) -> EventTelling:
    """The event that `raw` spells. Raises `ValidationFailed` with every fault."""
    check = _Check(names)
    email = check.email(raw.email)
    at = check.time("at", raw.at)
    told_id = check.optional_text("id", raw.id)
    address = check.ip_address("address", raw.address)
    user_agent = check.optional_text("user_agent", raw.user_agent)
    method = check.method("method", raw.method)
    check.finish()
    event = Event(
        key=event_key(told_id, email.key, raw.step, at),
        recipient=email.key,
        step=raw.step,
        at=at,
        address=address,
        user_agent=user_agent,
        method=method,
    )
    return EventTelling(event=event, email=email)


def is_ip_address(text: str) -> bool:
    """Whether `text` spells an address of IP version 4 or 6."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


_NOBODY = parse_email("nobody@example.com")
_NEVER = parse_moment("1970-01-01")


class _Check:
    """Checks one field after the other; `finish` raises what was wrong, so that no stand-in gets out."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._faults: list[Fault] = []

    def finish(self) -> None:
        if self._faults:
            raise ValidationFailed(self._faults)

    def email(self, text: str) -> EmailAddress:
        try:
            return parse_email(text)
        except InvalidEmail as error:
            self._note("email", "invalid_email", f"not an e-mail address: {error}")
            return _NOBODY

    def text(self, field: str, text: str, *, min_length: int = 0) -> str:
        normal = normal_text(text)
        problem = text_problem(normal, min_length=min_length, max_length=MAX_LENGTHS[field])
        if problem is not None:
            self._note(field, problem.code, problem.message)
        return normal

    def optional_text(self, field: str, text: str | None) -> str | None:
        return None if text is None else self.text(field, text) or None

    def method(self, field: str, text: str | None) -> str | None:
        normal = self.optional_text(field, text)
        if normal is None:
            return None
        if not _METHOD.fullmatch(normal.upper()):
            self._note(field, "invalid_method", "must be a method of HTTP, such as GET or HEAD")
        return normal.upper()

    def ip_address(self, field: str, text: str | None) -> str | None:
        normal = self.optional_text(field, text)
        if normal is None:
            return None
        if not is_ip_address(normal):
            self._note(field, "invalid_address", "must be an IP address like 192.0.2.1 or 2001:db8::1")
            return None
        address = ipaddress.ip_address(normal)
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return str(mapped or address)

    def optional_moment(self, field: str, text: str | None, *, end_of_day: bool = False) -> datetime | None:
        if text is None:
            return None
        return self._read_moment(field, text, partial(parse_moment, end_of_day=end_of_day))

    def time(self, field: str, text: str) -> datetime:
        """A moment that is more than a day: which came first is what everything here is about."""
        return self._read_moment(field, text, parse_time)

    def _read_moment(self, field: str, text: str, parse: Callable[[str], datetime]) -> datetime:
        try:
            moment = parse(text)
        except InvalidMoment as error:
            self._note(field, "invalid_moment", str(error))
            return _NEVER
        if moment.year not in YEARS:
            message = f"must be in the years {YEARS[0]} to {YEARS[-1]}; leave out a time that is not known"
            self._note(field, "out_of_range", message)
        return moment

    def _note(self, field: str, code: str, message: str) -> None:
        self._faults.append(Fault(field=self._names.get(field, field), code=code, message=message))
