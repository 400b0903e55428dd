"""The SQLite file as a `Database`: readers beside one writer."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from sqlalchemy import bindparam, select

from awareness_core.errors import NotFound
from awareness_core.tenants import CompanyId
from awareness_sql.crossings import Crossing
from awareness_sql.engine import Connection, Parameters, Statement, Value
from awareness_sql.rows import Row
from awareness_sql.sqlite.connection import SqliteConnection
from awareness_sql.sqlite.file import DatabaseFile
from awareness_sql.sqlite.group_commit import GroupCommit
from awareness_sql.sqlite.patience import PATIENCE
from awareness_sql.sqlite.readers import Readers
from awareness_sql.tables import companies

_COMPANY = select(companies.c.id).where(companies.c.id == bindparam("id"))


class SqliteDatabase:
    """A `Database`. Nothing is opened before it is needed, and what has failed is opened anew at the next use.

    One event loop at a time. Other processes may use the file at the same time; they are waited for with `patience`, in
    seconds.
    """

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self._file = DatabaseFile(path)
        self._readers = Readers(self._file, patience=patience)
        self._writer = GroupCommit(self._file, patience=patience, close_readers=self._readers.close)

    def reading(self, company_id: CompanyId | None) -> AbstractAsyncContextManager[Connection]:  # noqa: ARG002
        """See `Database`. What is another company's is kept apart by `tenancy` alone."""
        return self._readers.reading()

    @contextlib.asynccontextmanager
    async def writing(self, company_id: CompanyId | None) -> AsyncIterator[Connection]:
        """See `Database`. All writes run one after the other, whosever they are."""
        async with self._writer.transaction() as driver:
            connection = SqliteConnection(driver, self._file.path)
            if company_id is not None and not await connection.fetch(_COMPANY, {"id": company_id}, tuple):
                raise NotFound("No such company.")
            yield connection
            if connection.leaves_no_trace:
                self._writer.empty_log_soon()

    async def fetch(
        self,
        company_id: CompanyId,
        statement: Statement,
        parameters: Parameters,
        read: Callable[[Row], Value],
    ) -> list[Value]:
        """See `Database`."""
        async with self.reading(company_id) as connection:
            return await connection.fetch(statement, parameters, read)

    async def require_writable(self) -> None:
        """See `Database`."""
        self._file.require_writable()

    async def look_up(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> Value | None:
        """See `Database`."""
        return await self._readers.look_up(statement, parameters, read)

    async def find(self, crossing: Crossing, key: str, read: Callable[[Row], Value]) -> Value | None:
        """See `Database`."""
        return await self._readers.find(crossing.for_one, key, read)

    async def check(self) -> None:
        """Nothing: a file has no roles."""

    async def close(self) -> None:
        """See `Database`. A later use opens the file again."""
        await self._writer.close()
        self._readers.close()
