"""Phishing-simulation campaigns: their states and what a listing may ask for. The figures are `kpis`' business."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NewType, TypeVar

import attrs

from awareness_core.errors import Fault, ValidationFailed
from awareness_core.kpis import Funnel, MachineSteps
from awareness_core.pages import PageRequest
from awareness_core.periods import Period

CampaignId = NewType("CampaignId", str)

Value = TypeVar("Value")


class Difficulty(enum.Enum):
    """How hard the lure is to see through, as the NIST Phish Scale ranks them."""

    EASY = "easy"
    MODERATE = "moderate"
    DIFFICULT = "difficult"


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


@attrs.frozen(kw_only=True, cache_hash=True)
class Campaign:
    """One campaign with its counters. All times are aware, in UTC; a draft may have neither start nor end.

    `external_id` is what the tool that ran it calls it. `funnel` leaves out what machines did; `machine_steps`
    is what it would add.
    """

    id: CampaignId
    name: str
    state: CampaignState
    created_at: datetime
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    funnel: Funnel = Funnel()
    external_id: str | None = None
    difficulty: Difficulty | None = None
    machine_steps: MachineSteps = MachineSteps()

    @property
    def funnel_with_machine(self) -> Funnel:
        """The counts if what machines did counted like what people did."""
        added = self.machine_steps
        return attrs.evolve(
            self.funnel,
            sent=self.funnel.sent + added.sent,
            opened=self.funnel.opened + added.opened,
            clicked=self.funnel.clicked + added.clicked,
            submitted=self.funnel.submitted + added.submitted,
        )

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


class CampaignPart(enum.Enum):
    """What a campaign may come to be without."""

    START = "start"
    END = "end"
    DIFFICULTY = "difficulty"


@attrs.frozen(kw_only=True)
class CampaignTelling:
    """What a tool says of a campaign it runs. A moment or a difficulty that is None was not told.

    Unless it is among `cleared`: then the tool says that there is none, whatever was told before.
    A name or a state that is guessed was not told either; it serves while nothing better is known.
    """

    external_id: str
    name: str
    state: CampaignState
    created_at: datetime | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    difficulty: Difficulty | None = None
    cleared: frozenset[CampaignPart] = frozenset()
    is_name_guessed: bool = False
    is_state_guessed: bool = False


def retold(known: Campaign, telling: CampaignTelling) -> Campaign:
    """`known` with what `telling` says; what was not told stays, but for what it says that there is none of.

    A state that `known` is past already stays too: tellings may arrive late, and twice. Nor was a campaign created
    later than it was known to be there. Raises `ValidationFailed` when the campaign would end before it starts.
    """
    is_state_kept = telling.is_state_guessed or not can_reach(known.state, telling.state)
    campaign = attrs.evolve(
        known,
        name=known.name if telling.is_name_guessed else telling.name,
        state=known.state if is_state_kept else telling.state,
        created_at=min(telling.created_at or known.created_at, known.created_at),
        starts_at=_newest(telling, CampaignPart.START, telling.starts_at, known.starts_at),
        ends_at=_newest(telling, CampaignPart.END, telling.ends_at, known.ends_at),
        difficulty=_newest(telling, CampaignPart.DIFFICULTY, telling.difficulty, known.difficulty),
        external_id=telling.external_id,
    )
    if (
        campaign.starts_at is not None
        and campaign.ends_at is not None
        and campaign.ends_at < campaign.starts_at
    ):
        message = "the campaign would end before it starts"
        raise ValidationFailed([Fault(field="campaign", code="reversed_period", message=message)])
    return campaign


def _newest(
    telling: CampaignTelling, part: CampaignPart, told: Value | None, known: Value | None
) -> Value | None:
    return told if told is not None or part in telling.cleared else known


def can_reach(current: CampaignState, following: CampaignState) -> bool:
    """Whether a campaign in `current` can be in `following` later, after however many changes."""
    reachable, waiting = {current}, [current]
    while waiting:
        fresh = TRANSITIONS[waiting.pop()] - reachable
        reachable |= fresh
        waiting.extend(fresh)
    return following in reachable


def may_become(current: CampaignState, following: CampaignState) -> bool:
    """Whether a campaign in `current` may go to `following`; staying is always allowed."""
    return current is following or following in TRANSITIONS[current]
