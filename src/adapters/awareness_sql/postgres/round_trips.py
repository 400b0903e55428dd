"""Questions that are asked together: what is asked while one round trip is under way goes with the next.

Under load a round trip is shared by all who wait, so that a question costs less than the driver takes for one
statement; without load nobody waits for others. One round trip is under way at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from awareness_core.errors import StoreUnavailable

_Question = TypeVar("_Question")
_Answer = TypeVar("_Answer")


class RoundTrips(Generic[_Question, _Answer]):
    """`ask` takes many questions and returns an answer for each, in their order.

    When it raises, so does the answer of everyone who was waiting behind: they have waited as long already.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[_Question]], Awaitable[Sequence[_Answer]]],
        *,
        at_once: int,
    ) -> None:
        self._ask = ask
        self._at_once = at_once
        self._waiting: list[tuple[_Question, asyncio.Future[_Answer]]] = []
        self._task: asyncio.Task[None] | None = None

    def __call__(self, question: _Question) -> asyncio.Future[_Answer]:
        """The answer. Raises what `ask` raises."""
        loop = asyncio.get_running_loop()
        if self._task is None or self._task.done() or self._task.get_loop() is not loop:
            # Whoever waited on another loop went away with it.
            self._waiting = []
            self._task = loop.create_task(self._serve())
        answer: asyncio.Future[_Answer] = loop.create_future()
        self._waiting.append((question, answer))
        return answer

    async def close(self) -> None:
        """Wait for what is under way."""
        if self._task is not None and self._task.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([self._task])

    async def _serve(self) -> None:
        while self._waiting:
            asked = self._waiting[: self._at_once]
            del self._waiting[: self._at_once]
            try:
                answers = await self._ask([question for question, _ in asked])
            except Exception as error:  # noqa: BLE001 -- whatever went wrong, nobody may wait for ever
                self._refuse(asked, error)
            except BaseException:
                # The loop is being torn down.
                self._refuse(asked, StoreUnavailable("The program is being stopped."))
                raise
            else:
                for (_, answer), value in zip(asked, answers, strict=True):
                    # Who went away has cancelled the future.
                    if not answer.done():
                        answer.set_result(value)

    def _refuse(self, asked: list[tuple[_Question, asyncio.Future[_Answer]]], error: Exception) -> None:
        waiting, self._waiting = self._waiting, []
        for _, answer in asked + waiting:
            if not answer.done():
                # A new one for each, as everyone who raises it adds a traceback.
                answer.set_exception(
                    StoreUnavailable(error.message) if isinstance(error, StoreUnavailable) else error
                )
