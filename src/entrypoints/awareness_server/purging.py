"""Erasing who left long ago, beside whatever else the process does.

Every process looks; whom one erases, no other finds. What goes wrong with one company stands in the log and reaches
neither the others nor the requests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from awareness_core.errors import NotFound, StoreUnavailable
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.purge_archived import purge_archived
from awareness_server.repeating import repeating

LOOK_EVERY: Final = 3600.0
"""Seconds between two looks: who is to be erased after days may wait for an hour."""

_log = structlog.get_logger("awareness_server.purging")


@asynccontextmanager
async def purging(ports: Ports, *, after: timedelta, look_every: float = LOOK_EVERY) -> AsyncIterator[None]:
    """Erase who was archived longer than `after` ago while the block runs; nobody when that is zero."""
    if not after:
        yield
        return
    async with repeating(partial(_purge_all, ports, after=after), every=look_every):
        yield


async def _purge_all(ports: Ports, *, after: timedelta) -> None:
    try:
        companies = await ports.companies.list_companies()
    except StoreUnavailable as error:
        _log.warning("archived_not_purged", error=error.message)
        return
    for company in companies:
        await _purge(ports, company.id, after=after)


async def _purge(ports: Ports, company_id: CompanyId, *, after: timedelta) -> None:
    log = _log.bind(company_id=company_id)
    try:
        erased = await purge_archived(ports, company_id, before=ports.clock.now() - after)
    except NotFound:
        return
    except StoreUnavailable as error:
        log.warning("archived_not_purged", error=error.message)
    except Exception:
        log.exception("archived_not_purged")
    else:
        if erased:
            log.info("archived_purged", erased=erased)
