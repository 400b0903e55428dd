"""Connections that read: each sees one moment's state for as long as it is used, and waits for no writer."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from typing import cast

from awareness_core.errors import StoreUnavailable
from awareness_sql.engine import Parameters, Statement, Value
from awareness_sql.rows import Row
from awareness_sql.sqlite.connection import SqliteConnection
from awareness_sql.sqlite.dialect import compiled
from awareness_sql.sqlite.file import DatabaseFile, Identity
from awareness_sql.sqlite.patience import deadline, when_free
from awareness_sql.sqlite.refusals import is_busy, refuse

_KEPT = 8
"""Idle connections kept for the next readings. There may be more at once; those are closed after use."""

_REMEMBERED = 1000


class Readers:
    """All reading connections to one file. They are opened when needed, and anew when the file is another one."""

    def __init__(self, file: DatabaseFile, *, patience: float) -> None:
        self._file = file
        self._patience = patience
        self._identity: Identity | None = None
        self._idle: list[sqlite3.Connection] = []
        self._witness: sqlite3.Connection | None = None
        self._version: object = None
        self._found: dict[tuple[Statement, str], object] = {}

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

    async def find(self, statement: Statement, key: str, read: Callable[[Row], Value]) -> Value | None:
        """The first row for the parameter `key`, as `look_up`, for what is asked again and again and changes seldom.

        What was found is kept until anybody commits anything to the file, which SQLite tells in half the time.
        """
        found = await self._patiently(lambda: self._found_before(statement, key))
        if found is None:
            found = await self.look_up(statement, {"key": key}, read)
            if found is not None:
                self._found[statement, key] = found
        return cast("Value | None", found)

    def close(self) -> None:
        """Close the idle connections. Those in use are closed by their readings' ends."""
        self._identity = None
        self._found.clear()
        if self._witness is not None:
            self._witness.close()
            self._witness = None
        while self._idle:
            self._idle.pop().close()

    def _first_row(self, sql: str, arguments: Sequence[object]) -> Row | None:
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
            try:
                return attempt()
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise
            return await when_free(attempt, is_over=deadline(self._patience))
        except sqlite3.Error as error:
            refuse(error, self._file.path)

    def _found_before(self, statement: Statement, key: str) -> object:
        self._follow_file()
        if self._witness is None:
            self._witness = self._file.connect_to_read()
        try:
            version = self._witness.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            self._witness.close()
            self._witness = None
            raise
        if version != self._version or len(self._found) >= _REMEMBERED:
            self._version = version
            self._found.clear()
        return self._found.get((statement, key))

    def _take(self) -> sqlite3.Connection:
        self._follow_file()
        return self._idle.pop() if self._idle else self._file.connect_to_read()

    def _follow_file(self) -> None:
        identity = self._file.identity()
        if identity != self._identity:
            self.close()
            self._identity = identity

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
