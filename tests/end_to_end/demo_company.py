"""The fictional company of the demo in this process' memory, for tests that look at it and at what it is made from."""

from __future__ import annotations

import asyncio
import functools
from datetime import UTC, datetime, timedelta

import attrs

from awareness_core.campaigns import Campaign
from awareness_core.pages import PageRequest
from awareness_core.ports import EmployeeQuery
from awareness_core.use_cases.list_campaigns import list_campaigns
from awareness_core.use_cases.read_employees import EmployeeView, list_employees
from awareness_memory import ManualClock, memory_ports
from awareness_server.demo_campaigns import FictionalCampaign, fictional_campaigns
from awareness_server.demo_data import demo_data
from awareness_server.demo_people import fictional_people
from awareness_server.demo_story import found_demo_company
from tests.architecture.source_tree import ROOT

NOW = datetime(2026, 3, 31, 17, 45, tzinfo=UTC)

KEPT_NUMBER = 3
KEPT_EXPORT = ROOT / "tests" / "data" / "gophish" / f"demo-campaign-{KEPT_NUMBER}.json"
"""What the demo writes of one campaign at `NOW`, laid out for reading; `tests/golden` keeps it so."""


@attrs.frozen
class Seen:
    """A company as readers see it."""

    people: list[EmployeeView]
    campaigns: list[Campaign]


@functools.cache
def found(*, employees: int = 250, seed: int = 1, now: datetime = NOW) -> Seen:
    async def look() -> Seen:
        ports = memory_ports(clock=ManualClock(now))
        demo = await found_demo_company(ports, employees=employees, seed=seed, now=now)
        people: list[EmployeeView] = []
        while len(people) % 100 == 0:
            request = PageRequest(page=len(people) // 100 + 1, limit=100)
            page = await list_employees(ports, demo.company.id, EmployeeQuery(page=request))
            people += page.items
            if not page.has_more:
                break
        campaigns = await list_campaigns(
            ports,
            demo.company.id,
            start=now - timedelta(days=500),
            end=now + timedelta(days=100),
            page=PageRequest(limit=100),
        )
        assert [] == ports.mailer.letters
        return Seen(people, list(campaigns.items))

    return asyncio.run(look())


def drawn(*, employees: int = 250, seed: int = 1, now: datetime = NOW) -> list[FictionalCampaign]:
    """The campaigns of that company before anything reads them."""
    data = demo_data()
    people = fictional_people(data, count=employees, seed=seed)
    return list(fictional_campaigns(data, people, seed=seed, now=now))
