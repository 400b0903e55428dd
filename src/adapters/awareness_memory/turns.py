"""One at a time, first come first served, for each of many keys."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Hashable

import attrs


@attrs.define
class _Turn:
    lock: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    users: int = 0


class Turns:
    """Locks by key. A key that nobody holds or waits for is forgotten, so a later event loop starts afresh."""

    def __init__(self) -> None:
        self._turns: dict[Hashable, _Turn] = {}

    @contextlib.asynccontextmanager
    async def taken(self, key: Hashable) -> AsyncIterator[None]:
        """Wait for the turn of `key` and keep it for the block."""
        turn = self._turns.setdefault(key, _Turn())
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if not turn.users:
                del self._turns[key]
