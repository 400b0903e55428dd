"""The driver's connection: how it is opened, and what this package needs of it.

asyncpg ships no types, so what is used of it is spelt out here, and nothing else is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Protocol, cast

import asyncpg

from awareness_core.errors import StoreUnavailable
from awareness_sql.postgres.address import Address
from awareness_sql.postgres.refusals import DRIVER_ERRORS, refuse_connection
from awareness_sql.rows import Row

_LEFT_ALONE_FOR = 60
"""Seconds after which a transaction is given up that nothing is asked of, as its program hangs or is gone."""

_GRACE = 5
"""Seconds more than the server has until the program itself gives a statement up, as the server must be gone."""


class Driver(Protocol):
    """One connection, for one statement at a time. Every method may raise any of `DRIVER_ERRORS`."""

    async def execute(self, query: str, *arguments: object) -> str:
        """Run a statement, or without arguments several, and return the tag of the last, such as `UPDATE 3`."""

    async def fetch(self, query: str, *arguments: object) -> list[Row]:
        """All rows."""

    async def executemany(self, command: str, args: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of `args`, in order, without waiting in between."""

    async def fetchmany(self, query: str, args: Iterable[Sequence[object]]) -> list[Row]:
        """The same, and all rows of all of them."""

    async def copy_records_to_table(
        self, table_name: str, *, records: Iterable[Sequence[object]], columns: Sequence[str]
    ) -> str:
        """COPY."""

    def is_closed(self) -> bool:
        """Whether it was closed from either side, as far as the event loop has heard."""

    def is_in_transaction(self) -> bool:
        """Whether a transaction was begun and not ended; not to be trusted while a statement is running."""

    async def close(self) -> None:
        """Say goodbye and wait for what is under way."""

    def terminate(self) -> None:
        """Close it without waiting."""


async def connect(address: Address, *, statement_timeout: int | None = None) -> Driver:
    """A new connection. Raises `StoreUnavailable`.

    `statement_timeout` in seconds takes the place of the address' own, 0 means none.
    """
    patience = address.statement_timeout if statement_timeout is None else statement_timeout
    try:
        async with asyncio.timeout(address.connect_timeout):
            driver = await asyncpg.connect(
                address.dsn,
                timeout=None,
                command_timeout=patience + _GRACE if patience else None,
                max_cached_statement_lifetime=0,
                server_settings={
                    "application_name": "awareness",
                    "client_min_messages": "warning",
                    "idle_in_transaction_session_timeout": f"{_LEFT_ALONE_FOR}s",
                    # Statements are short; compiling one takes longer than running it.
                    "jit": "off",
                    # They are prepared once, and the best plan is the same for every company.
                    "plan_cache_mode": "force_generic_plan",
                    "statement_timeout": f"{patience}s",
                },
            )
    except (*DRIVER_ERRORS, ValueError) as error:
        refuse_connection(error, address.shown)
    encoding: str = driver.get_settings().server_encoding
    if encoding != "UTF8":
        driver.terminate()
        raise StoreUnavailable(
            f"The database {address.shown} keeps texts as {encoding}; create one with ENCODING 'UTF8'."
        )
    return cast("Driver", driver)
