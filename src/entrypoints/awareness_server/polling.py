"""Polling sources on a schedule, beside answering requests: which are due, one task for each.

Every worker of every node looks; a lease in the database sees to it that one of them polls. What goes wrong with one
source stands on its record and in the log, and never reaches the others or the requests.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

import structlog

from awareness_core.errors import Conflict, StoreUnavailable
from awareness_core.ports import Ports
from awareness_core.sources import Source, SourceId, is_due
from awareness_core.use_cases.sync_source import sync_source
from awareness_server.repeating import repeating

LOOK_EVERY: Final = 5.0
"""Seconds between two looks at which sources are due: so long may a notice wait for the poll that it asked for."""

_log = structlog.get_logger("awareness_server.polling")


@asynccontextmanager
async def polling(ports: Ports, *, every: timedelta, look_every: float = LOOK_EVERY) -> AsyncIterator[None]:
    """Poll all sources at intervals of `every` while the block runs; only those asked for when that is zero."""
    running: dict[SourceId, asyncio.Task[None]] = {}

    async def look() -> None:
        for source in await _due(ports, every=every):
            if source.id not in running:
                task = asyncio.create_task(_poll(ports, source))
                running[source.id] = task
                task.add_done_callback(functools.partial(_forget, running, source.id))

    try:
        async with repeating(look, every=look_every):
            yield
    finally:
        polls = list(running.values())
        for poll in polls:
            poll.cancel()
        await asyncio.gather(*polls, return_exceptions=True)


def _forget(running: dict[SourceId, asyncio.Task[None]], source_id: SourceId, _: asyncio.Task[None]) -> None:
    del running[source_id]


async def _due(ports: Ports, *, every: timedelta) -> list[Source]:
    try:
        now = ports.clock.now()
        return [one for one in await ports.sources.list_sources() if is_due(one, now=now, every=every)]
    except StoreUnavailable as error:
        _log.warning("sources_not_listed", error=error.message)
        return []


async def _poll(ports: Ports, source: Source) -> None:
    log = _log.bind(source_id=source.id, company_id=source.company_id)
    try:
        synced = await sync_source(ports, source)
    except Conflict:
        # Another worker was first, which is as it should be.
        return
    except StoreUnavailable as error:
        log.warning("source_not_polled", error=error.message)
        return
    except Exception:
        log.exception("source_not_polled")
        return
    if synced.failed_lines:
        # Where, and not what: a line that cannot be read may name somebody all the same.
        places = [f"campaign {one.told_id} {one.fault.field}: {one.fault.code}" for one in synced.left_out]
        log.warning("source_lines_left_out", lines=synced.failed_lines, places=places)
    if synced.is_ok:
        log.debug("source_polled", campaigns=synced.campaigns, read=synced.read, new_events=synced.new_events)
    else:
        log.warning("source_failing", errors=list(synced.errors)[:5], read=synced.read)
