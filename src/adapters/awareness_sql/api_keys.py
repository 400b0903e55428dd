"""API keys in a database: the hottest read, and the one write that may be lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime

import attrs
from sqlalchemy import bindparam, func, insert, or_, select, update

from awareness_core.api_keys import ApiKey, ApiKeyId, PublicId
from awareness_core.errors import NotFound, StoreUnavailable
from awareness_core.tenants import CompanyId
from awareness_sql.access_rows import API_KEY_COLUMNS, api_key_from_row, api_key_row
from awareness_sql.crossings import API_KEYS_BY_PUBLIC_ID
from awareness_sql.engine import NO_PARAMETERS, Database
from awareness_sql.rows import Row, milliseconds_from
from awareness_sql.tables import api_keys, companies

_log = logging.getLogger(__name__)

_COMPANY = select(companies.c.id).where(companies.c.id == bindparam("company_id"))
_NEW = insert(api_keys)
_ALL = select(*API_KEY_COLUMNS).order_by(api_keys.c.created_at, api_keys.c.id)
_OF_COMPANY = _ALL.where(api_keys.c.company_id == bindparam("company_id"))
_REVOKED = (
    update(api_keys)
    .where(api_keys.c.id == bindparam("id"))
    .values(revoked_at=func.coalesce(api_keys.c.revoked_at, bindparam("at")))
)
_USED = (
    update(api_keys)
    .where(
        api_keys.c.id == bindparam("id"),
        or_(api_keys.c.last_used_at.is_(None), api_keys.c.last_used_at < bindparam("at")),
    )
    .values(last_used_at=bindparam("at"))
)


class SqlApiKeys:
    """`ApiKeys` in a database.

    Uses are remembered here and written behind the caller's back, many in one transaction, so that no request waits for
    a disk because a key was used. What this process remembers is part of what it answers. A use that could not be
    written is tried again with the next one, and lost when the program ends first.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._uses: dict[ApiKeyId, datetime] = {}
        self._writing: asyncio.Task[None] | None = None

    async def add_api_key(self, key: ApiKey) -> None:
        """See `ApiKeys`. Raises `ConstraintViolated` for an id or a public id that exists."""
        async with self._database.writing(None) as connection:
            if not await connection.fetch(_COMPANY, {"company_id": key.company_id}, _id_from_row):
                raise NotFound("No such company.")
            await connection.run(_NEW, api_key_row(key))

    async def find_api_key(self, public_id: PublicId) -> ApiKey | None:
        """See `ApiKeys`."""
        remembered = self._uses
        key = await self._database.find(API_KEYS_BY_PUBLIC_ID, public_id, api_key_from_row)
        return None if key is None else self._with_use(key, remembered)

    async def list_api_keys(self, company_id: CompanyId | None = None) -> Sequence[ApiKey]:
        """See `ApiKeys`."""
        remembered = self._uses
        async with self._database.reading(None) as connection:
            if company_id is None:
                found = await connection.fetch(_ALL, NO_PARAMETERS, api_key_from_row)
            else:
                found = await connection.fetch(_OF_COMPANY, {"company_id": company_id}, api_key_from_row)
        return [self._with_use(key, remembered) for key in found]

    async def revoke_api_key(self, key_id: ApiKeyId, *, at: datetime) -> bool:
        """See `ApiKeys`. The date of the first revocation is kept."""
        async with self._database.writing(None) as connection:
            return bool(await connection.run(_REVOKED, {"id": key_id, "at": milliseconds_from(at)}))

    async def record_api_key_use(self, key_id: ApiKeyId, *, at: datetime) -> None:
        """See `ApiKeys`. Never waits, and never fails; nothing for a key that does not exist."""
        self._uses[key_id] = max(at, self._uses.get(key_id, at))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write_uses())

    async def close(self) -> None:
        """Write what is remembered."""
        if self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])

    async def _write_uses(self) -> None:
        while self._uses:
            written = dict(self._uses)
            rows = [{"id": key_id, "at": milliseconds_from(at)} for key_id, at in written.items()]
            try:
                async with self._database.writing(None) as connection:
                    await connection.run_many(_USED, rows)
            except StoreUnavailable as error:
                _log.warning("The last use of %d API keys was not written: %s", len(rows), error)
                return
            # Another one, as whoever reads at this moment may have read what was there before the commit.
            self._uses = {key_id: at for key_id, at in self._uses.items() if written.get(key_id) != at}

    def _with_use(self, key: ApiKey, remembered: Mapping[ApiKeyId, datetime]) -> ApiKey:
        """The key with the last use there was when it was read; `remembered` is what was before reading began."""
        for uses in (remembered, self._uses):
            used_at = uses.get(key.id)
            if used_at is not None and (key.last_used_at is None or key.last_used_at < used_at):
                key = attrs.evolve(key, last_used_at=used_at)
        return key


def _id_from_row(row: Row) -> str:
    return str(row[0])
