"""A quota counter in this process' memory, driven by a clock, so that a test can wait 15 minutes in no time."""

from __future__ import annotations

from datetime import datetime

import attrs

from awareness_core.clock_ports import Clock
from awareness_core.quota import QuotaPolicy, QuotaUse

_SWEEP_EVERY = 1024


@attrs.frozen
class _Window:
    ends_at: datetime
    count: int


class MemoryQuotaCounter:
    """Fixed windows, each beginning with the first request of a subject under a policy.

    A window that has ended is forgotten within `_SWEEP_EVERY` hits, so memory follows the subjects that are active.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._windows: dict[tuple[str, QuotaPolicy], _Window] = {}
        self._hits = 0

    async def hit(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        """Count one request, and say how many there are now in the window."""
        now = self._clock.now()
        self._sweep(now)
        window = self._open_window(subject, policy, now)
        ends_at = now + policy.window if window is None else window.ends_at
        count = 1 if window is None else window.count + 1
        self._windows[subject, policy] = _Window(ends_at, count)
        return QuotaUse(count=count, resets_in=ends_at - now)

    async def peek(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        """The same without counting; a subject without requests has 0 and a whole window left."""
        now = self._clock.now()
        window = self._open_window(subject, policy, now)
        if window is None:
            return QuotaUse(count=0, resets_in=policy.window)
        return QuotaUse(count=window.count, resets_in=window.ends_at - now)

    async def is_shared_store_down(self) -> bool:
        """Never: nothing is shared."""
        return False

    def _open_window(self, subject: str, policy: QuotaPolicy, now: datetime) -> _Window | None:
        window = self._windows.get((subject, policy))
        return None if window is None or now >= window.ends_at else window

    def _sweep(self, now: datetime) -> None:
        self._hits += 1
        if self._hits % _SWEEP_EVERY == 0:
            self._windows = {key: window for key, window in self._windows.items() if now < window.ends_at}
