"""Connections that are kept: at most so many, opened when needed, and let go of when they are of no more use.

A server that was restarted has closed its connections, which the event loop hears of at once; where it has not yet, the
first statement on a connection is the test, and it is run again on a new one. So nothing is asked of the server beside
what has to be asked anyway.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from awareness_core.errors import StoreUnavailable
from awareness_sql.postgres.driver import Driver
from awareness_sql.postgres.refusals import DRIVER_ERRORS, is_farewell, refuse

_PATIENCE = 10.0
"""Seconds to wait for one of the connections when all are in use."""

_LIFETIME = 1800.0
"""Seconds after which a connection is replaced, so that a server's memory and a moved host name are not for ever."""

_GOODBYE = 2.0
"""Seconds that a server has to take leave of a connection."""

_Result = TypeVar("_Result")


class Pool:
    """Connections of one event loop at a time; on another one it begins anew."""

    def __init__(self, connect: Callable[[], Awaitable[Driver]], *, size: int, shown: str) -> None:
        self._connect = connect
        self._size = size
        self._shown = shown
        self._loop: asyncio.AbstractEventLoop | None = None
        self._forget()

    async def take(
        self,
        first: Callable[[Driver], Awaitable[_Result]],
        *,
        preferred: Callable[[Driver], bool] | None = None,
    ) -> tuple[Driver, _Result]:
        """A connection on which `first` has just run, and its result. It has to be given back.

        An idle one that is `preferred`, if there is one.

        `first` may run twice, on two connections, the first of which turned out to be lost. Raises `StoreUnavailable`
        when no connection can be had, and what the errors of `first` mean.
        """
        await self._wait_for_a_free_one()
        driver = self._take_idle(preferred)
        if driver is not None:
            try:
                return driver, await self._run(first, driver, was_idle=True)
            except _StaleError:
                # The others will be no better.
                self._discard(*self._idle)
                self._idle.clear()
        driver = await self._open()
        return driver, await self._run(first, driver, was_idle=False)

    def give_back(self, driver: Driver) -> None:
        """Keep the connection for the next one, unless it is closed or in a transaction."""
        if driver not in self._expiry:
            # Of an event loop that was abandoned, or closed meanwhile.
            driver.terminate()
            return
        if driver.is_closed() or driver.is_in_transaction():
            self._discard(driver)
        else:
            self._idle.append(driver)
        self._free.release()

    async def close(self) -> None:
        """Close the idle connections now, those in use when they are given back."""
        idle, opening = self._idle, self._opening
        is_of_this_loop = asyncio.get_running_loop() is self._loop
        self._forget()
        if is_of_this_loop:
            await asyncio.gather(*map(_say_goodbye, idle), *opening, return_exceptions=True)

    def _forget(self) -> None:
        self._idle: list[Driver] = []
        self._expiry: dict[Driver, float] = {}
        self._opening: set[asyncio.Task[Driver]] = set()
        self._free = asyncio.Semaphore(self._size)

    async def _wait_for_a_free_one(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._forget()
        if not self._free.locked():
            await self._free.acquire()
            return
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._free.acquire()
        except TimeoutError as error:
            raise StoreUnavailable(
                f"All {self._size} connections to the database {self._shown} were in use for {_PATIENCE:g} seconds; "
                "try again."
            ) from error

    def _take_idle(self, preferred: Callable[[Driver], bool] | None) -> Driver | None:
        now = asyncio.get_running_loop().time()
        if preferred is not None:
            # The last one goes first.
            self._idle.sort(key=preferred)
        while self._idle:
            driver = self._idle.pop()
            if not driver.is_closed() and self._expiry[driver] > now:
                return driver
            self._discard(driver)
        return None

    async def _open(self) -> Driver:
        """A new connection. Whoever waits for it may go away; it is kept for the next one then."""
        free = self._free
        opening = asyncio.ensure_future(self._connect())
        self._opening.add(opening)
        try:
            driver = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(lambda _: self._keep(opening, free))
            raise
        except BaseException:
            self._free.release()
            raise
        finally:
            self._opening.discard(opening)
        self._note(driver)
        return driver

    def _keep(self, opening: asyncio.Future[Driver], free: asyncio.Semaphore) -> None:
        if opening.cancelled() or opening.exception() is not None:
            free.release()
        elif free is not self._free:
            opening.result().terminate()
        else:
            self._note(opening.result())
            self.give_back(opening.result())

    async def _run(
        self, first: Callable[[Driver], Awaitable[_Result]], driver: Driver, *, was_idle: bool
    ) -> _Result:
        try:
            return await first(driver)
        except DRIVER_ERRORS as error:
            has_gone = is_lost(driver, error)
            # A server that did not answer once is not made to hold up anybody twice.
            if has_gone and was_idle and not isinstance(error, TimeoutError):
                self._discard(driver)
                raise _StaleError from error
            if has_gone:
                driver.terminate()
            self.give_back(driver)
            refuse(error, self._shown, is_lost=has_gone)
        except BaseException:
            # Whoever was cancelled has left a statement behind that may still be running.
            driver.terminate()
            self.give_back(driver)
            raise

    def _note(self, driver: Driver) -> None:
        self._expiry[driver] = asyncio.get_running_loop().time() + _LIFETIME

    def _discard(self, *drivers: Driver) -> None:
        for driver in drivers:
            del self._expiry[driver]
            driver.terminate()


def is_lost(driver: Driver, error: BaseException) -> bool:
    """Whether `error` means that the connection is of no more use."""
    return driver.is_closed() or is_farewell(error) or isinstance(error, OSError)


class _StaleError(Exception):
    pass


async def _say_goodbye(driver: Driver) -> None:
    try:
        async with asyncio.timeout(_GOODBYE):
            await driver.close()
    except DRIVER_ERRORS:
        driver.terminate()
