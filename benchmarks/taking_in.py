"""Tells a company of campaigns through the use case, by people of its own, whom it knows.

Run as a module it is one measurement: the events are read and checked before the clock runs, as the limit's rows are.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterable, Sequence

from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.import_results import import_results
from awareness_server.garbage import look_seldom
from awareness_sql import open_storage
from benchmarks.apart import Taken, tell
from benchmarks.people import directory
from benchmarks.stores import hire, ports_of
from benchmarks.tellings import ToldCampaign, told_campaign, told_events


def told_campaigns(campaigns: int, *, people: int, events: int) -> list[ToldCampaign]:
    """So many campaigns with so many events each; no two events have the same id and moment within one."""
    addresses = [person["email"] for person in directory(people)]
    return [told_campaign(number, told_events(addresses, events)) for number in range(campaigns)]


async def prepare(url: str, company_id: CompanyId, *, people: int) -> None:
    """Let the company know its people."""
    async with open_storage(url) as storage:
        await hire(ports_of(storage), company_id, directory(people))


async def take_in(url: str, company_id: CompanyId, told: Iterable[ToldCampaign]) -> Taken:
    """Import one campaign after the other, each in a transaction of its own."""
    async with open_storage(url) as storage:
        ports = ports_of(storage)
        # The first use opens the connection.
        async with ports.store.reading(company_id) as reading:
            await reading.campaign_by_external_id("none")
        began, cpu = time.perf_counter(), time.process_time()
        for campaign in told:
            await _import(ports, company_id, campaign)
        return Taken(time.perf_counter() - began, time.process_time() - cpu)


async def _import(ports: Ports, company_id: CompanyId, told: ToldCampaign) -> None:
    outcome = await import_results(ports, company_id, told)
    if not outcome.is_ok or outcome.summary.new != len(told.tellings):
        raise RuntimeError(f"not all was taken in: {outcome.summary}")


def main(arguments: Sequence[str]) -> None:
    """Measure once."""
    import uvloop

    url, company_id, *counts = arguments
    campaigns, people, events = map(int, counts)
    told = told_campaigns(campaigns, people=people, events=events)
    asyncio.run(prepare(url, CompanyId(company_id), people=people))
    # As the server does: what is measured is the use case within it, and the events that wait here are none of it.
    look_seldom()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        tell(runner.run(take_in(url, CompanyId(company_id), told)))


if __name__ == "__main__":
    main(sys.argv[1:])
