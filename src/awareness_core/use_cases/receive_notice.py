"""A notice of a tool's webhook: whose it is, whether it is genuine, and what it adds.

Notices are for speed. What is polled is what counts, and a notice adds nothing that polling would not. In particular it
never makes a campaign: a tool's webhooks get the events of all its users, of whom another may be another company's.
"""

from __future__ import annotations

import enum
from collections.abc import AsyncIterator, Sequence

import attrs

from awareness_core.campaigns import Campaign, CampaignTelling
from awareness_core.errors import SignatureInvalid
from awareness_core.ports import Ports
from awareness_core.results_check import EventTelling, RefusedLine
from awareness_core.results_intake import take_in
from awareness_core.results_plan import Line
from awareness_core.source_ports import Notice
from awareness_core.sources import (
    Source,
    SourceId,
    SourceKind,
    campaign_external_id,
    is_kept_as_told,
    is_signed,
    webhook_secret,
)

_NO_SECRET = "no source has this secret"  # noqa: S105 (what an unknown source is compared with)


class NoticeOutcome(enum.Enum):
    """What became of a genuine notice."""

    TEST = "test"
    STORED = "stored"
    KNOWN = "known"
    AWAITED = "awaited"
    """It is for a campaign that no poll has shown yet; one was asked for, and brings it if it is the company's.

    So it is when the tool keeps moments less exactly than it tells them, as it would then be two events.
    """
    IGNORED = "ignored"
    """It tells nothing of anybody, or of somebody erased, or nothing that can be read."""


async def receive_notice(
    ports: Ports, kind: SourceKind, source_id: SourceId, *, body: bytes, signature: str | None
) -> NoticeOutcome:
    """Take in one notice as it came.

    Raises `SignatureInvalid` when it is not signed by that source, `ValidationFailed` when it is and cannot be read,
    `SourceUnavailable` when the source's API key cannot be read.
    """
    source = await ports.sources.find_source(source_id)
    if source is None or source.kind is not kind:
        is_signed(body, signature, _NO_SECRET)
        raise SignatureInvalid
    tool = ports.tools[kind]
    if not is_signed(body, signature, webhook_secret(await tool.api_key(source), source.salt)):
        await ports.sources.count_forgery(source.id)
        raise SignatureInvalid
    return await _take(ports, source, tool.read_notice(body))


async def _take(ports: Ports, source: Source, notice: Notice) -> NoticeOutcome:
    if notice.is_test:
        return NoticeOutcome.TEST
    if isinstance(notice.line, RefusedLine):
        return NoticeOutcome.IGNORED
    if notice.told_id is not None:
        outcome = await _add(ports, source, notice.told_id, notice.line)
        if outcome is not None:
            return outcome
    await ports.sources.want_poll(source.id, at=ports.clock.now())
    return NoticeOutcome.AWAITED


async def _add(ports: Ports, source: Source, told_id: str, line: Line | None) -> NoticeOutcome | None:
    """What came of it, or None when only a poll can bring it: there is no such campaign yet, or no such moment."""
    external_id = campaign_external_id(source, told_id)
    async with ports.store.transaction(source.company_id) as transaction:
        campaign = await transaction.campaign_by_external_id(external_id)
        if campaign is None:
            return None
        if line is None:
            # That there is such a campaign.
            return NoticeOutcome.KNOWN
        if isinstance(line, EventTelling) and not is_kept_as_told(
            line.event.at, created_at=campaign.created_at
        ):
            return None
        outcome = await take_in(
            ports, transaction, _OneLine(campaign=_as_it_is(campaign, external_id), line=line)
        )
    if outcome.summary.erased:
        return NoticeOutcome.IGNORED
    return NoticeOutcome.STORED if outcome.summary.new else NoticeOutcome.KNOWN


@attrs.frozen(kw_only=True)
class _OneLine:
    campaign: CampaignTelling
    line: Line

    async def batches(self) -> AsyncIterator[Sequence[Line]]:
        yield [self.line]


def _as_it_is(campaign: Campaign, external_id: str) -> CampaignTelling:
    return CampaignTelling(external_id=external_id, name=campaign.name, state=campaign.state)
