"""Two worlds that live through the same: one in memory, the reference, and one whose store is under test.

Both have the same clock and the same seeded randomness, so that use cases make the same ids and passwords in both; then
whatever differs, in an answer or in what is stored, is a mistake of one store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

from awareness_core.api_keys import ApiKey
from awareness_core.campaigns import CampaignQuery
from awareness_core.employees import Employee
from awareness_core.errors import AwarenessError
from awareness_core.pages import PageRequest
from awareness_core.periods import Period
from awareness_core.ports import EmployeeQuery, Ports, Reading
from awareness_core.tenants import Company, CompanyId
from awareness_memory import ManualClock, MemoryMailer, MemoryPorts, SeededEntropy, memory_ports
from awareness_sql import open_storage

BEGINNING = datetime(2026, 3, 31, 8, tzinfo=UTC)
ALWAYS = Period(start=BEGINNING - timedelta(days=36_500), end=BEGINNING + timedelta(days=36_500))
COMPANIES = (
    Company(id=CompanyId("acme"), name="Acme", sso_domains=frozenset({"sso.example"}), created_at=BEGINNING),
    Company(id=CompanyId("globex"), name="Globex", created_at=BEGINNING),
)

Outcome = tuple[str, object]
"""What a command returned, or the class of the refusal that it raised."""


class Worlds:
    """The pair; `url` is an empty store's. Commands are functions of `Ports`, and `tell` insists on equal outcomes."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._runner = asyncio.Runner()
        self.clock = ManualClock(BEGINNING)
        self.reference: MemoryPorts = memory_ports(clock=self.clock, entropy=SeededEntropy(7))
        self._mailer, self._entropy = MemoryMailer(), SeededEntropy(7)
        self._open()
        for company in COMPANIES:
            self.tell(lambda ports, company=company: ports.companies.add_company(company))  # type: ignore[misc]

    def tell(self, command: Callable[[Ports], Awaitable[object]]) -> Outcome:
        """Run `command` in both worlds and compare what came of it."""
        expected = self._outcome(command, self.reference)
        actual = self._outcome(command, self._under_test)
        assert expected == actual
        assert self.reference.mailer.letters == self._mailer.letters
        return expected

    def reopen(self) -> None:
        """Restart the program that uses the store under test."""
        self._runner.run(self._storage.close())
        self._open()

    def refuse_mail(self, email: str) -> None:
        """Let the mailers of both worlds refuse an address."""
        self.reference.mailer.refuse(email)
        self._mailer.refuse(email)

    def accept_mail(self, email: str) -> None:
        """Let them accept it again."""
        self.reference.mailer.accept(email)
        self._mailer.accept(email)

    def people(self, company_id: CompanyId) -> list[Employee]:
        """Everyone of a company, by id, as the reference has them."""
        return self._runner.run(_people(self.reference, company_id))

    def compare(self) -> None:
        """Insist on equal contents: of every table, through every question that has no argument of its own."""
        for company in COMPANIES:
            expected = self._runner.run(_contents(self.reference, company.id))
            assert expected == self._runner.run(_contents(self._under_test, company.id))
        keys = self._runner.run(_keys(self.reference))
        assert keys == self._runner.run(_keys(self._under_test))

    def close(self) -> None:
        """Let go of the store and the event loop."""
        self._runner.run(self._storage.close())
        self._runner.close()

    def _open(self) -> None:
        self._storage = open_storage(self._url)
        self._under_test = Ports(
            clock=self.clock,
            entropy=self._entropy,
            companies=self._storage.companies,
            api_keys=self._storage.api_keys,
            store=self._storage.store,
            mailer=self._mailer,
            quota=self.reference.quota,
            sources=self._storage.sources,
        )

    def _outcome(self, command: Callable[[Ports], Awaitable[object]], ports: Ports) -> Outcome:
        async def run() -> Outcome:
            try:
                return "returned", await command(ports)
            except AwarenessError as refusal:
                return "refused", type(refusal)

        return self._runner.run(run())


async def _people(ports: Ports, company_id: CompanyId) -> list[Employee]:
    async with ports.store.reading(company_id) as reading:
        return await _every_page(reading)


async def _every_page(reading: Reading) -> list[Employee]:
    """Through pages of one, so that each of them is asked for."""
    people: list[Employee] = []
    while True:
        page = await reading.list_employees(EmployeeQuery(page=PageRequest(page=len(people) + 1, limit=1)))
        assert page.has_more == (page.total > len(people) + 1)
        people += page.items
        if not page.has_more:
            return people


async def _contents(ports: Ports, company_id: CompanyId) -> dict[str, object]:
    async with ports.store.reading(company_id) as reading:
        people = await _every_page(reading)
        return {
            "company": await reading.company(),
            "people": people,
            "sectors": list(await reading.sectors()),
            "pending": list(await reading.due_invitations(at=ALWAYS.end, limit=1000)),
            "passwords": [list(await reading.temporary_passwords(person.id)) for person in people],
            "rostered": _by_id(await reading.rostered_employees()),
            "rostered count": await reading.count_rostered_employees(),
            "roster": sorted(
                [entry async for entries in reading.roster() for entry in entries], key=lambda entry: entry.id
            ),
            "without password": _by_id(await reading.employees_without_password()),
            "held elsewhere": await reading.addresses_held_by_other_companies(
                [person.email.key for person in people]
            ),
            "campaigns": await reading.list_campaigns(CampaignQuery(period=ALWAYS)),
            "results": await _results(reading),
            "archived": await reading.employees_archived_before(ALWAYS.end, limit=2),
            "archived count": await reading.count_employees_archived_before(ALWAYS.end),
        }


async def _results(reading: Reading) -> list[object]:
    found: list[object] = []
    for campaign in (await reading.list_campaigns(CampaignQuery(period=ALWAYS))).items:
        people = await reading.recipients_after(campaign.id, None, limit=100)
        events = await reading.events(campaign.id, recipients=[one.email.key for one in people])
        found.append((people, {event.key: event for event in events}))
    return found


async def _keys(ports: Ports) -> list[ApiKey]:
    return list(await ports.api_keys.list_api_keys())


def _by_id(people: Sequence[Employee]) -> list[Employee]:
    return sorted(people, key=lambda person: person.id)
