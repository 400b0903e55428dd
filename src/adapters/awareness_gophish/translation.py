"""From what GoPhish answers to the core's values, purely: campaigns, their dates and states, recipients, events.

All is computed from the timeline. A result's own status is never looked at: a late "Email Sent" overwrites what a
person did before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

import attrs
import msgspec

from awareness_core.campaigns import CampaignState, CampaignTelling
from awareness_core.emails import EmailKey
from awareness_core.errors import ValidationFailed
from awareness_core.periods import InvalidMoment, parse_moment
from awareness_core.results_check import MAX_LENGTHS, RefusedLine, check_recipient
from awareness_core.results_plan import Line
from awareness_core.source_ports import Notice
from awareness_core.sources import CampaignGlance, Source, campaign_external_id
from awareness_gophish.browsers import plain
from awareness_gophish.shapes import Ping, Results, Summary, Target, TimelineEvent
from awareness_gophish.states import STATES
from awareness_gophish.timeline import read_event

_UNSET_YEAR: Final = "0001-"


def glance_of(source: Source, summary: Summary) -> CampaignGlance:
    """One campaign of a summary."""
    told_id = str(summary.id)
    state = state_of(summary.status)
    return CampaignGlance(
        told_id=told_id,
        digest=_digest(summary),
        is_over=state is CampaignState.COMPLETED,
        telling=telling_of(
            external_id=campaign_external_id(source, told_id),
            name=summary.name or f"GoPhish {told_id}",
            state=state,
            created_at=moment_of(summary.created_date),
            starts_at=moment_of(summary.launch_date),
            ends_at=moment_of(summary.completed_date),
        ),
    )


def telling_of(
    *,
    external_id: str,
    name: str,
    state: CampaignState,
    created_at: datetime | None,
    starts_at: datetime | None,
    ends_at: datetime | None,
) -> CampaignTelling:
    """A campaign as it can be kept: its name cut to what fits, and no end before its start.

    Somebody may complete a campaign that is still queued; it began when it ended.
    """
    if starts_at is not None and ends_at is not None:
        starts_at = min(starts_at, ends_at)
    return CampaignTelling(
        external_id=external_id,
        name=plain(name, MAX_LENGTHS["name"]) or "GoPhish",
        state=state,
        created_at=created_at,
        starts_at=starts_at,
        ends_at=ends_at,
    )


def state_of(status: str) -> CampaignState:
    """Our state for a campaign's status."""
    # Of a later version, as of a campaign that is under way.
    return STATES.get(status, CampaignState.RUNNING)


def moment_of(text: str | None) -> datetime | None:
    """A date of GoPhish, which writes the year 1 where there is none. None as well for what is no date."""
    if not text or text.startswith(_UNSET_YEAR):
        return None
    try:
        return parse_moment(text)
    except InvalidMoment:
        return None


def lines_of(results: Results) -> Sequence[Line]:
    """All recipients, then all events of a campaign, each once; what cannot be read stands in its place."""
    return [*_recipients(results.results or ()), *_events(results.timeline or ())]


def notice_of(told: TimelineEvent | Ping) -> Notice:
    """What a notice says: exactly what the same event says when it is polled."""
    if isinstance(told, Ping):
        return Notice(is_test=True)
    line = read_event(msgspec.structs.asdict(told))
    told_id = None if told.campaign_id is None else str(told.campaign_id)
    return Notice(told_id=told_id, line=line)


def _recipients(targets: Iterable[Target]) -> Iterator[Line]:
    known: set[EmailKey] = set()
    for index, target in enumerate(targets):
        try:
            recipient = check_recipient(target.email or "", None, names={})
        except ValidationFailed as refusal:
            yield _placed(RefusedLine(faults=refusal.faults), f"results[{index}]")
            continue
        if recipient.email.key not in known:
            known.add(recipient.email.key)
            yield recipient


def _events(timeline: Iterable[TimelineEvent]) -> Iterator[Line]:
    for index, event in enumerate(timeline):
        line = read_event(msgspec.structs.asdict(event))
        if isinstance(line, RefusedLine):
            yield _placed(line, f"timeline[{index}]")
        elif line is not None:
            yield line


def _placed(line: RefusedLine, place: str) -> RefusedLine:
    """`line` with its place in GoPhish's answer before each field."""
    return RefusedLine(
        faults=tuple(attrs.evolve(fault, field=f"{place}.{fault.field}".rstrip(".")) for fault in line.faults)
    )


def _digest(summary: Summary) -> str:
    # Not as JSON, which this encoder writes of numbers below 2**64 alone.
    return hashlib.blake2b(repr(summary).encode(), digest_size=16).hexdigest()
