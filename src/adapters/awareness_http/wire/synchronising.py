"""A whole directory as callers send it, and the answer to it (bulk form of reference 4.2; Choice: decisions/007)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs
from msgspec import UNSET, Meta, UnsetType

from awareness_core.invitations import MAX_PER_CALL
from awareness_core.invitations import InvitationSummary as Summary
from awareness_http.wire.counting import SyncSummary
from awareness_http.wire.provisioning import EmployeeFields, SyncResultItem

MAX_RECORDS: Final = 100_000
"""In one JSON body (Choice: decisions/007)."""

MAX_LINES: Final = 1_000_000
"""In one body of lines (Choice: decisions/007)."""


@attrs.frozen(kw_only=True, slots=False)
class SyncOptions:
    """What to do with the records."""

    dry_run: Annotated[
        bool, Meta(description="Only tell what would happen: nothing is written or mailed.")
    ] = False
    deactivate_missing: Annotated[
        bool,
        Meta(
            description="The records are the whole directory: archive active people who carry an external id and are "
            "mentioned by none of them."
        ),
    ] = False
    confirm_deactivations: Annotated[
        Annotated[int, Meta(ge=0)] | UnsetType | None,
        Meta(description="The number that `MASS_DEACTIVATION_BLOCKED` told, to do it all the same."),
    ] = UNSET
    send_invitations: Annotated[
        bool,
        Meta(description="Mail access to those who were created or reactivated, as far as one call may."),
    ] = False

    @property
    def confirmed(self) -> int | None:
        """The number that confirms, if there is one."""
        return self.confirm_deactivations if isinstance(self.confirm_deactivations, int) else None


@attrs.frozen(kw_only=True, slots=False)
class SyncBody(SyncOptions):
    """The records of a directory: one JSON object, or one record a line and {"end": {"count": N}} as the last line.

    Line by line the options are query parameters, and the answer has one result a line, with the summary as its last.
    """

    employees: Annotated[list[EmployeeFields], Meta(max_length=MAX_RECORDS)]


@attrs.frozen(kw_only=True, slots=False)
class SyncInvitations:
    """What became of the invitations of those created or reactivated."""

    total: Annotated[int, Meta(description="How many were created or reactivated.")]
    invited: int
    skipped: int
    failed: int
    truncated: Annotated[bool, Meta(description="Whether somebody was left over: use invite-bulk.")]
    max_per_call: Annotated[int, Meta(description="How many mails one call sends at most.")]


@attrs.frozen(kw_only=True, slots=False)
class SyncTotals:
    """The answer as a whole."""

    ok: Annotated[
        bool, Meta(description="false when a record or an invitation failed; the status is 200 still.")
    ]
    dry_run: bool
    summary: Annotated[
        SyncSummary, Meta(description="`deactivated` includes those archived for not being mentioned.")
    ]
    invitations: Annotated[SyncInvitations | UnsetType, Meta(description="With `send_invitations` only.")] = (
        UNSET
    )


@attrs.frozen(kw_only=True, slots=False)
class SyncAnswer(SyncTotals):
    """What `POST /employees/sync` answers to JSON."""

    results: Annotated[list[SyncResultItem], Meta(description="One a record, in the order sent.")]


def spell_sync_invitations(summary: Summary, *, newcomers: int) -> SyncInvitations:
    """The invitations of a sync; `newcomers` may be more than one call considers."""
    return SyncInvitations(
        total=newcomers,
        invited=summary.invited,
        skipped=summary.skipped,
        failed=summary.failed,
        truncated=summary.truncated or newcomers > summary.total,
        max_per_call=MAX_PER_CALL,
    )
