"""Argon2id (RFC 9106), in threads of its own: a hash takes a tenth of a second and 46 MiB.

So many at once as there are threads, and so many waiting as are let in; nobody can make the service run out of either.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from awareness_core.errors import HasherBusy
from awareness_core.ports import refuse_inside_transaction

# OWASP's first recommendation, of equal strength with its others; one lane, as other requests want the processors, too
# (Choice: decisions/029).
_MEMORY_KIB: Final = 47_104
_PASSES: Final = 1
_LANES: Final = 1
_AT_ONCE: Final = 2
_WAITING: Final = 64
# Salt and hash of nobody's password: no password is known that has it.
_NOBODYS: Final = "A" * 22, "A" * 43

Result = TypeVar("Result")


class Argon2Hasher:
    """`PasswordHasher` by Argon2id. `memory_kib` and `passes` are for tests, which have no time."""

    def __init__(
        self,
        *,
        memory_kib: int = _MEMORY_KIB,
        passes: int = _PASSES,
        at_once: int = _AT_ONCE,
        waiting: int = _WAITING,
    ) -> None:
        self._argon2 = PasswordHasher(
            time_cost=passes, memory_cost=memory_kib, parallelism=_LANES, type=Type.ID
        )
        salt, digest = _NOBODYS
        self._nobodys = f"$argon2id$v=19$m={memory_kib},t={passes},p={_LANES}${salt}${digest}"
        # Threads are started when they are first needed.
        self._threads = ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="argon2")
        self._most = at_once + waiting
        self._busy = 0
        self._counting = threading.Lock()

    async def hash(self, password: str) -> str:
        """See `PasswordHasher`."""
        return await self._in_thread(self._argon2.hash, password)

    async def verify(self, password: str, kept: str | None) -> bool:
        """See `PasswordHasher`."""
        return await self._in_thread(self._verify, password, kept)

    def is_outdated(self, kept: str) -> bool:
        """See `PasswordHasher`."""
        return self._argon2.check_needs_rehash(kept)

    def _verify(self, password: str, kept: str | None) -> bool:
        try:
            return self._argon2.verify(self._nobodys if kept is None else kept, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _in_thread(self, work: Callable[..., Result], *arguments: object) -> Result:
        refuse_inside_transaction("a password was hashed")
        with self._counting:
            if self._busy >= self._most:
                raise HasherBusy
            self._busy += 1
        future = self._threads.submit(work, *arguments)
        # Counted until it is over, even when whoever asked has gone.
        future.add_done_callback(self._count_down)
        return await asyncio.wrap_future(future)

    def _count_down(self, _: object) -> None:
        with self._counting:
            self._busy -= 1
