"""Waiting for what happens in its own time, often in another process: ask again until it is so, or fail."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

PATIENCE_S = 20.0


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Return as soon as the condition holds. Raises `TimeoutError` when it does not within 20 seconds."""
    async with asyncio.timeout(PATIENCE_S):
        while not await is_so():  # noqa: ASYNC110 - what is waited for happens in another process
            await asyncio.sleep(0.005)


def until_now(is_so: Callable[[], bool]) -> None:
    """The same without an event loop."""
    give_up_at = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > give_up_at:
            raise TimeoutError
        time.sleep(0.005)
