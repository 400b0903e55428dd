"""Rows to values and back: one of the two places in the project that translate (the other is the wire).

A `*_COLUMNS` tuple is the order in which `*_from_row` reads; a `*_row` is a dictionary by column name, without
`company_id`, which `tenancy` adds. Nothing is checked here: what comes out went in through the core.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from awareness_core.emails import EmailAddress
from awareness_core.employees import Employee, EmployeeChange, EmployeeState, InvitationHistory, search_text
from awareness_core.outbox import PendingInvitation
from awareness_core.passwords import TemporaryPassword
from awareness_core.ports import RosterEntry
from awareness_core.records import UnchangedPerson
from awareness_core.sectors import Sector
from awareness_sql.tables import employees, pending_invitations, sectors, temporary_passwords

Row: TypeAlias = Sequence[Any]
"""What a driver returns: the values of one row in the order of the statement's columns."""

RowValues: TypeAlias = dict[str, object]
"""What a driver is given: values by column name."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_NEVER_INVITED = InvitationHistory()
_STATES = {state.value: state for state in EmployeeState}
_STATE_NAMES = {state: name for name, state in _STATES.items()}


# All rows of one write tell the same few moments.
@functools.lru_cache(maxsize=64)
def milliseconds_from(moment: datetime) -> int:
    """Whole milliseconds since 1970, exact for every year."""
    return (moment - _EPOCH) // _MILLISECOND


def moment_from(milliseconds: int) -> datetime:
    """The moment, aware and in UTC."""
    return _EPOCH + milliseconds * _MILLISECOND


def optional_milliseconds(moment: datetime | None) -> int | None:
    """`milliseconds_from` a moment if there is one."""
    return None if moment is None else milliseconds_from(moment)


def optional_moment(milliseconds: int | None) -> datetime | None:
    """`moment_from` milliseconds if there are any."""
    return None if milliseconds is None else moment_from(milliseconds)


SECTOR_COLUMNS = (sectors.c.id, sectors.c.name)


def sector_row(sector: Sector) -> RowValues:
    """All columns of `sectors` but the company's."""
    return {"id": sector.id, "name": sector.name, "name_key": sector.key}


def sector_from_row(row: Row) -> Sector:
    """The value of a row of `SECTOR_COLUMNS`."""
    return Sector(id=row[0], name=row[1])


EMPLOYEE_COLUMNS = (
    employees.c.id,
    employees.c.external_id,
    employees.c.email,
    employees.c.email_key,
    employees.c.email_domain,
    employees.c.last_name,
    employees.c.first_name,
    employees.c.job_title,
    employees.c.phone,
    employees.c.address,
    employees.c.sector_id,
    employees.c.state,
    employees.c.first_login_at,
    employees.c.has_password,
    employees.c.last_attempt_at,
    employees.c.last_sent_at,
    employees.c.live_until,
    employees.c.created_at,
    employees.c.updated_at,
    employees.c.archived_at,
)


def employee_row(change: EmployeeChange) -> RowValues:
    """All columns of `employees` but the company's, as they are after the change.

    Who holds the address and what a search looks in are derived.
    """
    employee = change.after
    invitation = employee.invitation
    is_active = employee.is_active
    return {
        "id": employee.id,
        "external_id": employee.external_id,
        "email": employee.email.text,
        "email_key": employee.email.key,
        "email_domain": employee.email.domain,
        "held_email_key": employee.email.key if is_active else None,
        "last_name": employee.last_name,
        "first_name": employee.first_name,
        "job_title": employee.job_title,
        "phone": employee.phone,
        "address": employee.address,
        "sector_id": employee.sector_id,
        "state": _STATE_NAMES[employee.state],
        "first_login_at": optional_milliseconds(employee.first_login_at),
        "has_password": employee.has_password,
        "last_attempt_at": optional_milliseconds(invitation.last_attempt_at),
        "last_sent_at": optional_milliseconds(invitation.last_sent_at),
        "live_until": optional_milliseconds(invitation.live_until),
        "created_at": milliseconds_from(employee.created_at),
        "updated_at": milliseconds_from(employee.updated_at),
        "archived_at": optional_milliseconds(employee.archived_at),
        "search_text": search_text(employee),
        "fingerprint": None if change.fingerprint is None else change.fingerprint.hex(),
    }


UNCHANGED_COLUMNS = (
    employees.c.id,
    employees.c.external_id,
    employees.c.email,
    employees.c.email_key,
    employees.c.fingerprint,
)


def unchanged_from_row(row: Row) -> tuple[str | None, UnchangedPerson]:
    """The fingerprint in hexadecimal, if one is kept, and the person of a row of `UNCHANGED_COLUMNS`."""
    employee_id, external_id, email, email_key, fingerprint = row
    return fingerprint, UnchangedPerson(employee_id, external_id, email, email_key)


ROSTER_COLUMNS = (employees.c.id, employees.c.external_id, employees.c.email_key)


def roster_entry_from_row(row: Row) -> RosterEntry:
    """The value of a row of `ROSTER_COLUMNS`."""
    employee_id, external_id, email_key = row
    return RosterEntry(id=employee_id, external_id=external_id, email_key=email_key)


def employee_from_row(row: Row) -> Employee:
    """The value of a row of `EMPLOYEE_COLUMNS`."""
    (
        employee_id,
        external_id,
        email,
        email_key,
        email_domain,
        last_name,
        first_name,
        job_title,
        phone,
        address,
        sector_id,
        state,
        first_login_at,
        has_password,
        last_attempt_at,
        last_sent_at,
        live_until,
        created_at,
        updated_at,
        archived_at,
    ) = row
    return Employee(
        id=employee_id,
        external_id=external_id,
        email=EmailAddress(text=email, key=email_key, domain=email_domain),
        last_name=last_name,
        first_name=first_name,
        job_title=job_title,
        phone=phone,
        address=address,
        sector_id=sector_id,
        state=_STATES[state],
        first_login_at=optional_moment(first_login_at),
        has_password=bool(has_password),
        invitation=_invitation_from(last_attempt_at, last_sent_at, live_until),
        created_at=moment_from(created_at),
        updated_at=moment_from(updated_at),
        archived_at=optional_moment(archived_at),
    )


PASSWORD_COLUMNS = (
    temporary_passwords.c.employee_id,
    temporary_passwords.c.salt,
    temporary_passwords.c.digest,
    temporary_passwords.c.created_at,
    temporary_passwords.c.expires_at,
)


def password_row(password: TemporaryPassword) -> RowValues:
    """All columns of `temporary_passwords` but the company's."""
    return {
        "employee_id": password.employee_id,
        "salt": password.salt,
        "digest": password.digest,
        "created_at": milliseconds_from(password.created_at),
        "expires_at": milliseconds_from(password.expires_at),
    }


PENDING_COLUMNS = (
    pending_invitations.c.employee_id,
    pending_invitations.c.decided_at,
    pending_invitations.c.attempts,
    pending_invitations.c.holder,
    pending_invitations.c.due_at,
)


def pending_row(pending: PendingInvitation) -> RowValues:
    """All columns of `pending_invitations` but the company's."""
    return {
        "employee_id": pending.employee_id,
        "decided_at": milliseconds_from(pending.decided_at),
        "attempts": pending.attempts,
        "holder": pending.holder,
        "due_at": milliseconds_from(pending.due_at),
    }


def pending_from_row(row: Row) -> PendingInvitation:
    """The value of a row of `PENDING_COLUMNS`."""
    employee_id, decided_at, attempts, holder, due_at = row
    return PendingInvitation(
        employee_id=employee_id,
        decided_at=moment_from(decided_at),
        attempts=attempts,
        holder=holder,
        due_at=moment_from(due_at),
    )


def password_from_row(row: Row) -> TemporaryPassword:
    """The value of a row of `PASSWORD_COLUMNS`."""
    employee_id, salt, digest, created_at, expires_at = row
    return TemporaryPassword(
        employee_id=employee_id,
        salt=salt,
        digest=digest,
        created_at=moment_from(created_at),
        expires_at=moment_from(expires_at),
    )


def _invitation_from(
    last_attempt_at: int | None, last_sent_at: int | None, live_until: int | None
) -> InvitationHistory:
    if last_attempt_at is None and last_sent_at is None and live_until is None:
        return _NEVER_INVITED
    return InvitationHistory(
        last_attempt_at=optional_moment(last_attempt_at),
        last_sent_at=optional_moment(last_sent_at),
        live_until=optional_moment(live_until),
    )
