"""Invitations that were decided on and of which it is not settled yet whether a mail was accepted.

Each is somebody's to mail until a moment. Whoever decided has first claim; when that process died, another takes over
once the moment is past. Here is no password: each attempt makes its own (Choice: decisions/027).
"""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs

from awareness_core.employees import EmployeeId

LEASE = timedelta(minutes=5)
"""So long an attempt may take, at least, before it counts as broken off; several times what one takes."""

FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(hours=1)
GIVE_UP_AFTER = timedelta(days=1)
"""No attempt is made later than this after the decision: a mail that nobody expects any more confuses."""


OVERDUE_AFTER = timedelta(minutes=10)
"""Whoever looks for what is due does so every few seconds: after so long nobody does, or they cannot keep up."""


@attrs.frozen(kw_only=True)
class MailBacklog:
    """How many invitations are pending, and when the first of them is due; it may be somebody's to mail until then."""

    pending: int = 0
    first_due_at: datetime | None = None


def overdue(backlog: MailBacklog, *, now: datetime) -> timedelta:
    """For how long the one that is longest due has been so; zero when none is."""
    return max(now - (backlog.first_due_at or now), timedelta(0))


@attrs.frozen(kw_only=True)
class PendingInvitation:
    """One person's, taken on `attempts` times; until `due_at` it is `holder`'s, or nobody's while it waits."""

    employee_id: EmployeeId
    decided_at: datetime
    attempts: int
    holder: str | None
    due_at: datetime


def decided(employee_id: EmployeeId, *, holder: str, now: datetime) -> PendingInvitation:
    """A new one, whose first attempt `holder` makes now."""
    return PendingInvitation(
        employee_id=employee_id, decided_at=now, attempts=1, holder=holder, due_at=now + LEASE
    )


def claimed(pending: PendingInvitation, *, holder: str, now: datetime) -> PendingInvitation | None:
    """The same with one more attempt, which `holder` makes now; None when it is too late for another."""
    if now - pending.decided_at > GIVE_UP_AFTER:
        return None
    attempts = pending.attempts + 1
    return attrs.evolve(pending, attempts=attempts, holder=holder, due_at=now + lease(attempts))


def lease(attempts: int) -> timedelta:
    """How long the last of so many attempts may take before it counts as broken off.

    It grows like the wait after a refusal: a process that dies of what it mails would mail it every five minutes.
    """
    return max(LEASE, _wait(attempts))


def postponed(pending: PendingInvitation, *, now: datetime) -> PendingInvitation:
    """The same after an attempt that failed for now: the wait doubles each time."""
    return attrs.evolve(pending, holder=None, due_at=now + _wait(pending.attempts))


def passed_over(pending: PendingInvitation, *, now: datetime) -> PendingInvitation:
    """The same when others were tried and its turn did not come; that will come before theirs."""
    return attrs.evolve(pending, holder=None, due_at=now + FIRST_WAIT)


def handed_on(pending: PendingInvitation, *, now: datetime) -> PendingInvitation:
    """The same, to be mailed by whoever looks next: its mail went to an address that is the person's no more."""
    return attrs.evolve(pending, holder=None, due_at=now)


def _wait(attempts: int) -> timedelta:
    return min(FIRST_WAIT * (1 << min(attempts - 1, 10)), LONGEST_WAIT)
