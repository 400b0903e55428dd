"""Connections that read: each sees one moment's state for as long as it is used, and waits for no writer."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable

from awareness_core.errors import StoreUnavailable
from awareness_sql.engine import Parameters, Statement, Value
from awareness_sql.rows import Row
from awareness_sql.sqlite.connection import SqliteConnection
from awareness_sql.sqlite.dialect import compiled
from awareness_sql.sqlite.file import DatabaseFile, Identity
from awareness_sql.sqlite.patience import deadline, when_free
from awareness_sql.sqlite.refusals import refuse

_KEPT = 8
"""Idle connections kept for the next readings. There may be more at once; those are closed after use."""


class Readers:
    """All reading connections to one file. They are opened when needed, and anew when the file is another one."""

    def __init__(self, file: DatabaseFile, *, patience: float) -> None:
        self._file = file
        self._patience = patience
        self._identity: Identity | None = None
        self._idle: list[sqlite3.Connection] = []

    @contextlib.asynccontextmanager
    async def reading(self) -> AsyncIterator[SqliteConnection]:
        """A transaction that only reads, of the state at this moment."""
        driver = await self._patiently(self._begin)
        identity = self._identity
        try:
            yield SqliteConnection(driver, self._file.path)
        except StoreUnavailable:
            # Whatever is wrong with the file, a new connection does not remember it.
            driver.close()
            raise
        except BaseException:
            self._end(driver, identity)
            raise
        self._end(driver, identity)

    async def look_up(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> Value | None:
        """The first row of what is committed at this moment. A single statement needs no transaction around it."""
        ready = compiled(statement)
        arguments = ready.arguments(parameters)
        row = await self._patiently(lambda: self._first_row(ready.sql, arguments))
        return None if row is None else read(row)

    def close(self) -> None:
        """Close the idle connections. Those in use are closed by their readings' ends."""
        self._identity = None
        while self._idle:
            self._idle.pop().close()

    def _first_row(self, sql: str, arguments: list[object]) -> Row | None:
        driver = self._take()
        try:
            row: Row | None = driver.execute(sql, arguments).fetchone()
        except sqlite3.Error:
            driver.close()
            raise
        self._idle.append(driver)
        return row

    async def _patiently(self, attempt: Callable[[], Value]) -> Value:
        try:
            return await when_free(attempt, is_over=deadline(self._patience))
        except sqlite3.Error as error:
            refuse(error, self._file.path)

    def _take(self) -> sqlite3.Connection:
        identity = self._file.identity()
        if identity != self._identity:
            self.close()
            self._identity = identity
        return self._idle.pop() if self._idle else self._file.connect_to_read()

    def _begin(self) -> sqlite3.Connection:
        driver = self._take()
        try:
            driver.execute("BEGIN")
            # SQLite fixes the moment at the first read, not at BEGIN.
            driver.execute("SELECT 1 FROM sqlite_schema").fetchone()
        except BaseException:
            driver.close()
            raise
        return driver

    def _end(self, driver: sqlite3.Connection, identity: Identity | None) -> None:
        try:
            driver.execute("COMMIT")
        except sqlite3.Error:
            driver.close()
            return
        if identity == self._identity and len(self._idle) < _KEPT:
            self._idle.append(driver)
        else:
            driver.close()
