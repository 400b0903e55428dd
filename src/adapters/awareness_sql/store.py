"""The store in a database: which connection a reading or a transaction gets, and whether the schema is current."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from sqlalchemy import select

from awareness_core.errors import NotFound, StoreUnavailable
from awareness_core.ports import Reading, Transaction, inside_transaction, refuse_inside_transaction
from awareness_core.tenants import CompanyId
from awareness_sql.engine import NO_PARAMETERS, Database
from awareness_sql.reading import SqlReading
from awareness_sql.rows import Row
from awareness_sql.tables import SCHEMA_VERSION, companies, schema_version
from awareness_sql.tenancy import Tenant
from awareness_sql.transaction import SqlTransaction

# On a database with row locks this is what makes the transactions of one company run one after the other.
_LOCKED_COMPANY = select(companies.c.id).with_for_update()
_VERSION = select(schema_version.c.version_num)


class SqlStore:
    """`Store` in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextlib.asynccontextmanager
    async def reading(self, company_id: CompanyId) -> AsyncIterator[Reading]:
        """See `Store`. The moment is that of opening."""
        async with self._database.reading() as connection:
            yield SqlReading(Tenant(connection, company_id))

    @contextlib.asynccontextmanager
    async def transaction(self, company_id: CompanyId) -> AsyncIterator[Transaction]:
        """See `Store`. Raises `RuntimeError` inside another transaction, which would wait for itself."""
        refuse_inside_transaction("a store transaction was opened")
        async with self._database.writing() as connection:
            tenant = Tenant(connection, company_id)
            if not await tenant.fetch(_LOCKED_COMPANY, _first_text):
                raise NotFound("No such company.")
            with inside_transaction():
                yield SqlTransaction(tenant)

    async def check(self) -> None:
        """See `Store`."""
        found = await self._database.look_up(_VERSION, NO_PARAMETERS, _first_text)
        if found is None or found < SCHEMA_VERSION:
            raise StoreUnavailable(
                f"The database has the schema of an older release ({found or 'none'}, needed {SCHEMA_VERSION}); "
                "run `awareness migrate`."
            )
        if found > SCHEMA_VERSION:
            raise StoreUnavailable(
                f"The database has the schema of a newer release ({found}, known {SCHEMA_VERSION}); "
                "upgrade this program."
            )


def _first_text(row: Row) -> str:
    return str(row[0])
