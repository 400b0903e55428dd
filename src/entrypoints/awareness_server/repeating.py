"""Doing something again and again beside whatever else the process does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import structlog

_log = structlog.get_logger("awareness_server.repeating")


@asynccontextmanager
async def repeating(look: Callable[[], Awaitable[None]], *, every: float) -> AsyncIterator[None]:
    """Await `look()` at once and then with so many seconds in between, while the block runs.

    What it raises is logged, and the next look comes all the same.
    """
    task = asyncio.get_running_loop().create_task(_repeat(look, every))
    try:
        yield
    finally:
        task.cancel()
        # Not awaited itself: its being cancelled would not be told from our own.
        await asyncio.wait({task})


async def _repeat(look: Callable[[], Awaitable[None]], every: float) -> None:
    while True:
        try:
            await look()
        except Exception:  # noqa: BLE001 (whatever went wrong this time, the next look is due)
            _log.exception("chore_failed")
        await asyncio.sleep(every)
