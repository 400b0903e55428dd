"""What people log in with as rows, and back; as `rows` does with all that is a company's own business."""

from __future__ import annotations

from awareness_core.chosen_passwords import ChosenPassword
from awareness_core.identity_providers import IdentityProvider
from awareness_core.sessions import Membership, Session
from awareness_sql.rows import Row, RowValues, milliseconds_from, moment_from
from awareness_sql.tables import chosen_passwords, identity_providers, sessions

CHOSEN_COLUMNS = (chosen_passwords.c.employee_id, chosen_passwords.c.hash, chosen_passwords.c.changed_at)


def chosen_row(password: ChosenPassword) -> RowValues:
    """All columns of `chosen_passwords` but the company's."""
    return {
        "employee_id": password.employee_id,
        "hash": password.hash,
        "changed_at": milliseconds_from(password.changed_at),
    }


def chosen_from_row(row: Row) -> ChosenPassword:
    """The value of a row of `CHOSEN_COLUMNS`."""
    employee_id, hashed, changed_at = row
    return ChosenPassword(employee_id=employee_id, hash=hashed, changed_at=moment_from(changed_at))


SESSION_COLUMNS = (
    sessions.c.digest,
    sessions.c.employee_id,
    sessions.c.must_choose,
    sessions.c.created_at,
    sessions.c.seen_at,
    sessions.c.expires_at,
    sessions.c.is_sso,
)


def session_row(session: Session) -> RowValues:
    """All columns of `sessions` but the company's."""
    return {
        "digest": session.digest,
        "employee_id": session.employee_id,
        "must_choose": session.must_choose,
        "created_at": milliseconds_from(session.created_at),
        "seen_at": milliseconds_from(session.seen_at),
        "expires_at": milliseconds_from(session.expires_at),
        "is_sso": session.is_sso,
    }


def session_from_row(row: Row) -> Session:
    """The value of a row of `SESSION_COLUMNS`."""
    digest, employee_id, must_choose, created_at, seen_at, expires_at, is_sso = row
    return Session(
        digest=digest,
        employee_id=employee_id,
        must_choose=bool(must_choose),
        is_sso=bool(is_sso),
        created_at=moment_from(created_at),
        seen_at=moment_from(seen_at),
        expires_at=moment_from(expires_at),
    )


PROVIDER_COLUMNS = (
    identity_providers.c.company_id,
    identity_providers.c.issuer,
    identity_providers.c.client_id,
    identity_providers.c.client_secret_file,
    identity_providers.c.created_at,
)


def provider_row(provider: IdentityProvider) -> RowValues:
    """All columns of `identity_providers` but the company's."""
    return {
        "issuer": provider.issuer,
        "client_id": provider.client_id,
        "client_secret_file": provider.client_secret_file,
        "created_at": milliseconds_from(provider.created_at),
    }


def provider_from_row(row: Row) -> IdentityProvider:
    """The value of a row of `PROVIDER_COLUMNS`."""
    company_id, issuer, client_id, client_secret_file, created_at = row
    return IdentityProvider(
        company_id=company_id,
        issuer=issuer,
        client_id=client_id,
        client_secret_file=client_secret_file,
        created_at=moment_from(created_at),
    )


def member_from_row(row: Row) -> Membership:
    """What a question across the wall answers: the key, and of which company who is."""
    _, company_id, employee_id = row
    return Membership(company_id=company_id, employee_id=employee_id)
