"""One after the other within this process, before a connection is taken.

The database would make them wait as well, but each on a connection of its own, until there are none left for the other
companies.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from weakref import WeakValueDictionary

from awareness_core.errors import StoreUnavailable


class Turns:
    """First come, first served, by name. Who waits longer than `patience` seconds gets `StoreUnavailable`."""

    def __init__(self, *, patience: float) -> None:
        self._patience = patience
        self._loop: asyncio.AbstractEventLoop | None = None
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def take(self, name: str) -> AsyncIterator[None]:
        """The block runs while no other block of that name does."""
        lock = self._lock(name)
        try:
            async with asyncio.timeout(self._patience if lock.locked() else None):
                await lock.acquire()
        except TimeoutError as error:
            raise StoreUnavailable(
                f"The database was busy with other writes to the same company for {self._patience:.0f} seconds; "
                "try again."
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _lock(self, name: str) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._locks.clear()
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks[name] = asyncio.Lock()
        return lock
