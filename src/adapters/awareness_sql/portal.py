"""Questions about people who log in, as SQL: what is kept of them, and who is at the door."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import bindparam, select

from awareness_core.campaigns import Campaign, CampaignId
from awareness_core.chosen_passwords import ChosenPassword
from awareness_core.emails import EmailKey
from awareness_core.employees import EmployeeId
from awareness_core.identity_providers import IdentityProvider
from awareness_core.sessions import Membership, Session, SessionDigest
from awareness_sql.crossings import HOLDERS_BY_ADDRESS, SESSIONS_BY_DIGEST, Crossing
from awareness_sql.engine import Database
from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.portal_rows import (
    CHOSEN_COLUMNS,
    PROVIDER_COLUMNS,
    SESSION_COLUMNS,
    chosen_from_row,
    member_from_row,
    provider_from_row,
    session_from_row,
)
from awareness_sql.result_rows import CAMPAIGN_COLUMNS, campaign_from_row
from awareness_sql.results import SqlResults
from awareness_sql.storable import is_storable
from awareness_sql.tables import campaigns, chosen_passwords, sessions

_CHOSEN = select(*CHOSEN_COLUMNS).where(chosen_passwords.c.employee_id == bindparam("employee_id"))
_SESSION = select(*SESSION_COLUMNS).where(sessions.c.digest == bindparam("digest"))
_PROVIDER = select(*PROVIDER_COLUMNS)
_CAMPAIGNS = select(*CAMPAIGN_COLUMNS).where(OneOf(campaigns.c.id, KEYS))


class SqlVisitors:
    """`Visitors` in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_holder(self, email_key: EmailKey) -> Membership | None:
        """See `Visitors`."""
        return await self._find(HOLDERS_BY_ADDRESS, email_key)

    async def find_session(self, digest: SessionDigest) -> Membership | None:
        """See `Visitors`."""
        return await self._find(SESSIONS_BY_DIGEST, digest)

    async def _find(self, crossing: Crossing, key: str) -> Membership | None:
        return await self._database.find(crossing, key, member_from_row) if is_storable(key) else None


class SqlPortalReading(SqlResults):
    """The `PortalReading` through one connection."""

    async def chosen_password(self, employee_id: EmployeeId) -> ChosenPassword | None:
        """See `PortalReading`."""
        for kept in await self._tenant.fetch(_CHOSEN, chosen_from_row, {"employee_id": employee_id}):
            return kept
        return None

    async def session(self, digest: SessionDigest) -> Session | None:
        """See `PortalReading`."""
        if not is_storable(digest):
            return None
        for session in await self._tenant.fetch(_SESSION, session_from_row, {"digest": digest}):
            return session
        return None

    async def identity_provider(self) -> IdentityProvider | None:
        """See `PortalReading`."""
        for provider in await self._tenant.fetch(_PROVIDER, provider_from_row):
            return provider
        return None

    async def campaigns_by_id(self, ids: Collection[CampaignId]) -> Sequence[Campaign]:
        """See `PortalReading`."""
        return await self._tenant.fetch_keys(_CAMPAIGNS, campaign_from_row, frozenset(ids))
