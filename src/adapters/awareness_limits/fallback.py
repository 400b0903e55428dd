"""Counting goes on when the shared store does not: in this process' memory, until the store is back.

Choice: meanwhile each process admits a whole quota by itself, counted from zero. A store that is away must not take the
service with it, and telling callers apart from abusers is not worth a request refused wrongly (decisions/013).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

import structlog

from awareness_core.errors import StoreUnavailable
from awareness_core.ports import QuotaCounter
from awareness_core.quota import QuotaPolicy, QuotaUse

PERIOD = timedelta(seconds=5)
"""How often a store that is away is asked again."""

# Looking is not enough: a store that is full or read-only still answers a look.
_PROBE_SUBJECT = "is the store there"
_PROBE_POLICY = QuotaPolicy(limit=1, window=timedelta(seconds=1))

_log = structlog.get_logger(__name__)


class SharedCounter(QuotaCounter, Protocol):
    """A counter that raises `StoreUnavailable` within a bounded time when its store is away."""

    async def aclose(self) -> None:
        """Let go of connections."""


class FallbackCounter:
    """Counts in `shared`; in `local` while `shared` is away. Never raises.

    The requests that find out that the store is away wait as long as `shared` lets them; from then on nobody waits: a
    probe beside the requests asks the store once a `period`, and the counting goes back to it when it answers. Both
    changes are logged, once each.
    """

    def __init__(
        self,
        shared: SharedCounter,
        local: QuotaCounter,
        *,
        period: timedelta = PERIOD,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shared = shared
        self._local = local
        self._period = period.total_seconds()
        self._monotonic = monotonic
        self._is_down = False
        self._heard_at = float("-inf")
        self._probing: asyncio.Task[None] | None = None

    async def hit(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        """Count one request wherever counting is possible now."""
        if not self._is_down:
            try:
                use = await self._shared.hit(subject, policy)
            except StoreUnavailable as failure:
                self._note_down(failure)
            else:
                self._heard_at = self._monotonic()
                return use
        self._probe_when_due()
        return await self._local.hit(subject, policy)

    async def peek(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        """The same without counting."""
        if not self._is_down:
            try:
                use = await self._shared.peek(subject, policy)
            except StoreUnavailable as failure:
                self._note_down(failure)
            else:
                self._heard_at = self._monotonic()
                return use
        self._probe_when_due()
        return await self._local.peek(subject, policy)

    async def is_shared_store_down(self) -> bool:
        """Whether counting is in memory now. Asks the store itself when nothing was heard of it for a `period`."""
        if self._is_down:
            self._probe_when_due()
        elif self._monotonic() - self._heard_at >= self._period:
            await self._probe()
        return self._is_down

    async def aclose(self) -> None:
        """Stop probing and let go of the store's connections."""
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.wait([self._probing])
            self._probing = None
        await self._shared.aclose()

    def _probe_when_due(self) -> None:
        if self._monotonic() - self._heard_at < self._period:
            return
        if self._probing is None or self._probing.done():
            self._probing = asyncio.get_running_loop().create_task(self._probe())

    async def _probe(self) -> None:
        try:
            await self._shared.hit(_PROBE_SUBJECT, _PROBE_POLICY)
        except StoreUnavailable as failure:
            self._note_down(failure)
        else:
            self._note_up()

    def _note_down(self, failure: StoreUnavailable) -> None:
        self._heard_at = self._monotonic()
        if not self._is_down:
            self._is_down = True
            _log.warning("quota_store_down", reason=failure.message, counting="in this process' memory")

    def _note_up(self) -> None:
        self._heard_at = self._monotonic()
        if self._is_down:
            self._is_down = False
            _log.info("quota_store_back", counting="in the shared store")
