"""Phishing-simulation campaigns: their states and what a listing may ask for. The figures are `kpis`' business."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NewType

import attrs

from awareness_core.kpis import Funnel
from awareness_core.pages import PageRequest
from awareness_core.periods import Period

CampaignId = NewType("CampaignId", str)


class CampaignState(enum.Enum):
    """Choice (decisions/012): the reference shows only the last but one."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


TRANSITIONS: Mapping[CampaignState, frozenset[CampaignState]] = MappingProxyType(
    {
        CampaignState.DRAFT: frozenset({CampaignState.SCHEDULED, CampaignState.CANCELLED}),
        CampaignState.SCHEDULED: frozenset({CampaignState.RUNNING, CampaignState.CANCELLED}),
        CampaignState.RUNNING: frozenset(
            {CampaignState.PAUSED, CampaignState.COMPLETED, CampaignState.CANCELLED}
        ),
        CampaignState.PAUSED: frozenset(
            {CampaignState.RUNNING, CampaignState.COMPLETED, CampaignState.CANCELLED}
        ),
        CampaignState.COMPLETED: frozenset(),
        CampaignState.CANCELLED: frozenset(),
    }
)
"""draft → scheduled → running ⇄ paused → completed; any but completed → cancelled."""


@attrs.frozen(kw_only=True)
class Campaign:
    """One campaign with its counters. All times are aware, in UTC; a draft may have neither start nor end."""

    id: CampaignId
    name: str
    state: CampaignState
    created_at: datetime
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    funnel: Funnel = Funnel()

    @property
    def listed_at(self) -> datetime:
        """The moment a listing sorts and filters by: the start, or the creation while there is none."""
        return self.created_at if self.starts_at is None else self.starts_at


@attrs.frozen(kw_only=True)
class CampaignQuery:
    """Which campaigns a listing wants: those with `listed_at` in `period`, both ends included."""

    period: Period
    state: CampaignState | None = None
    page: PageRequest = PageRequest()


def may_become(current: CampaignState, following: CampaignState) -> bool:
    """Whether a campaign in `current` may go to `following`; staying is always allowed."""
    return current is following or following in TRANSITIONS[current]
