"""Mailing what a crash left of invitations, beside whatever else the process does.

Every process looks; what one takes, no other does. What goes wrong with one company stands in the log and reaches
neither the others nor the requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
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

_log = structlog.get_logger("awareness_server.delivering")


@asynccontextmanager
async def delivering(ports: Ports, *, look_every: float = LOOK_EVERY) -> AsyncIterator[None]:
    """Mail what is due while the block runs.

    At its end no more are taken, and what is under way is finished, as others would mail it again. A block that raises,
    or is cancelled, breaks it off.
    """
    under_way: set[asyncio.Task[int]] = set()
    try:
        async with repeating(partial(_deliver_all, ports, under_way), every=look_every):
            yield
        await asyncio.gather(*under_way)
    finally:
        for some in under_way:
            some.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def _deliver_all(ports: Ports, under_way: set[asyncio.Task[int]]) -> None:
    try:
        companies = await ports.companies.companies_with_due_invitations(at=ports.clock.now())
    except StoreUnavailable as error:
        _log.warning("pending_invitations_not_listed", error=error.message)
        return
    await asyncio.gather(*(_deliver(ports, company_id, under_way) for company_id in companies))


async def _deliver(ports: Ports, company_id: CompanyId, under_way: set[asyncio.Task[int]]) -> None:
    total = AT_ONCE
    while total == AT_ONCE:
        some = asyncio.create_task(_deliver_some(ports, company_id))
        under_way.add(some)
        some.add_done_callback(under_way.discard)
        total = await asyncio.shield(some)


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
