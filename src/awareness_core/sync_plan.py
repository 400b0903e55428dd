"""What a directory sync takes in and gives out: candidates, items, plan, and the guard against broken exports.

The values only; how they come about is `sync`'s business. Rules: docs/explanation/sync.md; Choice: decisions/007.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

import attrs

from awareness_core.emails import EmailKey
from awareness_core.employees import Action, Employee, EmployeeChange, EmployeeId
from awareness_core.errors import Fault, MassDeactivationBlocked
from awareness_core.sectors import Sector

MAX_UNCONFIRMED_DEACTIVATIONS = 5
MAX_UNCONFIRMED_SHARE = 10
"""Percent of the active employees that carry an external id."""


class SyncError(enum.Enum):
    """Why a record failed (the first two are the reference's, 2.2)."""

    EMAIL_CONFLICT_OTHER_TENANT = "email_conflict_other_tenant"
    DUPLICATE_IN_PAYLOAD = "duplicate_in_payload"
    VALIDATION_ERROR = "validation_error"
    EMAIL_CONFLICT = "email_conflict"
    EXTERNAL_ID_CONFLICT = "external_id_conflict"
    UNKNOWN_SECTOR = "unknown_sector"
    SECTOR_CONFLICT = "sector_conflict"


class SyncWarning(enum.Enum):
    """What a caller should know about a record that did not fail."""

    UNKNOWN_LEAVER = "unknown_leaver"
    EMAIL_NOT_UPDATED = "email_not_updated"
    EMAIL_TAKEN_FROM_ARCHIVED = "email_taken_from_archived"
    LINKED_BY_EMAIL = "linked_by_email"


@attrs.frozen(kw_only=True)
class SyncItem:
    """What became of one record (reference 2.2). `employee` is the person as they are afterwards."""

    external_id: str | None
    email: str
    action: Action
    id: EmployeeId | None = None
    error: SyncError | None = None
    warning: SyncWarning | None = None
    faults: tuple[Fault, ...] = ()
    employee: Employee | None = attrs.field(default=None, repr=False)


@attrs.frozen(kw_only=True)
class SyncSummary:
    """Reference 2.3. `deactivated` includes people archived because they were missing from the payload."""

    received: int = 0
    created: int = 0
    updated: int = 0
    reactivated: int = 0
    deactivated: int = 0
    skipped: int = 0
    failed: int = 0


@attrs.frozen(kw_only=True)
class Candidates:
    """What a plan must know of the company: everyone whom the records may mean, and more does no harm.

    `held_elsewhere` are the addresses among the records' that other companies' active people hold. `rostered`, every
    active person who carries an external id, is given when those who are missing from the records are to be archived.
    """

    employees: Sequence[Employee]
    held_elsewhere: frozenset[EmailKey] = frozenset()
    sectors: Sequence[Sector] = ()
    rostered: Sequence[Employee] | None = None


@attrs.frozen(kw_only=True)
class SyncPlan:
    """What to write and what to answer. Empty `changes` and `sectors` mean that nothing is written at all.

    `absentees` are archived, by `changes` too, because the payload left them out.
    """

    items: tuple[SyncItem, ...]
    summary: SyncSummary
    changes: tuple[EmployeeChange, ...] = ()
    sectors: tuple[Sector, ...] = ()
    absentees: tuple[Employee, ...] = ()
    rostered: int | None = None


@attrs.frozen(kw_only=True)
class ChunkPlan:
    """What to write and to answer for one chunk of a payload.

    `items` are by the position of their record in the chunk. Positions without one are those of unchanged people, and
    those `deferred`, which later records decide.
    """

    items: Mapping[int, SyncItem]
    changes: tuple[EmployeeChange, ...] = ()
    sectors: tuple[Sector, ...] = ()
    deferred: tuple[int, ...] = ()


def summarise(actions: Mapping[Action, int]) -> SyncSummary:
    """The summary of so many records by what became of them."""
    return SyncSummary(
        received=sum(actions.values()),
        created=actions.get(Action.CREATED, 0),
        updated=actions.get(Action.UPDATED, 0),
        reactivated=actions.get(Action.REACTIVATED, 0),
        deactivated=actions.get(Action.DEACTIVATED, 0),
        skipped=actions.get(Action.SKIPPED, 0),
        failed=actions.get(Action.FAILED, 0),
    )


def check_deactivations(
    summary: SyncSummary, *, absentees: int, rostered: int, confirmed: int | None
) -> None:
    """Nothing, or `MassDeactivationBlocked` when leaving people out looks like a broken export.

    That is when it would archive more than 5 people and more than 10 % of the `rostered` who carry an external id, or
    when the payload is empty; `confirmed`, the exact number of `absentees`, lets it pass. `summary` counts them.
    """
    if confirmed == absentees:
        return
    is_mass = absentees > MAX_UNCONFIRMED_DEACTIVATIONS and absentees * 100 > MAX_UNCONFIRMED_SHARE * rostered
    if is_mass or summary.received == 0:
        raise MassDeactivationBlocked(planned=absentees, active=rostered, summary=attrs.asdict(summary))
