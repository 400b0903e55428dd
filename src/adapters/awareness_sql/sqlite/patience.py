"""Waiting for other connections without holding up the event loop: SQLite has no queue, so everybody asks again.

SQLite's own busy time-out would sleep in the loop's thread.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Callable

from awareness_sql.engine import Value
from awareness_sql.sqlite.refusals import is_busy

PATIENCE = 5.0
"""Seconds after which a database that others keep locked counts as unavailable."""

LONGEST_PAUSE = 0.004
"""Seconds between two attempts at most. Short, as the moment between two commits of another process is short too."""

_FIRST_PAUSE = 0.0005


async def when_free(attempt: Callable[[], Value], *, is_over: Callable[[], bool]) -> Value:
    """The result of `attempt`, made again and again while it says busy. Raises its error once `is_over`."""
    pause = _FIRST_PAUSE
    while True:
        try:
            return attempt()
        except sqlite3.Error as error:
            if not is_busy(error) or is_over():
                raise
        # Jitter keeps two processes from asking in step.
        await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311
        pause = min(2 * pause, LONGEST_PAUSE)


def deadline(patience: float) -> Callable[[], bool]:
    """Whether so many seconds have passed since now."""
    loop = asyncio.get_running_loop()
    end = loop.time() + patience
    return lambda: loop.time() >= end
