"""What a person is shown of the simulated phishing that they were sent, and what is made of it.

A campaign is told of once it is over, never before: a mail that may still come in must be met as any other.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from datetime import datetime

import attrs

from awareness_core.campaigns import Campaign, CampaignId, CampaignState
from awareness_core.recipients import Progress

_OVER = frozenset({CampaignState.COMPLETED, CampaignState.CANCELLED})


class Outcome(enum.Enum):
    """How it went, by what matters most. Reporting is what is asked of people, so it counts after a click, too."""

    REPORTED = "reported"
    REPORTED_LATE = "reported_late"
    SUBMITTED = "submitted"
    CLICKED = "clicked"
    OPENED = "opened"
    UNTOUCHED = "untouched"


@attrs.frozen(kw_only=True)
class OwnResult:
    """How far one campaign came with one person."""

    campaign_id: CampaignId
    progress: Progress


@attrs.frozen(kw_only=True)
class OwnOutcome:
    """The same, as the person is shown it."""

    campaign: Campaign
    progress: Progress
    outcome: Outcome


def outcome_of(progress: Progress) -> Outcome:
    """What came of one simulated mail that was sent."""
    if progress.reported_at is not None:
        return Outcome.REPORTED if progress.clicked_at is None else Outcome.REPORTED_LATE
    if progress.submitted_at is not None:
        return Outcome.SUBMITTED
    if progress.clicked_at is not None:
        return Outcome.CLICKED
    return Outcome.UNTOUCHED if progress.opened_at is None else Outcome.OPENED


def told_outcomes(
    results: Iterable[OwnResult], campaigns: Iterable[Campaign], *, now: datetime
) -> Sequence[OwnOutcome]:
    """What is shown, the latest campaign first: mails that were sent, of campaigns that are over."""
    over = {campaign.id: campaign for campaign in campaigns if is_over(campaign, now=now)}
    told = [
        OwnOutcome(
            campaign=over[result.campaign_id],
            progress=result.progress,
            outcome=outcome_of(result.progress),
        )
        for result in results
        if result.campaign_id in over and result.progress.sent_at is not None
    ]
    return sorted(told, key=_moment, reverse=True)


def is_over(campaign: Campaign, *, now: datetime) -> bool:
    """Whether no more mails of it come in: it says so, or its end has passed."""
    return campaign.state in _OVER or (campaign.ends_at is not None and campaign.ends_at <= now)


def _moment(own: OwnOutcome) -> tuple[datetime, str]:
    return own.progress.sent_at or own.campaign.listed_at, own.campaign.id
