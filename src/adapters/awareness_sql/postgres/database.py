"""A PostgreSQL database as a `Database`: transactions that know whose they are, and look-ups that share round trips."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Sequence
from weakref import WeakKeyDictionary, WeakValueDictionary

from awareness_core.errors import StoreUnavailable
from awareness_core.tenants import CompanyId
from awareness_sql.crossings import Crossing
from awareness_sql.engine import Connection, Parameters, Statement, Value
from awareness_sql.one_of import KEYS
from awareness_sql.postgres.address import Address
from awareness_sql.postgres.connection import PostgresConnection, read_all
from awareness_sql.postgres.dialect import compiled
from awareness_sql.postgres.driver import Driver, connect
from awareness_sql.postgres.pool import Pool, is_lost
from awareness_sql.postgres.precedence import Precedence, noting_refusals, precedence
from awareness_sql.postgres.refusals import DRIVER_ERRORS, refuse
from awareness_sql.postgres.roles import require_fit_role
from awareness_sql.postgres.round_trips import RoundTrips
from awareness_sql.postgres.shared_commit import FRESH, SharedCommit
from awareness_sql.rows import Row
from awareness_sql.storable import is_storable

_FOUND_AT_ONCE = 256
_GLANCES = 4
_LOOK_UP_PATIENCE = 5.0
"""Seconds that a look-up waits for the server. Requests queue up behind it, so it is short."""

_ROLLBACK_PATIENCE = 2.0


class PostgresDatabase:
    """A `Database`. Nothing is opened before it is needed, and what was lost is opened anew at the next use.

    One event loop at a time. Look-ups have a connection of their own: whoever calls must be found out also while all
    others are busy.
    """

    def __init__(self, address: Address) -> None:
        self._shown = address.shown
        new_connection = functools.partial(connect, address)
        self._pool = Pool(new_connection, size=address.pool_size, shown=address.shown)
        self._look_ups = Pool(new_connection, size=1, shown=address.shown)
        # Apart from the others, as between transactions those are nobody's.
        self._glances = Pool(new_connection, size=_GLANCES, shown=address.shown)
        self._claims: WeakKeyDictionary[Driver, CompanyId] = WeakKeyDictionary()
        self._finders: dict[Crossing, RoundTrips[str, Row | None]] = {}
        self._writes: WeakValueDictionary[CompanyId, SharedCommit] = WeakValueDictionary()
        self._patience = address.statement_timeout
        self._endings: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def reading(self, company_id: CompanyId | None) -> AsyncIterator[Connection]:
        """See `Database`."""
        begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT {_claim(company_id)}"
        driver = await self._begin(begin)
        try:
            yield PostgresConnection(driver, self._shown)
        except BaseException:
            await self._give_up(driver)
            raise
        # What was read is known, so nobody has to wait for the end of the transaction.
        ending = asyncio.create_task(self._give_up(driver))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    @contextlib.asynccontextmanager
    async def writing(self, company_id: CompanyId | None) -> AsyncIterator[Connection]:
        """See `Database`. A transaction of one company waits for those before it, at most a statement's time, and
        may share their commit.

        It sees what other companies commit meanwhile; it reads nothing of theirs but which addresses they hold, and
        there a constraint has the last word. PostgreSQL ends one of two transactions that wait for each other. Both
        become `ConstraintViolated`, for the use case to load, decide and write again; the third time it is alone.
        """
        if company_id is None:
            async with self._transaction(f"BEGIN; SELECT {_claim(company_id)}") as driver:
                yield PostgresConnection(driver, self._shown)
            return
        writes = self._writes.get(company_id)
        if writes is None:
            begin = functools.partial(_begin_writing, company_id)
            writes = SharedCommit(self._pool, begin, shown=self._shown, patience=self._patience)
            self._writes[company_id] = writes
        with noting_refusals():
            async with writes.transaction(precedence()) as driver:
                yield PostgresConnection(driver, self._shown, has_savepoint=True)

    async def fetch(
        self,
        company_id: CompanyId,
        statement: Statement,
        parameters: Parameters,
        read: Callable[[Row], Value],
    ) -> list[Value]:
        """See `Database`. A connection stays claimed, so that a company that asks again waits for one round trip."""
        ready = compiled(statement)
        arguments = ready.arguments(parameters)

        async def claim_and_fetch(driver: Driver) -> list[Row]:
            if self._claims.get(driver) != company_id:
                await driver.execute(f"SELECT {_claim(company_id, for_good=True)}")
                self._claims[driver] = company_id
            return await driver.fetch(ready.sql, *arguments)

        driver, rows = await self._glances.take(
            claim_and_fetch, preferred=lambda driver: self._claims.get(driver) == company_id
        )
        self._glances.give_back(driver)
        return await read_all(rows, read)

    async def look_up(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> Value | None:
        """See `Database`."""
        ready = compiled(statement)
        rows = await self._ask(self._pool, ready.sql, ready.arguments(parameters))
        return read(rows[0]) if rows else None

    async def find(self, crossing: Crossing, key: str, read: Callable[[Row], Value]) -> Value | None:
        """See `Database`. Keys that are asked for together share a round trip."""
        if not is_storable(key):
            return None
        finder = self._finders.get(crossing)
        if finder is None:
            ask = functools.partial(self._find_all, crossing)
            finder = self._finders[crossing] = RoundTrips(ask, at_once=_FOUND_AT_ONCE)
        row = await finder(key)
        return None if row is None else read(row)

    async def check(self) -> None:
        """See `Database`: refuses a role that row-level security says nothing to."""
        driver, _ = await self._pool.take(lambda driver: require_fit_role(driver, self._shown))
        self._pool.give_back(driver)

    async def require_writable(self) -> None:
        """See `Database`: refuses a standby, and a database that was set read-only."""
        driver, rows = await self._pool.take(lambda driver: driver.fetch("SHOW transaction_read_only"))
        is_writable = rows[0][0] == "off"
        if not is_writable:
            # It may stay so for as long as the connection lives.
            driver.terminate()
        self._pool.give_back(driver)
        if not is_writable:
            raise StoreUnavailable(
                f"The database {self._shown} takes no writes now: it is a standby, or was set read-only."
            )

    async def close(self) -> None:
        """See `Database`. A later use opens connections again."""
        for finder in self._finders.values():
            await finder.close()
        for writes in list(self._writes.values()):
            await writes.close()
        loop = asyncio.get_running_loop()
        endings = [ending for ending in self._endings if ending.get_loop() is loop]
        await asyncio.gather(*endings, return_exceptions=True)
        self._endings.clear()
        await self._look_ups.close()
        await self._glances.close()
        await self._pool.close()

    @contextlib.asynccontextmanager
    async def _transaction(self, begin: str) -> AsyncIterator[Driver]:
        driver = await self._begin(begin)
        try:
            yield driver
        except BaseException:
            await self._give_up(driver)
            raise
        try:
            await self._commit(driver)
        finally:
            self._pool.give_back(driver)

    async def _begin(self, begin: str) -> Driver:
        driver, _ = await self._pool.take(lambda driver: driver.execute(begin))
        return driver

    async def _give_up(self, driver: Driver) -> None:
        """End the transaction without its writes; where that cannot be done, by closing the connection."""
        try:
            async with asyncio.timeout(_ROLLBACK_PATIENCE):
                await driver.execute("ROLLBACK")
        except DRIVER_ERRORS:
            driver.terminate()
        except BaseException:
            driver.terminate()
            raise
        finally:
            self._pool.give_back(driver)

    async def _commit(self, driver: Driver) -> None:
        try:
            tag = await driver.execute("COMMIT")
        except DRIVER_ERRORS as error:
            refuse(error, self._shown, is_lost=is_lost(driver, error))
        except BaseException:
            # It may be committed or not, but it is over.
            driver.terminate()
            raise
        if tag != "COMMIT":
            # PostgreSQL answers ROLLBACK, and does it, when a statement failed whose error somebody swallowed.
            raise RuntimeError("a transaction was to be committed after one of its statements had failed")

    async def _find_all(self, crossing: Crossing, keys: Sequence[str]) -> list[Row | None]:
        ready = compiled(crossing)
        position = [column.name for column in crossing.query.selected_columns].index(crossing.column.name)
        rows = await self._ask(self._look_ups, ready.sql, ready.arguments({KEYS: list(set(keys))}))
        by_key = {row[position]: row for row in rows}
        return list(map(by_key.get, keys))

    async def _ask(self, pool: Pool, sql: str, arguments: Sequence[object]) -> list[Row]:
        async def fetch(driver: Driver) -> list[Row]:
            async with asyncio.timeout(_LOOK_UP_PATIENCE):
                return await driver.fetch(sql, *arguments)

        driver, rows = await pool.take(fetch)
        pool.give_back(driver)
        return rows


def _begin_writing(company_id: CompanyId, precedence: Precedence) -> str:
    # The last statement's tag tells whether the company exists, so all this takes one round trip.
    return "; ".join(
        [
            "BEGIN",
            precedence.sql,
            f"SELECT {_claim(company_id)}, {_lock(company_id)}",
            FRESH,
            f"SELECT FROM companies WHERE id = {_text(company_id)}",
        ]
    )


def _claim(company_id: CompanyId | None, *, for_good: bool = False) -> str:
    """Whom row-level security is to show what until the transaction ends, or `for_good`: between transactions."""
    if company_id is None:
        return "set_config('app.operator', 'on', true)"
    return f"set_config('app.tenant', {_text(company_id)}, {'false' if for_good else 'true'})"


def _lock(company_id: CompanyId) -> str:
    """Make the transactions of one company run one after the other.

    A lock on its row would do that too, but it is a write: a transaction that changes nothing would wait for the disk.
    Two companies whose numbers happen to be equal wait for each other, and no harm is done.
    """
    return f"pg_advisory_xact_lock({_COMPANY_LOCK}, hashtext({_text(company_id)}))"


_COMPANY_LOCK = 0x61776172
"""Sets the locks of companies apart from whatever else is locked in the same database."""


def _text(value: str) -> str:
    """A text in SQL that runs without parameters. Nothing of it is left to be taken for SQL."""
    encoded = value.encode("utf-8", "backslashreplace").replace(b"\0", b"\\0")
    return f"convert_from(decode('{encoded.hex()}', 'hex'), 'UTF8')"
