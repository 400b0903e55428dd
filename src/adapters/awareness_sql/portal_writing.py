"""Writes about people who log in, as SQL."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, select, true

from awareness_core.chosen_passwords import ChosenPassword
from awareness_core.employees import EmployeeId
from awareness_core.identity_providers import IdentityProvider
from awareness_core.sessions import Session, SessionDigest
from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.portal_rows import chosen_row, provider_row, session_row
from awareness_sql.rows import Row, milliseconds_from
from awareness_sql.tables import chosen_passwords, identity_providers, sessions
from awareness_sql.tenancy import Tenant

_NEW_CHOSEN = insert(chosen_passwords)
_CHOSEN_GONE = delete(chosen_passwords).where(OneOf(chosen_passwords.c.employee_id, KEYS))
_NEW_SESSION = insert(sessions)
_SESSIONS_GONE = delete(sessions).where(OneOf(sessions.c.digest, KEYS))
_LOGGED_OUT = delete(sessions).where(OneOf(sessions.c.employee_id, KEYS))
_CHOOSING_GONE = delete(sessions).where(
    OneOf(sessions.c.employee_id, KEYS), sessions.c.must_choose.is_(true())
)
_SSO_GONE = delete(sessions).where(sessions.c.is_sso.is_(true()))
_NEW_PROVIDER = insert(identity_providers)
_PROVIDER_GONE = delete(identity_providers)
_EXPIRED = (
    select(sessions.c.digest)
    .where(sessions.c.expires_at <= bindparam("at"))
    .order_by(sessions.c.expires_at, sessions.c.digest)
    .limit(bindparam("at_most"))
)


class SqlPortalWriting:
    """The `PortalWriting` through one connection."""

    _tenant: Tenant

    async def save_chosen_password(self, password: ChosenPassword) -> None:
        """See `PortalWriting`."""
        async with self._tenant.all_or_nothing():
            await self._tenant.run_keys(_CHOSEN_GONE, [password.employee_id])
            await self._tenant.run(_NEW_CHOSEN, chosen_row(password))

    async def save_session(self, session: Session) -> None:
        """See `PortalWriting`."""
        async with self._tenant.all_or_nothing():
            await self.end_session(session.digest)
            await self._tenant.run(_NEW_SESSION, session_row(session))

    async def end_session(self, digest: SessionDigest) -> None:
        """See `PortalWriting`."""
        await self._tenant.run_keys(_SESSIONS_GONE, [digest])

    async def end_sessions(self, employee_ids: Collection[EmployeeId]) -> None:
        """See `PortalWriting`."""
        await self._tenant.run_keys(_LOGGED_OUT, employee_ids)

    async def end_sso_sessions(self) -> None:
        """See `PortalWriting`."""
        await self._tenant.run(_SSO_GONE)

    async def purge_sessions(self, *, at: datetime, at_most: int) -> int:
        """See `PortalWriting`."""
        limits = {"at": milliseconds_from(at), "at_most": at_most}
        return await self._tenant.run_keys(
            _SESSIONS_GONE, await self._tenant.fetch(_EXPIRED, _digest_from_row, limits)
        )

    async def save_identity_provider(self, provider: IdentityProvider) -> None:
        """See `PortalWriting`."""
        await self.forget_identity_provider()
        await self._tenant.run(_NEW_PROVIDER, provider_row(provider))

    async def forget_identity_provider(self) -> None:
        """See `PortalWriting`."""
        await self._tenant.run(_PROVIDER_GONE)

    async def lock_out(self, employee_ids: Collection[EmployeeId]) -> None:
        """Destroy what these people could log in with, and the sessions that they have."""
        await self._tenant.run_keys(_CHOSEN_GONE, employee_ids)
        await self.end_sessions(employee_ids)

    async def end_choosing(self, employee_ids: Collection[EmployeeId]) -> None:
        """Destroy the sessions that these people have with a temporary password."""
        await self._tenant.run_keys(_CHOOSING_GONE, employee_ids)


def _digest_from_row(row: Row) -> SessionDigest:
    return SessionDigest(row[0])
