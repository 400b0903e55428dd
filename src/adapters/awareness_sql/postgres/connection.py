"""One PostgreSQL transaction behind the seam."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from itertools import chain, islice
from typing import TypeVar

from sqlalchemy import Insert

from awareness_sql.engine import Parameters, Statement, Value
from awareness_sql.postgres.dialect import CompiledStatement, compiled, compiled_to_count, compiled_together
from awareness_sql.postgres.driver import Driver
from awareness_sql.postgres.pool import is_lost
from awareness_sql.postgres.refusals import DRIVER_ERRORS, refuse
from awareness_sql.rows import Row

_SAVEPOINT = "SAVEPOINT part"
"""What every writing transaction begins with, so that its first `all_or_nothing` costs no round trip."""

_KEYS_AT_ONCE = 10_000
_ROWS_AT_ONCE = 500
"""A few milliseconds' work each."""

_FEW = 200
"""So many rows are inserted one by one, in one round trip; more are copied.

Measured, µs of the server's and the program's CPU a row: with 20 rows 21 + 3 and 37 + 12, with 100 22 + 3 and 20 + 5,
with 2,500 22 + 2 and 14 + 1. COPY into the table itself, which row-level security does not allow, takes 12 + 1.
"""

_Result = TypeVar("_Result")


class PostgresConnection:
    """A `Connection` on an open transaction, which it neither begins nor ends.

    An error that is not met by `all_or_nothing` is the end of the transaction: PostgreSQL refuses every statement after
    it. `has_savepoint` says that `SAVEPOINT part` has been run, and nothing after it.
    """

    keys_at_once = _KEYS_AT_ONCE

    def __init__(self, driver: Driver, shown: str, *, has_savepoint: bool = False) -> None:
        self._driver = driver
        self._shown = shown
        self._has_fresh_savepoint = has_savepoint

    async def fetch(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> list[Value]:
        """See `Connection`."""
        ready = compiled(statement)
        return await read_all(
            await self._driven(self._driver.fetch(ready.sql, *ready.arguments(parameters))), read
        )

    async def run(self, statement: Statement, parameters: Parameters) -> int:
        """See `Connection`."""
        self._has_fresh_savepoint = False
        ready = compiled(statement)
        tag = await self._driven(self._driver.execute(ready.sql, *ready.arguments(parameters)))
        return _count_in(tag)

    async def run_many(self, statement: Statement, rows: Iterable[Parameters]) -> int:
        """See `Connection`."""
        remaining = iter(rows)
        if isinstance(statement, Insert):
            return await self._insert(compiled(statement), remaining)
        first = list(islice(remaining, 1))
        if not first:
            return 0
        self._has_fresh_savepoint = False
        ready = compiled_to_count(statement)
        arguments = ready.arguments_of_each(chain(first, remaining))
        return len(await self._driven(self._driver.fetchmany(ready.sql, arguments)))

    async def run_unordered(self, statement: Statement, rows: Iterable[Parameters]) -> int:
        """See `Connection`."""
        remaining = iter(rows)
        ready = compiled_together(statement)
        written = 0
        while part := list(islice(remaining, _ROWS_AT_ONCE)):
            self._has_fresh_savepoint = False
            tag = await self._driven(self._driver.execute(ready.sql, *ready.lists(part)))
            written += _count_in(tag)
        return written

    @contextlib.asynccontextmanager
    async def all_or_nothing(self) -> AsyncIterator[None]:
        """See `Connection`."""
        is_first = self._has_fresh_savepoint
        self._has_fresh_savepoint = False
        if not is_first:
            await self._driven(self._driver.execute(_SAVEPOINT))
        try:
            yield
        except BaseException:
            if not self._driver.is_closed():
                await self._driven(self._driver.execute("ROLLBACK TO part"))
            raise
        if not is_first:
            await self._driven(self._driver.execute("RELEASE part"))

    def leave_no_trace(self) -> None:
        """Nothing: removed rows are the server's to clean up, and its write-ahead log is its own."""

    async def _insert(self, ready: CompiledStatement, rows: Iterable[Parameters]) -> int:
        arguments = ready.arguments_of_each(rows)
        few = list(islice(arguments, _FEW))
        if not few:
            return 0
        self._has_fresh_savepoint = False
        if len(few) < _FEW or ready.table is None:
            counted = _Counted(chain(few, arguments))
            await self._driven(self._driver.executemany(ready.sql, counted))
            return counted.count
        return await self._copy(ready.table, ready.columns, chain(few, arguments))

    async def _copy(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
        """Into a temporary table of this connection first, as COPY does not look at row-level security."""
        incoming, names = f"incoming_{table}", ", ".join(columns)
        await self._driven(
            self._driver.execute(
                f"CREATE TEMPORARY TABLE IF NOT EXISTS {incoming} (LIKE {table}) ON COMMIT DELETE ROWS"
            )
        )
        await self._driven(self._driver.copy_records_to_table(incoming, records=rows, columns=columns))
        tag = await self._driven(
            self._driver.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM {incoming}")  # noqa: S608 -- names of ours
        )
        # Plans are kept, and those that were made while the table was small do not fit it any more.
        await self._driven(self._driver.execute(f"TRUNCATE {incoming}; DISCARD PLANS"))
        return _count_in(tag)

    async def _driven(self, call: Awaitable[_Result]) -> _Result:
        try:
            return await call
        except DRIVER_ERRORS as error:
            has_gone = is_lost(self._driver, error)
            if has_gone:
                # A goodbye would not be heard, and nobody else may be given this one.
                self._driver.terminate()
            refuse(error, self._shown, is_lost=has_gone)


async def read_all(rows: Sequence[Row], read: Callable[[Row], Value]) -> list[Value]:
    """Each row read by `read`. The event loop goes on in between when there are many."""
    found: list[Value] = []
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        if start:
            await asyncio.sleep(0)
        found.extend(map(read, rows[start : start + _ROWS_AT_ONCE]))
    return found


class _Counted:
    """Rows on their way, and how many there were."""

    def __init__(self, rows: Iterable[Sequence[object]]) -> None:
        self._rows = iter(rows)
        self.count = 0

    def __iter__(self) -> _Counted:
        return self

    def __next__(self) -> Sequence[object]:
        row = next(self._rows)
        self.count += 1
        return row


def _count_in(tag: str) -> int:
    # Such as `UPDATE 3`, `INSERT 0 3`.
    return int(tag.rpartition(" ")[2])
