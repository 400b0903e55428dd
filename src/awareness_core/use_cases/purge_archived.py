"""Erase everybody who left long ago, some at a time, each time in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from awareness_core.erasure import erase_people
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId

MAX_DAYS = 36_500
"""The longest that somebody is kept for: a century is for ever."""

AT_ONCE = 20
"""So few that nothing else of the company waits long, whatever they did in campaigns."""


def _ignore(_erased: int) -> None:
    pass


async def count_archived(ports: Ports, company_id: CompanyId, *, before: datetime) -> int:
    """How many of the company were archived earlier than that. Raises `NotFound`."""
    async with ports.store.reading(company_id) as reading:
        await reading.company()
        return await reading.count_employees_archived_before(before)


async def purge_archived(
    ports: Ports, company_id: CompanyId, *, before: datetime, on_progress: Callable[[int], None] = _ignore
) -> int:
    """Erase everybody who was archived earlier than that; how many there were. Raises `NotFound`.

    Several processes may do so at once: each erases others. Who came back meanwhile stays. After an interruption,
    calling it again does the rest. `on_progress` is told how many are erased so far.
    """
    if not await count_archived(ports, company_id, before=before):
        # Nobody waits for a writer who has nothing to write.
        return 0
    erased = 0
    while True:
        async with ports.store.transaction(company_id) as transaction:
            people = await transaction.employees_archived_before(before, limit=AT_ONCE)
            await erase_people(ports, transaction, people)
        erased += len(people)
        on_progress(erased)
        if len(people) < AT_ONCE:
            return erased
