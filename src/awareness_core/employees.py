"""An employee of a company: the record callers send, the person stored, and how the first changes the second.

State is a table (`TRANSITIONS`); access is derived from facts and stored nowhere. What is refused here: matching
records to people (`matching`), and deciding about many at once (`sync`).
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NewType

import attrs

from awareness_core.absent import ABSENT, Absent
from awareness_core.emails import EmailAddress
from awareness_core.sectors import SectorId, SectorReference
from awareness_core.tenants import Company
from awareness_core.texts import folded_name

EmployeeId = NewType("EmployeeId", str)


class EmployeeState(enum.Enum):
    """The only stored states (reference 3)."""

    # Members are one of a kind; the hash of an enumeration takes ten times as long.
    __hash__ = object.__hash__

    ACTIVE = "active"
    ARCHIVED = "archived"


# An enumeration looks its members up anew each time that they are named.
_ACTIVE = EmployeeState.ACTIVE


class Access(enum.Enum):
    """How an employee gets in. Derived by `access`."""

    SSO = "sso"
    LOGGED_IN = "logged_in"
    AWAITING_ACCESS = "awaiting_access"


class Presence(enum.Enum):
    """What a record says of a person's being there: `active` true, false, or not said."""

    __hash__ = object.__hash__

    PRESENT = "present"
    LEAVING = "leaving"
    UNSTATED = "unstated"


class Action(enum.Enum):
    """What became of one record (reference 2.2)."""

    __hash__ = object.__hash__

    CREATED = "created"
    UPDATED = "updated"
    REACTIVATED = "reactivated"
    SKIPPED = "skipped"
    DEACTIVATED = "deactivated"
    FAILED = "failed"


@attrs.frozen(kw_only=True)
class Transition:
    """Where a state goes and what that is called. `UPDATED` is `SKIPPED` when no field differs."""

    next: EmployeeState | None
    action: Action


TRANSITIONS: Mapping[tuple[EmployeeState | None, Presence], Transition] = MappingProxyType(
    {
        (None, Presence.PRESENT): Transition(next=EmployeeState.ACTIVE, action=Action.CREATED),
        (None, Presence.UNSTATED): Transition(next=EmployeeState.ACTIVE, action=Action.CREATED),
        (None, Presence.LEAVING): Transition(next=None, action=Action.SKIPPED),
        (EmployeeState.ACTIVE, Presence.PRESENT): Transition(
            next=EmployeeState.ACTIVE, action=Action.UPDATED
        ),
        (EmployeeState.ACTIVE, Presence.UNSTATED): Transition(
            next=EmployeeState.ACTIVE, action=Action.UPDATED
        ),
        (EmployeeState.ACTIVE, Presence.LEAVING): Transition(
            next=EmployeeState.ARCHIVED, action=Action.DEACTIVATED
        ),
        (EmployeeState.ARCHIVED, Presence.PRESENT): Transition(
            next=EmployeeState.ACTIVE, action=Action.REACTIVATED
        ),
        (EmployeeState.ARCHIVED, Presence.UNSTATED): Transition(
            next=EmployeeState.ARCHIVED, action=Action.UPDATED
        ),
        (EmployeeState.ARCHIVED, Presence.LEAVING): Transition(
            next=EmployeeState.ARCHIVED, action=Action.UPDATED
        ),
    }
)
"""Every state meets every presence (Choice: decisions/006; the reference names the actions, not when)."""


@attrs.frozen(kw_only=True)
class EmployeeRecord:
    """One line of a directory, checked and in normal form (reference 2.1); `awareness_core.records` makes it.

    An optional field is `ABSENT` (leave what is stored), None (clear it) or a text. `external_id` is never cleared by a
    record, so None means that none was given. `fingerprint` is the digest of how the record was spelt, see
    `records.fingerprint_of`.
    """

    email: EmailAddress
    last_name: str
    first_name: str
    external_id: str | None = None
    job_title: str | Absent | None = ABSENT
    phone: str | Absent | None = ABSENT
    address: str | Absent | None = ABSENT
    sector: SectorReference | Absent | None = ABSENT
    presence: Presence = Presence.UNSTATED
    fingerprint: bytes | None = attrs.field(default=None, eq=False, repr=False)


@attrs.frozen(kw_only=True)
class InvitationHistory:
    """What became of the invitations of one person; all None for somebody never invited.

    `last_attempt_at` counts failed attempts too. `live_until` is when the last mailed temporary password that is still
    good expires; archiving and the first login clear it. Another address clears all three.
    """

    last_attempt_at: datetime | None = None
    last_sent_at: datetime | None = None
    live_until: datetime | None = None


@attrs.frozen(kw_only=True)
class Employee:
    """One person of one company. All times are aware, in UTC.

    `first_login_at` is history and outlasts archiving; `has_password` does not. An archived person keeps an address but
    does not hold it: another person, of any company, may.
    """

    id: EmployeeId
    external_id: str | None = None
    email: EmailAddress
    last_name: str
    first_name: str
    job_title: str | None = None
    phone: str | None = None
    address: str | None = None
    sector_id: SectorId | None = None
    state: EmployeeState = EmployeeState.ACTIVE
    first_login_at: datetime | None = None
    has_password: bool = False
    invitation: InvitationHistory = InvitationHistory()
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None = None

    @property
    def is_active(self) -> bool:
        """Whether the person is there, and therefore holds their address."""
        return self.state is _ACTIVE


def access(employee: Employee, company: Company) -> Access | None:
    """How the person gets in, or None for an archived one who does not (Choice: decisions/006)."""
    if employee.email.domain in company.sso_domains:
        return Access.SSO
    if employee.first_login_at is not None and employee.has_password:
        return Access.LOGGED_IN
    return Access.AWAITING_ACCESS if employee.is_active else None


def hire(
    record: EmployeeRecord, *, employee_id: EmployeeId, sector_id: SectorId | None, now: datetime
) -> Employee:
    """The active employee whom a record creates."""
    return Employee(
        id=employee_id,
        external_id=record.external_id,
        email=record.email,
        last_name=record.last_name,
        first_name=record.first_name,
        job_title=record.job_title or None,
        phone=record.phone or None,
        address=record.address or None,
        sector_id=sector_id,
        created_at=now,
        updated_at=now,
    )


def amend(
    employee: Employee,
    record: EmployeeRecord,
    *,
    email: EmailAddress,
    sector_id: SectorId | None,
    next_state: EmployeeState,
    now: datetime,
) -> Employee:
    """`employee` as the record wants them; the very same value when nothing differs.

    `email` and `sector_id` are what the plan decided, which may not be what the record says. With another address they
    were never invited: what was mailed, was mailed to somebody else's mailbox as far as anybody knows.
    """
    keeps_address = email.key == employee.email.key
    amended = attrs.evolve(
        employee,
        invitation=employee.invitation if keeps_address else InvitationHistory(),
        external_id=employee.external_id if record.external_id is None else record.external_id,
        email=email,
        last_name=record.last_name,
        first_name=record.first_name,
        job_title=employee.job_title if record.job_title is ABSENT else record.job_title,
        phone=employee.phone if record.phone is ABSENT else record.phone,
        address=employee.address if record.address is ABSENT else record.address,
        sector_id=sector_id,
    )
    if next_state is not employee.state:
        amended = (
            archive(amended, now=now)
            if next_state is EmployeeState.ARCHIVED
            else attrs.evolve(amended, state=EmployeeState.ACTIVE, archived_at=None)
        )
    return employee if amended == employee else attrs.evolve(amended, updated_at=now)


def archive(employee: Employee, *, now: datetime) -> Employee:
    """The same person, gone: they hold no address and their password opens nothing any more."""
    return attrs.evolve(
        employee,
        state=EmployeeState.ARCHIVED,
        archived_at=now,
        has_password=False,
        invitation=attrs.evolve(employee.invitation, live_until=None),
        updated_at=now,
    )


def log_in_first(employee: Employee, *, now: datetime) -> Employee:
    """The same person with a password of their own; the date of the very first login is kept."""
    return attrs.evolve(
        employee,
        first_login_at=employee.first_login_at or now,
        has_password=True,
        invitation=attrs.evolve(employee.invitation, live_until=None),
        updated_at=now,
    )


def forget_password(employee: Employee, *, now: datetime) -> Employee:
    """The same person without the password that they chose; they begin anew with a mailed one."""
    return attrs.evolve(
        employee,
        has_password=False,
        invitation=attrs.evolve(employee.invitation, live_until=None),
        updated_at=now,
    )


def let_in_first(employee: Employee, *, now: datetime) -> Employee:
    """The same person, let in by their company's identity provider for the first time; no password comes of it."""
    return attrs.evolve(
        employee,
        first_login_at=employee.first_login_at or now,
        invitation=attrs.evolve(employee.invitation, live_until=None),
        updated_at=now,
    )


@attrs.frozen(kw_only=True)
class EmployeeChange:
    """One row to write: an insertion when `before` is None, else an update.

    `fingerprint` is that of the record that says exactly what `after` is, when there is one; every write without one
    forgets the fingerprint kept of that person.
    """

    before: Employee | None
    after: Employee
    fingerprint: bytes | None = attrs.field(default=None, repr=False)

    @property
    def ends_access(self) -> bool:
        """Whether passwords and sessions of the person must end with this change."""
        if self.before is None:
            return False
        is_leaving = self.before.is_active and not self.after.is_active
        return is_leaving or (self.before.has_password and not self.after.has_password)

    @property
    def moves_address(self) -> bool:
        """Whether temporary passwords of the person, mailed to another address, must end with this change."""
        return self.before is not None and self.before.email.key != self.after.email.key


def search_text(employee: Employee) -> str:
    """What a free-text search looks in: names and address, folded like the search itself."""
    first, last = _folded(employee.first_name), _folded(employee.last_name)
    return f"{first} {last} {first} {folded_name(employee.email.text)}"


# Many people share few names.
_folded = functools.lru_cache(maxsize=4096)(folded_name)


def address_precedence(person: Employee) -> tuple[bool, float, str]:
    """Which of several people an address means: the highest; the active one, else the most recently archived."""
    archived_at = 0.0 if person.archived_at is None else person.archived_at.timestamp()
    return (person.is_active, archived_at, person.id)
