"""Sessions of the portal: how a token is made and recognised, and when a session is over.

The token is 256 random bits that only the browser holds; what is kept is its SHA-256, which nobody can turn back and
which needs no salt, as nobody can guess 256 bits either. The token that a form carries is derived from it, so that
nothing else has to be kept. Cookies are the portal's business.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime, timedelta
from typing import NewType

import attrs

from awareness_core.emails import EmailAddress
from awareness_core.employees import Access, Employee, EmployeeId, access
from awareness_core.tenants import Company, CompanyId

SessionDigest = NewType("SessionDigest", str)
"""The SHA-256 of a session's token, in hexadecimal."""

TOKEN_BYTES = 32
CHOOSING = timedelta(minutes=30)
"""So long after logging in with a temporary password one may choose one's own."""

_MAX_TOKEN = 64
_NOTED_EVERY = timedelta(minutes=1)
_NOTED_PARTS = 10


@attrs.frozen(kw_only=True)
class SessionPolicy:
    """When sessions end by themselves: `idle` after the last request, and `lifetime` after the login at the latest."""

    idle: timedelta = timedelta(hours=1)
    lifetime: timedelta = timedelta(hours=12)


@attrs.frozen(kw_only=True)
class Session:
    """Somebody who logged in. `must_choose` is one with a temporary password, who may choose a password and no more.

    `is_sso` is one whom their company's identity provider sent: they have no password here, and choose none.
    """

    digest: SessionDigest
    employee_id: EmployeeId
    must_choose: bool
    is_sso: bool = False
    created_at: datetime
    seen_at: datetime
    expires_at: datetime


@attrs.frozen(kw_only=True)
class Membership:
    """Somebody of some company; what is found out about them stands in that company's transactions."""

    company_id: CompanyId
    employee_id: EmployeeId


def spell_token(entropy: bytes) -> str:
    """The token for `TOKEN_BYTES` random bytes, fit for a cookie."""
    if len(entropy) != TOKEN_BYTES:
        raise ValueError(f"a token takes {TOKEN_BYTES} random bytes, not {len(entropy)}")
    return base64.urlsafe_b64encode(entropy).decode("ascii").rstrip("=")


def digest_token(token: str) -> SessionDigest:
    """What is kept of a token. Total: a cookie may hold anything."""
    kept = token[: _MAX_TOKEN + 1].encode("utf-8", "surrogatepass")
    return SessionDigest(hashlib.sha256(kept).hexdigest())


def form_token(token: str) -> str:
    """What a form must carry to be taken from whoever holds `token`. It tells nothing of the token itself."""
    key = token.encode("utf-8", "surrogatepass")
    return hmac.digest(key, b"awareness form", "sha256").hex()


def is_from_form(sent: str, token: str) -> bool:
    """Whether `sent` is the form token of `token`. Constant time."""
    return hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), form_token(token).encode())


def account_subject(email: EmailAddress) -> str:
    """Under which name attempts to log in with that address are counted, so that no counter holds addresses."""
    return f"login:{hashlib.sha256(email.key.encode()).hexdigest()}"


def client_subject(subject: str) -> str:
    """Under which name failures to log in are counted for a client, so that they are not those of anything else."""
    return f"login from {subject}"


def begin_session(
    digest: SessionDigest,
    employee_id: EmployeeId,
    *,
    policy: SessionPolicy,
    now: datetime,
    is_sso: bool = False,
) -> Session:
    """The session of somebody with a password of their own, or sent by their company's provider."""
    return Session(
        digest=digest,
        employee_id=employee_id,
        must_choose=False,
        is_sso=is_sso,
        created_at=now,
        seen_at=now,
        expires_at=now + policy.lifetime,
    )


def begin_choosing(
    digest: SessionDigest, employee_id: EmployeeId, *, until: datetime, now: datetime
) -> Session:
    """The session of somebody with a temporary password, which expires at `until`."""
    return Session(
        digest=digest,
        employee_id=employee_id,
        must_choose=True,
        created_at=now,
        seen_at=now,
        expires_at=min(now + CHOOSING, until),
    )


def is_over(session: Session, *, policy: SessionPolicy, now: datetime) -> bool:
    """Whether it ended by itself."""
    return now >= session.expires_at or now >= session.seen_at + policy.idle


def admits(session: Session, person: Employee, company: Company) -> bool:
    """Whether the session still opens anything to this person.

    Somebody archived, or moved to single sign-on or from it, is out; whoever chose a password elsewhere is to log in
    with it.
    """
    wanted = Access.AWAITING_ACCESS if session.must_choose else Access.LOGGED_IN
    if session.is_sso:
        wanted = Access.SSO
    return person.is_active and access(person, company) is wanted


def use_is_worth_noting(session: Session, *, policy: SessionPolicy, now: datetime) -> bool:
    """Whether a request is so much later than the last one noted that it is worth a write."""
    return now - session.seen_at >= min(_NOTED_EVERY, policy.idle / _NOTED_PARTS)
