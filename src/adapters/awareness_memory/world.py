"""Clocks and randomness: the real ones, and those that tests and demos set themselves.

The real ones are here, and not beside a network or a database, because every program needs them and they need nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from datetime import UTC, datetime, timedelta

from awareness_core.periods import whole_milliseconds


class SystemClock:
    """The computer's clock, cut to whole milliseconds, in UTC."""

    def now(self) -> datetime:
        """Aware, UTC, cut to whole milliseconds."""
        return whole_milliseconds(datetime.now(UTC))

    async def wait(self, duration: timedelta) -> None:
        """Come back when so much time has passed."""
        await asyncio.sleep(duration.total_seconds())


class ManualClock:
    """A clock that stands still until it is told to move. Aware times only, kept in UTC and whole milliseconds."""

    def __init__(self, now: datetime) -> None:
        self.set(now)

    def now(self) -> datetime:
        """The moment last set."""
        return self._now

    def set(self, now: datetime) -> None:
        """Go to `now`, back as well as forth. Raises `ValueError` for a time without its offset."""
        if now.tzinfo is None:
            raise ValueError(
                "a clock needs a time with its offset, such as datetime(2026, 3, 31, tzinfo=UTC)"
            )
        self._now = whole_milliseconds(now.astimezone(UTC))

    def advance(self, by: timedelta) -> None:
        """Move on by that much."""
        self.set(self._now + by)

    async def wait(self, duration: timedelta) -> None:
        """Move on by that much, without taking the time; others get their turn."""
        self.advance(duration)
        await asyncio.sleep(0)


class SystemEntropy:
    """The operating system's randomness: fit for secrets."""

    def take(self, count: int) -> bytes:
        """`count` bytes fit for secrets."""
        return os.urandom(count)


class SeededEntropy:
    """The same bytes from the same seed, for demos and tests.

    Whoever knows the seed knows every secret made from it: never for anything that strangers can reach.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._takes = 0

    def take(self, count: int) -> bytes:
        """The next `count` bytes. They look random, and are not."""
        self._takes += 1
        return hashlib.shake_256(f"{self._seed}/{self._takes}".encode()).digest(count)
