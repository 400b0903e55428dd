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

from awareness_core.campaigns import CampaignPart, CampaignState, CampaignTelling
from awareness_core.emails import EmailKey
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.results_check import MAX_LENGTHS, RefusedLine, check_recipient
from awareness_core.results_plan import Line
from awareness_core.source_ports import Notice, ToldCampaign
from awareness_core.sources import CampaignGlance, Source, campaign_external_id
from awareness_gophish.browsers import plain
from awareness_gophish.dates import DATES, believed, read_date
from awareness_gophish.shapes import Ping, Results, Summary, Target, TimelineEvent
from awareness_gophish.states import STATES
from awareness_gophish.timeline import read_event

_READ_AS: Final = 2
"""Counted up when what is made of an answer changes, so that each is read once more."""


def glance_of(source: Source, summary: Summary) -> CampaignGlance:
    """One campaign of a summary; its name cut to what fits."""
    told_id = str(summary.id)
    state = state_of(summary.status)
    dates = {ours: read_date(getattr(summary, name), name) for ours, name in DATES.items()}
    moments = {ours: date for ours, date in dates.items() if isinstance(date, datetime)}
    return CampaignGlance(
        told_id=told_id,
        digest=_digest(summary),
        is_over=state is CampaignState.COMPLETED,
        telling=CampaignTelling(
            external_id=campaign_external_id(source, told_id),
            name=plain(summary.name or f"GoPhish {told_id}", MAX_LENGTHS["name"]) or "GoPhish",
            state=state,
            created_at=moments.get("created_at"),
            starts_at=moments.get("starts_at"),
            ends_at=moments.get("ends_at"),
            # What GoPhish does not tell there is not, whatever it told before.
            cleared=frozenset({CampaignPart.START, CampaignPart.END}),
        ),
        faults=[date for date in dates.values() if isinstance(date, Fault)],
    )


def state_of(status: str) -> CampaignState:
    """Our state for a campaign's status."""
    # Of a later version, as of a campaign that is under way.
    return STATES.get(status, CampaignState.RUNNING)


def told_campaign(glance: CampaignGlance, results: Results) -> ToldCampaign:
    """A campaign of the summary with its results, which say what to believe of its dates."""
    lines = lines_of(results)
    telling, fault = believed(glance.telling, lines)
    faults = [*glance.faults, *([fault] if fault is not None else ())]
    return ToldCampaign(campaign=telling, lines=[*lines, *(RefusedLine(faults=(one,)) for one in faults)])


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
    return hashlib.blake2b(repr((_READ_AS, summary)).encode(), digest_size=16).hexdigest()
