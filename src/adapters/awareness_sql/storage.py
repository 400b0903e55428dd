"""From a database URL to the six ports that a database serves."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from awareness_core.ports import QuotaCounter
from awareness_sql.api_keys import SqlApiKeys
from awareness_sql.companies import SqlCompanies
from awareness_sql.engine import Database
from awareness_sql.identity import SqlIdentityProviders
from awareness_sql.portal import SqlVisitors
from awareness_sql.sources import SqlSources
from awareness_sql.sqlite.database import SqliteDatabase
from awareness_sql.sqlite.file import path_from
from awareness_sql.store import SqlStore
from awareness_sql.urls import names_postgres, parsed_url


class SharedQuotaCounter(QuotaCounter, Protocol):
    """A `QuotaCounter` that has connections to let go of."""

    async def aclose(self) -> None:
        """Let go of them."""


class SqlStorage:
    """`companies`, `api_keys`, `sources`, `identity_providers`, `visitors` and `store` of one database.

    An asynchronous context manager that closes it.

    `quota` counts in the same database, where several processes use it; it raises `StoreUnavailable` when that is away.
    """

    def __init__(self, database: Database, *, quota: SharedQuotaCounter | None = None) -> None:
        self._database = database
        self.quota = quota
        self.companies = SqlCompanies(database)
        self.api_keys = SqlApiKeys(database)
        self.store = SqlStore(database)
        self.sources = SqlSources(database)
        self.visitors = SqlVisitors(database)
        self.identity_providers = SqlIdentityProviders(database)

    async def close(self) -> None:
        """Write what is remembered, and let go of all connections and files."""
        if self.quota is not None:
            await self.quota.aclose()
        await self.api_keys.close()
        await self.sources.close()
        await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def open_storage(url: str) -> SqlStorage:
    """The database at `url`: `sqlite:///awareness.db` or `postgresql://user:password@host/awareness`.

    Touches nothing: a database that is away is found out about, and come back to, when it is used. Raises `ValueError`
    for a URL that names no database this package knows, `ModuleNotFoundError` saying what to install for PostgreSQL
    without its driver.
    """
    if not names_postgres(url):
        return SqlStorage(SqliteDatabase(path_from(parsed_url(url))))
    # Only who uses PostgreSQL needs its driver.
    from awareness_sql.postgres.address import parse_address  # noqa: PLC0415
    from awareness_sql.postgres.database import PostgresDatabase  # noqa: PLC0415
    from awareness_sql.postgres.quota import PostgresQuotaCounter  # noqa: PLC0415

    address = parse_address(url)
    return SqlStorage(PostgresDatabase(address), quota=PostgresQuotaCounter(address))
