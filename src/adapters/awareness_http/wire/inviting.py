"""Access mails to several people at once (reference 2.4 and 4.3)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Annotated, Final

import attrs
from msgspec import UNSET, Meta, UnsetType

from awareness_core.employees import EmployeeId
from awareness_core.invitations import (
    MAX_PER_CALL,
    InvitationReport,
    InvitationResult,
    InvitationStatus,
    Reason,
)

MAX_SELECTED: Final = 10_000
"""Ids in one call (Choice: decisions/009)."""

_MAX_ID: Final = 64


class Mode(enum.Enum):
    """Whom a call was about."""

    SELECTION = "selection"
    ALL_AWAITING_ACCESS = "all_awaiting_access"


@attrs.frozen(kw_only=True, slots=False)
class InviteBody:
    """Whom to invite; without `employee_ids` everyone who awaits access. An absent body means `{}`."""

    employee_ids: Annotated[
        Annotated[list[Annotated[str, Meta(max_length=_MAX_ID)]], Meta(max_length=MAX_SELECTED)] | UnsetType,
        Meta(description="Only these people. An empty list means nobody."),
    ] = UNSET
    force: Annotated[
        bool,
        Meta(
            description="Also those whose last invitation is still good, unless it went out in the last 15 minutes."
        ),
    ] = False

    @property
    def selection(self) -> Sequence[EmployeeId] | None:
        """The ids, or None for everyone who awaits access."""
        return None if self.employee_ids is UNSET else [EmployeeId(text) for text in self.employee_ids]


@attrs.frozen(kw_only=True, slots=False)
class InvitationSummary:
    """The counts of one call; invited + skipped + failed = total unless truncated."""

    total: Annotated[int, Meta(description="Who was considered, before the cap.")]
    invited: int
    skipped: int
    failed: int
    truncated: Annotated[bool, Meta(description="Whether somebody was left over: call again.")]
    max_per_call: Annotated[int, Meta(description="How many mails one call sends at most.")]
    mode: Mode


@attrs.frozen(kw_only=True, slots=False)
class InvitationItem:
    """What became of one person."""

    id: str
    email: Annotated[str | UnsetType, Meta(description="Absent for an id that is unknown.")] = UNSET
    status: InvitationStatus
    code: Annotated[Reason | UnsetType, Meta(description="Why, unless the person was invited.")] = UNSET


@attrs.frozen(kw_only=True, slots=False)
class InvitationAnswer:
    """What `POST /employees/invite-bulk` answers."""

    ok: Annotated[bool, Meta(description="false when a mail failed. Being skipped is no failure.")]
    summary: InvitationSummary
    results: list[InvitationItem]


def spell_invitations(report: InvitationReport, *, mode: Mode) -> InvitationAnswer:
    """The answer to one call."""
    summary = report.summary
    return InvitationAnswer(
        ok=report.is_ok,
        summary=InvitationSummary(
            total=summary.total,
            invited=summary.invited,
            skipped=summary.skipped,
            failed=summary.failed,
            truncated=summary.truncated,
            max_per_call=MAX_PER_CALL,
            mode=mode,
        ),
        results=[_spell(result) for result in report.results],
    )


def _spell(result: InvitationResult) -> InvitationItem:
    return InvitationItem(
        id=result.id, email=result.email or UNSET, status=result.status, code=result.code or UNSET
    )
