"""Which letter of a call is next, and when.

What was refused for now is tried again after waits of its own, whatever else the call is waiting for. Knows neither
letters nor servers, and is told what time it is.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, deque
from collections.abc import Sequence
from datetime import timedelta


class LetterQueue:
    """The places of a call's letters. Each is taken by one at a time, who puts it back unless it is settled."""

    def __init__(self, count: int, *, retry_waits: Sequence[timedelta], stop_at: float) -> None:
        self._waits = [wait.total_seconds() for wait in retry_waits]
        self._stop_at = stop_at
        self._untried = deque(range(count))
        self._refused: list[tuple[float, int]] = []
        self._kept_waiting: list[tuple[float, int]] = []
        self._retries: Counter[int] = Counter()
        self._pauses = 0
        self._paused_until = -math.inf

    @property
    def has_untried(self) -> bool:
        """Whether somebody's first turn is still to come."""
        return bool(self._untried)

    def take(self, now: float) -> int | None:
        """Whose turn it is now: a retry that is due, then what was not tried, and what kept us waiting last of all."""
        if now < self._paused_until:
            return None
        if self._refused and self._refused[0][0] <= now:
            return heapq.heappop(self._refused)[1]
        if self._untried:
            return self._untried.popleft()
        if not self._refused and self._kept_waiting and self._kept_waiting[0][0] <= now:
            return heapq.heappop(self._kept_waiting)[1]
        return None

    def next_at(self) -> float | None:
        """From when on somebody's turn is; None when nobody is left."""
        if self._untried:
            return self._paused_until
        waiting = self._refused or self._kept_waiting
        return max(waiting[0][0], self._paused_until) if waiting else None

    def put_back(self, place: int, *, was_kept_waiting: bool, now: float) -> None:
        """Try it again after its next wait, unless it had all of them, or that would be too late."""
        due_at = self._after_wait(self._retries[place], now)
        if due_at is not None:
            self._retries[place] += 1
            heapq.heappush(self._kept_waiting if was_kept_waiting else self._refused, (due_at, place))

    def put_first(self, place: int) -> None:
        """Its turn did not come after all."""
        self._untried.appendleft(place)

    def pause(self, now: float) -> bool:
        """Hand nothing out for the next of the waits; False when all are over, or that would be too late."""
        until = self._after_wait(self._pauses, now)
        if until is None:
            return False
        self._pauses += 1
        self._paused_until = until
        return True

    def _after_wait(self, number: int, now: float) -> float | None:
        if number >= len(self._waits) or now + self._waits[number] >= self._stop_at:
            return None
        return now + self._waits[number]
