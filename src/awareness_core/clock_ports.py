"""What the core asks of time and chance. Re-reading the clock is cheap; whoever decides reads it once."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """Aware, UTC, cut to whole milliseconds."""

    async def wait(self, duration: timedelta) -> None:
        """Come back when so much time has passed, and let others work meanwhile."""


class Entropy(Protocol):
    """Unpredictable bytes."""

    def take(self, count: int) -> bytes:
        """`count` bytes fit for secrets."""
