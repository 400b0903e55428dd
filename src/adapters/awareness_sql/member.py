"""One write transaction on its way through a shared commit: it waits for its turn, leaves, and waits for the commit.

It does so even when it failed, as what it has seen of those before it is not so until then. Its driver is nothing to
it.
"""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

from awareness_core.errors import StoreUnavailable

_Result = TypeVar("_Result")
_Driver = TypeVar("_Driver")


class Member(Generic[_Driver]):
    """Its task calls `take_turn`, `leave` and `committed`; who runs the batch calls the others."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        loop = asyncio.get_running_loop()
        self._turn: asyncio.Future[_Driver] = loop.create_future()
        self._verdict: asyncio.Future[bool] = loop.create_future()
        self._outcome: asyncio.Future[None] = loop.create_future()
        self._timer = loop.call_later(patience, self._expire)

    @property
    def is_waiting(self) -> bool:
        """Whether the turn is still to come: neither given, nor given up, nor too late."""
        return not self._turn.done()

    async def take_turn(self) -> _Driver:
        """Wait for the turn, for so long as there is patience. Cancelled just when it came, it is given back."""
        try:
            return await self._turn
        except asyncio.CancelledError:
            if not self._turn.cancelled() and self._turn.exception() is None:
                self.leave(succeeded=False)
            raise
        finally:
            self._timer.cancel()

    def leave(self, *, succeeded: bool) -> None:
        """Give the connection back and say whether to keep what was written."""
        _settle(self._verdict, succeeded)

    async def committed(self) -> None:
        """Wait for the commit. Raises `StoreUnavailable` when it failed."""
        await self._outcome

    async def run(self, driver: _Driver) -> bool:
        """Give it the turn and wait until it leaves; whether to keep what it wrote."""
        _settle(self._turn, driver)
        return await self._verdict

    def refuse(self, error: Exception) -> None:
        """Its turn will not come."""
        if not self._turn.done():
            self._turn.set_exception(error)

    def acknowledge(self, error: Exception | None) -> None:
        """The commit is over, and well if there is no `error`."""
        if error is None:
            _settle(self._outcome, None)
        elif not self._outcome.done():
            self._outcome.set_exception(error)

    def _expire(self) -> None:
        self.refuse(
            StoreUnavailable(
                f"The database was busy with other writes for {self._patience:g} seconds; try again."
            )
        )


def _settle(future: asyncio.Future[_Result], result: _Result) -> None:
    # A future that is done already was cancelled with the task that waited for it.
    if not future.done():
        future.set_result(result)
