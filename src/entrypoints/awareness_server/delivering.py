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
    """Mail what is due while the block runs."""
    async with repeating(partial(_deliver_all, ports), every=look_every):
        yield


async def _deliver_all(ports: Ports) -> None:
    try:
        companies = await ports.companies.companies_with_due_invitations(at=ports.clock.now())
    except StoreUnavailable as error:
        _log.warning("pending_invitations_not_listed", error=error.message)
        return
    await asyncio.gather(*(_deliver(ports, company_id) for company_id in companies))


async def _deliver(ports: Ports, company_id: CompanyId) -> None:
    log = _log.bind(company_id=company_id)
    total = AT_ONCE
    try:
        while total == AT_ONCE:
            outcome = await deliver_pending(ports, company_id)
            total = outcome.total
            if total:
                log.warning(
                    "pending_invitations_delivered",
                    mailed=outcome.mailed,
                    postponed=outcome.postponed,
                    refused=outcome.refused,
                    dropped=outcome.dropped,
                )
    except NotFound:
        return
    except StoreUnavailable as error:
        log.warning("pending_invitations_not_delivered", error=error.message)
    except Exception:
        log.exception("pending_invitations_not_delivered")
