"""The connections of this process to its mail server: so many at once, whoever wants them.

Of several calls that want one, that which has fewest gets the next, so that one whose letters take long cannot keep the
others from their turn. Knows nothing of letters.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager

from awareness_smtp.smtp_session import SmtpSession


class SmtpConnections:
    """Lends sessions, each to one at a time, and keeps those that come back for whoever is next."""

    def __init__(self, at_most: int) -> None:
        self._free = at_most
        self._idle: list[SmtpSession] = []
        self._lent: Counter[Hashable] = Counter()
        self._waiting: list[tuple[Hashable, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def one(self, call: Hashable, new: Callable[[], SmtpSession]) -> AsyncIterator[SmtpSession]:
        """A session for that call, when its turn has come; made by `new` if none is left from before."""
        await self._take(call)
        session = self._idle.pop() if self._idle else new()
        try:
            yield session
        finally:
            self._idle.append(session)
            self._give_back(call)

    async def close_idle(self) -> None:
        """Say goodbye on those that nobody wants. Until that is done they count as in use."""
        count = min(self._free, len(self._idle))
        closing, self._idle = self._idle[:count], self._idle[count:]
        self._free -= count
        try:
            await asyncio.gather(*(session.close() for session in closing))
        finally:
            for _ in closing:
                self._free_one()

    async def _take(self, call: Hashable) -> None:
        if self._free:
            self._free -= 1
            self._lent[call] += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((call, turn))
        try:
            await turn
        except BaseException:
            if turn.cancelled():
                self._waiting = [other for other in self._waiting if other[1] is not turn]
            else:
                # It was this one's turn in the same moment.
                self._give_back(call)
            raise

    def _give_back(self, call: Hashable) -> None:
        self._lent[call] -= 1
        if not self._lent[call]:
            del self._lent[call]
        self._free_one()

    def _free_one(self) -> None:
        self._waiting = [one for one in self._waiting if not one[1].done()]
        if not self._waiting:
            self._free += 1
            return
        # Of those that have equally few, whoever waits longest.
        following = min(self._waiting, key=lambda one: self._lent[one[0]])
        self._waiting.remove(following)
        call, turn = following
        self._lent[call] += 1
        turn.set_result(None)
