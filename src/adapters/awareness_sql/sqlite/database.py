"""The SQLite file as a `Database`: readers beside one writer."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from awareness_sql.engine import Connection, Parameters, Statement, Value
from awareness_sql.rows import Row
from awareness_sql.sqlite.connection import SqliteConnection
from awareness_sql.sqlite.file import DatabaseFile
from awareness_sql.sqlite.group_commit import GroupCommit
from awareness_sql.sqlite.patience import PATIENCE
from awareness_sql.sqlite.readers import Readers


class SqliteDatabase:
    """A `Database`. Nothing is opened before it is needed, and what has failed is opened anew at the next use.

    One event loop at a time. Other processes may use the file at the same time; they are waited for with `patience`, in
    seconds.
    """

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self._file = DatabaseFile(path)
        self._readers = Readers(self._file, patience=patience)
        self._writer = GroupCommit(self._file, patience=patience, close_readers=self._readers.close)

    def reading(self) -> AbstractAsyncContextManager[Connection]:
        """See `Database`."""
        return self._readers.reading()

    @contextlib.asynccontextmanager
    async def writing(self) -> AsyncIterator[Connection]:
        """See `Database`."""
        async with self._writer.transaction() as driver:
            yield SqliteConnection(driver, self._file.path)

    async def look_up(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> Value | None:
        """See `Database`."""
        return await self._readers.look_up(statement, parameters, read)

    async def close(self) -> None:
        """See `Database`. A later use opens the file again."""
        await self._writer.close()
        self._readers.close()
