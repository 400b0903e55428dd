"""Who is invited to get access, in which order, and what is told of the others.

An invitation makes a temporary password and mails it. At most `MAX_PER_CALL` are mailed per call; calling again until
`truncated` is false ends, because whoever was attempted waits `PAUSE` before the next attempt. This module makes no
password and sends nothing (reference 4.3; Choice: decisions/009).
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import attrs

from awareness_core.employees import Access, Employee, EmployeeId, access
from awareness_core.tenants import Company

MAX_PER_CALL = 100
"""Reference 8."""

PAUSE = timedelta(minutes=15)
"""Between two attempts to reach one person, failed ones included."""

_MOMENT = timedelta(milliseconds=1)


class InvitationStatus(enum.Enum):
    """What became of one person in one call."""

    INVITED = "invited"
    SKIPPED = "skipped"
    FAILED = "failed"


class Reason(enum.Enum):
    """Why somebody was skipped or failed: the stable `code` of a result."""

    ALREADY_INVITED = "already_invited"
    RECENTLY_INVITED = "recently_invited"
    ALREADY_LOGGED_IN = "already_logged_in"
    SSO = "sso"
    ARCHIVED = "archived"
    NOT_FOUND = "not_found"
    DUPLICATE = "duplicate"
    DELIVERY_FAILED = "delivery_failed"


@attrs.frozen(kw_only=True)
class InvitationResult:
    """One line of the answer. `email` is None for an id that is not this company's."""

    id: EmployeeId
    email: str | None
    status: InvitationStatus
    code: Reason | None = None


@attrs.frozen(kw_only=True)
class InvitationSummary:
    """The counts of one call; `invited + skipped + failed == total` unless `truncated`."""

    total: int
    invited: int
    skipped: int
    failed: int
    truncated: bool


@attrs.frozen(kw_only=True)
class InvitationPlan:
    """What a call will do. `chosen` are mailed, in that order; `lines` is the answer's order.

    A line is a finished result, or the id of a chosen person whose result depends on the mail.
    """

    chosen: tuple[Employee, ...]
    lines: tuple[InvitationResult | EmployeeId, ...]
    total: int
    truncated: bool


@attrs.frozen(kw_only=True)
class InvitationReport:
    """The answer to one call."""

    summary: InvitationSummary
    results: tuple[InvitationResult, ...]

    @property
    def is_ok(self) -> bool:
        """Whether nobody failed; being skipped is not a failure."""
        return self.summary.failed == 0


def ineligibility(employee: Employee, company: Company, *, force: bool, now: datetime) -> Reason | None:
    """Why this person is not invited now, or None when they are. The rows of the eligibility table, in order."""
    if not employee.is_active:
        return Reason.ARCHIVED
    match access(employee, company):
        case Access.SSO:
            return Reason.SSO
        case Access.LOGGED_IN:
            return Reason.ALREADY_LOGGED_IN
    history = employee.invitation
    if history.last_attempt_at is not None and now - history.last_attempt_at < PAUSE:
        return Reason.RECENTLY_INVITED
    if history.live_until is not None and now < history.live_until and not force:
        return Reason.ALREADY_INVITED
    return None


def plan_invitations(
    employees: Iterable[Employee],
    company: Company,
    *,
    selection: Sequence[EmployeeId] | None = None,
    force: bool = False,
    now: datetime,
    cap: int = MAX_PER_CALL,
) -> InvitationPlan:
    """Whom to invite of `employees`, which hold at least everyone the call could mean.

    With a `selection` every id in it gets a line, in its order; without one, those whom the table would skip are not
    listed, and the lines are in the order of mailing. `total` counts all that were considered, before the cap.
    """
    if selection is None:
        eligible = [
            person for person in employees if ineligibility(person, company, force=force, now=now) is None
        ]
        chosen = sorted(eligible, key=_urgency)[:cap]
        return InvitationPlan(
            chosen=tuple(chosen),
            lines=tuple(person.id for person in chosen),
            total=len(eligible),
            truncated=len(eligible) > cap,
        )
    people = {person.id: person for person in employees}
    lines = list(_selected_lines(people, company, selection, force=force, now=now))
    eligible = [line for line in lines if isinstance(line, Employee)]
    chosen = sorted(eligible, key=_urgency)[:cap]
    chosen_ids = {person.id for person in chosen}
    return InvitationPlan(
        chosen=tuple(chosen),
        lines=tuple(
            line.id if isinstance(line, Employee) else line
            for line in lines
            if not isinstance(line, Employee) or line.id in chosen_ids
        ),
        total=len(selection),
        truncated=len(eligible) > cap,
    )


def settle(plan: InvitationPlan, accepted: Mapping[EmployeeId, bool]) -> InvitationReport:
    """The answer, once it is known for every chosen person whether their mail was accepted."""
    people = {person.id: person for person in plan.chosen}
    results = tuple(
        line
        if isinstance(line, InvitationResult)
        else InvitationResult(
            id=line,
            email=people[line].email.text,
            status=InvitationStatus.INVITED if accepted[line] else InvitationStatus.FAILED,
            code=None if accepted[line] else Reason.DELIVERY_FAILED,
        )
        for line in plan.lines
    )
    counts = dict.fromkeys(InvitationStatus, 0)
    for result in results:
        counts[result.status] += 1
    summary = InvitationSummary(
        total=plan.total,
        invited=counts[InvitationStatus.INVITED],
        skipped=counts[InvitationStatus.SKIPPED],
        failed=counts[InvitationStatus.FAILED],
        truncated=plan.truncated,
    )
    return InvitationReport(summary=summary, results=results)


def last_attempts(tried: Sequence[bool], *, began_at: datetime, ended_at: datetime) -> Sequence[datetime]:
    """When those whom a call did not reach were last attempted, one after the other as they were to be mailed.

    Whoever was tried: at its end. Whoever's turn did not come: at its beginning, each a moment after the one before,
    so that next time they come in the same order, and before whoever was tried.
    """
    places = itertools.count()
    untried = [None if was_tried else began_at + next(places) * _MOMENT for was_tried in tried]
    last = max(ended_at, began_at + next(places) * _MOMENT)
    return [moment or last for moment in untried]


def _selected_lines(
    people: Mapping[EmployeeId, Employee],
    company: Company,
    selection: Sequence[EmployeeId],
    *,
    force: bool,
    now: datetime,
) -> Iterable[InvitationResult | Employee]:
    seen: set[EmployeeId] = set()
    for employee_id in selection:
        person = people.get(employee_id)
        if employee_id in seen:
            yield _skipped(employee_id, person, Reason.DUPLICATE)
            continue
        seen.add(employee_id)
        reason = Reason.NOT_FOUND if person is None else ineligibility(person, company, force=force, now=now)
        if person is not None and reason is None:
            yield person
        else:
            yield _skipped(employee_id, person, reason)


def _skipped(employee_id: EmployeeId, person: Employee | None, reason: Reason | None) -> InvitationResult:
    return InvitationResult(
        id=employee_id,
        email=None if person is None else person.email.text,
        status=InvitationStatus.SKIPPED,
        code=reason,
    )


def _urgency(person: Employee) -> tuple[bool, float, str]:
    attempted_at = person.invitation.last_attempt_at
    return (attempted_at is not None, 0.0 if attempted_at is None else attempted_at.timestamp(), person.id)
