"""One call: its letters, what became of each so far, and which are tried again.

A refusal concerns its letter. An outage concerns all: nothing is begun for a while, then the call goes on where it
was, and is over when that happened too often. Opens no connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from awareness_core.ports import Delivery, InvitationLetter
from awareness_smtp.letter_queue import LetterQueue
from awareness_smtp.outcomes import refusal
from awareness_smtp.smtp_session import Outage


class SmtpCall:
    """What the connections of a call share. `outage` is what whoever takes a letter now reports to."""

    def __init__(
        self,
        letters: Sequence[InvitationLetter],
        *,
        retry_waits: Sequence[timedelta],
        stop_at: float,
    ) -> None:
        self.letters = letters
        self.stop_at = stop_at
        self.outage = Outage()
        self._queue = LetterQueue(len(letters), retry_waits=retry_waits, stop_at=stop_at)
        self._outcomes: dict[int, Delivery] = {}
        self._over: str | None = None

    @property
    def has_untried(self) -> bool:
        """Whether somebody's first turn is still to come."""
        return self._queue.has_untried

    async def next_place(self) -> int | None:
        """The place of the letter whose turn it is, once it is somebody's; None when no more are to be tried."""
        clock = asyncio.get_running_loop()
        while self._over is None and (at := self._queue.next_at()) is not None:
            place = self._queue.take(clock.time())
            if place is not None:
                return place
            await asyncio.sleep(at - clock.time())
        return None

    def note(
        self, place: int, delivery: Delivery, *, outage: Outage | None = None, was_kept_waiting: bool = False
    ) -> None:
        """Keep what became of a letter that reported to `outage`, and have it tried again if that is of use."""
        earlier = self._outcomes.get(place)
        if earlier is None or delivery.tried or not earlier.tried:
            self._outcomes[place] = delivery
        now = asyncio.get_running_loop().time()
        if outage is not None and outage.reason is not None:
            self._interrupt(outage, outage.reason, now)
            if not delivery.tried:
                self._queue.put_first(place)
                return
        if not (delivery.accepted or delivery.permanent or delivery.in_doubt):
            self._queue.put_back(place, was_kept_waiting=was_kept_waiting, now=now)

    def end(self, why: str) -> None:
        """Try no more. The first reason stays."""
        self._over = self._over or why
        self.outage.declare(why)

    def deliveries(self) -> list[Delivery]:
        """One a letter, in order."""
        not_tried = refusal(f"not tried: {self._over}", tried=False)
        return [self._outcomes.get(place, not_tried) for place in range(len(self.letters))]

    def _interrupt(self, outage: Outage, reason: str, now: float) -> None:
        if outage is not self.outage:
            # Another letter told of it before.
            return
        if self._queue.pause(now):
            self.outage = Outage()
        else:
            self.end(reason)
