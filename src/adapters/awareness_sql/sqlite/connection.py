"""One SQLite transaction behind the seam. Statements run in the event loop; long ones let it go on in between."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import islice
from pathlib import Path

from awareness_sql.engine import Parameters, Statement, Value
from awareness_sql.rows import Row
from awareness_sql.sqlite.dialect import compiled
from awareness_sql.sqlite.refusals import refuse

_KEYS_AT_ONCE = 1000
_ROWS_AT_ONCE = 200
_LONGEST_HOLD = 0.005
"""Seconds that the event loop is kept, about; then others run before the next rows or the next statement."""


class SqliteConnection:
    """A `Connection` on an open transaction, which it neither begins nor ends."""

    keys_at_once = _KEYS_AT_ONCE

    def __init__(self, driver: sqlite3.Connection, path: Path) -> None:
        self._driver = driver
        self._path = path
        self._held_since = time.monotonic()
        self.leaves_no_trace = False
        """Whether somebody asked for that."""

    async def fetch(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> list[Value]:
        """See `Connection`."""
        ready = compiled(statement)
        found: list[Value] = []
        await self._let_others_run()
        try:
            cursor = self._driver.execute(ready.sql, ready.arguments(parameters))
            with contextlib.closing(cursor):
                while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                    found.extend(map(read, rows))
                    await self._let_others_run()
        except sqlite3.Error as error:
            refuse(error, self._path)
        return found

    async def run(self, statement: Statement, parameters: Parameters) -> int:
        """See `Connection`."""
        ready = compiled(statement)
        await self._let_others_run()
        try:
            return self._driver.execute(ready.sql, ready.arguments(parameters)).rowcount
        except sqlite3.Error as error:
            refuse(error, self._path)

    async def run_many(self, statement: Statement, rows: Iterable[Parameters]) -> int:
        """See `Connection`."""
        ready = compiled(statement)
        arguments = ready.arguments_of_each(rows)
        written = 0
        while batch := list(islice(arguments, _ROWS_AT_ONCE)):
            await self._let_others_run()
            try:
                written += self._driver.executemany(ready.sql, batch).rowcount
            except sqlite3.Error as error:
                refuse(error, self._path)
        return written

    async def run_unordered(self, statement: Statement, rows: Iterable[Parameters]) -> int:
        """See `Connection`."""
        return await self.run_many(statement, rows)

    @contextlib.asynccontextmanager
    async def all_or_nothing(self) -> AsyncIterator[None]:
        """See `Connection`."""
        self._control("SAVEPOINT part")
        try:
            yield
        except BaseException:
            # After a full disk SQLite may have rolled back the whole transaction, and this savepoint with it.
            if self._driver.in_transaction:
                self._control("ROLLBACK TO part")
                self._control("RELEASE part")
            raise
        self._control("RELEASE part")

    def leave_no_trace(self) -> None:
        """See `Connection`. In the file removed rows are overwritten anyway; the log is emptied after the commit."""
        self.leaves_no_trace = True

    async def _let_others_run(self) -> None:
        if time.monotonic() - self._held_since > _LONGEST_HOLD:
            await asyncio.sleep(0)
            self._held_since = time.monotonic()

    def _control(self, command: str) -> None:
        try:
            self._driver.execute(command)
        except sqlite3.Error as error:
            refuse(error, self._path)
