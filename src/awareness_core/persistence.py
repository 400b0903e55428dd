"""Writing down what was done and cannot be undone, though the store is away for a moment, as when it is restarted.

A mail that was accepted stays accepted. The process that knows so tries again for a while: given up at once, everybody
would be mailed again as soon as the attempt counts as broken off (Choice: decisions/027).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from awareness_core.clock_ports import Clock
from awareness_core.errors import StoreUnavailable

PATIENCE = timedelta(seconds=20)
"""So long after the first failure the last attempt begins: with the longest call far less than `outbox.LEASE`."""

FIRST_PAUSE = timedelta(milliseconds=250)
LONGEST_PAUSE = timedelta(seconds=2)


async def persist(clock: Clock, write: Callable[[], Awaitable[None]]) -> None:
    """Await `write()`, again and again while it raises `StoreUnavailable`; raises the last one when `PATIENCE` is over.

    `write` has to be one whole transaction that does no harm a second time: the first may have been committed although
    it failed.
    """
    give_up_at = None
    pause = FIRST_PAUSE
    while True:
        try:
            return await write()
        except StoreUnavailable:
            now = clock.now()
            give_up_at = give_up_at or now + PATIENCE
            if now + pause > give_up_at:
                raise
        await clock.wait(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
