"""What a directory sync does: from records and the people who may be meant, to a plan of writes and an answer.

A single record is a sync of one. The plan is decided from values alone; it depends on the order of records only in that
the first of two that mean the same person counts (and in which spelling a new sector gets), never on the order in which
people were loaded. Planning costs time proportional to the records. Rules: docs/explanation/sync.md; Choice: decisions/007.
"""

from __future__ import annotations

import attrs

from awareness_core.employees import Action, Employee, EmployeeChange, EmployeeId
from awareness_core.errors import Fault
from awareness_core.sectors import Sector


@attrs.frozen(kw_only=True)
class InvalidRecord:
    """A record that breaks a constraint, kept in its place so that the others are not lost.

    What can be read of its external id and e-mail still counts as a mention of that person. `external_id` and `email`
    are as sent, for the answer only.
    """

    faults: tuple[Fault, ...]
    external_id: str | None = None
    email: str = ""


@attrs.frozen(kw_only=True)
class SyncItem:
    """What became of one record (reference 2.2). `employee` is the person as they are afterwards."""

    external_id: str | None
    email: str
    action: Action
    id: EmployeeId | None = None
    error: str | None = None
    warning: str | None = None
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
class SyncPlan:
    """What to write and what to answer. Empty `changes` and `sectors` mean that nothing is written at all."""

    items: tuple[SyncItem, ...]
    summary: SyncSummary
    changes: tuple[EmployeeChange, ...] = ()
    sectors: tuple[Sector, ...] = ()
