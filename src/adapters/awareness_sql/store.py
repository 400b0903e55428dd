"""The store in a database: which connection a reading or a transaction gets, and whether the schema is current."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from sqlalchemy import select

from awareness_core.ports import Reading, Transaction, inside_transaction, refuse_inside_transaction
from awareness_core.tenants import CompanyId
from awareness_sql.engine import NO_PARAMETERS, Database
from awareness_sql.glance import Glance
from awareness_sql.reading import SqlReading
from awareness_sql.rows import Row
from awareness_sql.tables import SCHEMA_VERSION, schema_version
from awareness_sql.tenancy import Tenant
from awareness_sql.transaction import SqlTransaction
from awareness_sql.unfit import DatabaseUnfit

_VERSION = select(schema_version.c.version_num)


class SqlStore:
    """`Store` in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextlib.asynccontextmanager
    async def reading(self, company_id: CompanyId) -> AsyncIterator[Reading]:
        """See `Store`. The moment is that of opening."""
        async with self._database.reading(company_id) as connection:
            yield SqlReading(Tenant(connection, company_id))

    def glance(self, company_id: CompanyId) -> Reading:
        """See `Store`."""
        return SqlReading(Tenant(Glance(self._database, company_id), company_id))

    @contextlib.asynccontextmanager
    async def transaction(self, company_id: CompanyId) -> AsyncIterator[Transaction]:
        """See `Store`. Raises `RuntimeError` inside another transaction, which would wait for itself."""
        refuse_inside_transaction("a store transaction was opened")
        async with self._database.writing(company_id) as connection:
            with inside_transaction():
                yield SqlTransaction(Tenant(connection, company_id))

    async def check(self) -> None:
        """See `Store`. Raises `DatabaseUnfit` for what waiting will not repair."""
        found = await self._database.look_up(_VERSION, NO_PARAMETERS, _first_text)
        if found is None or found < SCHEMA_VERSION:
            raise DatabaseUnfit(
                f"The database has the schema of an older release ({found or 'none'}, needed {SCHEMA_VERSION}); "
                "run `awareness migrate`."
            )
        if found > SCHEMA_VERSION:
            raise DatabaseUnfit(
                f"The database has the schema of a newer release ({found}, known {SCHEMA_VERSION}); "
                "upgrade this program."
            )
        await self._database.require_writable()
        await self._database.check()


def _first_text(row: Row) -> str:
    return str(row[0])
