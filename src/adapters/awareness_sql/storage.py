"""From a database URL to the three ports that a database serves."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from awareness_sql.api_keys import SqlApiKeys
from awareness_sql.companies import SqlCompanies
from awareness_sql.engine import Database
from awareness_sql.sqlite.database import SqliteDatabase
from awareness_sql.sqlite.file import path_from
from awareness_sql.store import SqlStore
from awareness_sql.urls import parsed_url


class SqlStorage:
    """`companies`, `api_keys` and `store` of one database; an asynchronous context manager that closes it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.companies = SqlCompanies(database)
        self.api_keys = SqlApiKeys(database)
        self.store = SqlStore(database)

    async def close(self) -> None:
        """Write what is remembered, and let go of all connections and files."""
        await self.api_keys.close()
        await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def open_storage(url: str) -> SqlStorage:
    """The database at `url`, such as `sqlite:///awareness.db`. Touches nothing: a database that is away is found out
    about, and come back to, when it is used.

    Raises `ValueError` for a URL that names no database this package knows.
    """
    return SqlStorage(SqliteDatabase(path_from(parsed_url(url))))
