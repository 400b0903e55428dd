"""Mailing what a crash left of invitations, beside whatever else the process does.

Every process looks; what one takes, no other does. Companies take turns, few at a time, so that whoever is owed much,
or is mailed slowly, keeps nobody else waiting for long. What goes wrong with one company stands in the log and reaches
neither the others nor the requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import structlog

from awareness_core.errors import NotFound, StoreUnavailable
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.deliver_pending import AT_ONCE, deliver_pending
from awareness_server.repeating import repeating

LOOK_EVERY: Final = 10.0
"""Seconds between two looks at what is due."""

TURNS_AT_ONCE: Final = 4
"""So many companies are mailed for at the same time. One turn is up to `AT_ONCE` people."""

_log = structlog.get_logger("awareness_server.delivering")


@asynccontextmanager
async def delivering(
    ports: Ports, *, look_every: float = LOOK_EVERY, is_stopping: Callable[[], bool] = lambda: False
) -> AsyncIterator[None]:
    """Mail what is due while the block runs, and nothing more once `is_stopping()`.

    At its end no more are taken, and what is under way is finished, as others would mail it again. A block that raises,
    or is cancelled, breaks it off.
    """
    turns = _Turns(ports, is_stopping)
    try:
        async with repeating(turns.look, every=look_every):
            yield
        await turns.finish()
    finally:
        await turns.break_off()


class _Turns:
    """A queue of the companies whose mails are due. After a turn that may not have been all, one stands at its end."""

    def __init__(self, ports: Ports, is_stopping: Callable[[], bool]) -> None:
        self._ports = ports
        self._is_stopping = is_stopping
        self._waiting: dict[CompanyId, None] = {}
        self._under_way: dict[CompanyId, asyncio.Task[int]] = {}
        self._is_ending = False

    async def look(self) -> None:
        """Put those at the end that are not there yet."""
        try:
            due = await self._ports.companies.companies_with_due_invitations(at=self._ports.clock.now())
        except StoreUnavailable as error:
            _log.warning("pending_invitations_not_listed", error=error.message)
            return
        for company_id in due:
            if company_id not in self._under_way:
                self._waiting.setdefault(company_id)
        self._go_on()

    async def finish(self) -> None:
        """Begin no more turns, and wait for those under way."""
        self._is_ending = True
        await asyncio.gather(*self._under_way.values())

    async def break_off(self) -> None:
        """Begin no more turns, and end those under way."""
        self._is_ending = True
        turns = list(self._under_way.values())
        for turn in turns:
            turn.cancel()
        await asyncio.gather(*turns, return_exceptions=True)

    def _go_on(self) -> None:
        while self._waiting and len(self._under_way) < TURNS_AT_ONCE:
            if self._is_ending or self._is_stopping():
                return
            company_id = next(iter(self._waiting))
            del self._waiting[company_id]
            turn = asyncio.create_task(_deliver_some(self._ports, company_id))
            self._under_way[company_id] = turn
            turn.add_done_callback(partial(self._end, company_id))

    def _end(self, company_id: CompanyId, turn: asyncio.Task[int]) -> None:
        del self._under_way[company_id]
        if not turn.cancelled() and turn.result() == AT_ONCE:
            self._waiting[company_id] = None
        self._go_on()


async def _deliver_some(ports: Ports, company_id: CompanyId) -> int:
    """How many were due; none that are worth another look now, when it went wrong."""
    log = _log.bind(company_id=company_id)
    try:
        outcome = await deliver_pending(ports, company_id)
    except NotFound:
        return 0
    except StoreUnavailable as error:
        log.warning("pending_invitations_not_delivered", error=error.message)
        return 0
    except Exception:
        log.exception("pending_invitations_not_delivered")
        return 0
    if outcome.total:
        log.warning(
            "pending_invitations_delivered",
            mailed=outcome.mailed,
            postponed=outcome.postponed,
            refused=outcome.refused,
            dropped=outcome.dropped,
        )
    return outcome.total
