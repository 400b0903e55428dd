"""A PostgreSQL database opened for a migration, which no other process begins meanwhile."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection, NullPool, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from awareness_sql.postgres.address import Address
from awareness_sql.postgres.driver import connect
from awareness_sql.postgres.refusals import refuse_connection

_PATIENCE = 60
"""Seconds to wait for another migration, or for what a running service does with a table."""

_MIGRATION_LOCK = 0x6177616D
_Result = TypeVar("_Result")


def run_migrating(address: Address, work: Callable[[Connection], _Result]) -> _Result:
    """The result of `work` on a connection in a transaction, which is committed when it returns.

    Runs in a thread, as whoever calls may be in an event loop. Raises `StoreUnavailable`.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="awareness-migrate") as thread:
        return thread.submit(lambda: asyncio.run(_run(address, work))).result()


async def _run(address: Address, work: Callable[[Connection], _Result]) -> _Result:
    # Steps take as long as they take; only waiting is limited.
    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=functools.partial(connect, address, statement_timeout=0),
        poolclass=NullPool,
    )
    try:
        async with engine.begin() as connection:
            await connection.execute(text(f"SET LOCAL lock_timeout = '{_PATIENCE}s'"))
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            return await connection.run_sync(work)
    except DBAPIError as error:
        # SQLAlchemy wraps the driver's error twice.
        cause = error.orig.__cause__ if error.orig is not None else None
        refuse_connection(cause if isinstance(cause, Exception) else error, address.shown)
    finally:
        await engine.dispose()
