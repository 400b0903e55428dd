"""The whole application with two companies behind it, as the server puts it together, and people to invite."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import attrs
from litestar.types import ASGIApp

from awareness_core.campaigns import CampaignId
from awareness_core.employees import Employee, EmployeeId
from awareness_core.ports import PortalPorts
from awareness_core.recipients import Progress, Recipient
from awareness_core.records import RawEmployee, check_record
from awareness_core.results_plan import ResultChanges
from awareness_core.tenants import Company, Language
from awareness_core.use_cases.companies import create_company
from awareness_core.use_cases.deactivate import deactivate
from awareness_core.use_cases.invite import invite
from awareness_core.use_cases.provision import provision
from awareness_memory import ManualClock, MemoryMailer, MemoryQuotaCounter, SystemEntropy
from awareness_oidc import Limits, OidcSignOn
from awareness_passwords import Argon2Hasher, ListedPasswords
from awareness_server.asgi import application
from awareness_server.settings import Settings
from tests.contracts.storages import Storage, campaign
from tests.portal.browser import Browser

NOW: Final = datetime(2026, 3, 31, 8, 0, tzinfo=UTC)
ADA: Final = "ada@acme.example"
GOOD: Final = "sept chevaux sous la pluie"
PATIENT: Final = Limits(connect=30.0, question=60.0, whole=60.0)
BETTER: Final = "huit poneys dans la brume"


@attrs.define(kw_only=True)
class Site:
    ports: PortalPorts
    app: ASGIApp
    clock: ManualClock
    mailer: MemoryMailer
    acme: Company
    globex: Company

    def browser(self, **options: Any) -> Browser:  # noqa: ANN401 (as Browser)
        """A new one, without cookies."""
        return Browser(app=self.app, **options)

    async def hire(self, email: str = ADA, *, company: Company | None = None, **fields: Any) -> EmployeeId:  # noqa: ANN401 (as RawEmployee)
        """Somebody of Acme, unless told otherwise, who awaits access."""
        record = RawEmployee(email=email, **{"last_name": "Lovelace", "first_name": "Ada", **fields})
        report = await provision(self.ports, (company or self.acme).id, [check_record(record)])
        found = report.items[0].id
        assert found is not None
        return found

    async def invited(self, email: str = ADA, **options: Any) -> str:  # noqa: ANN401 (as `hire`)
        """Somebody new, invited; their temporary password."""
        person = await self.hire(email, **options)
        return await self.mailed(person, options.get("company"))

    async def mailed(self, person: EmployeeId, company: Company | None = None) -> str:
        """Invite that person, and the password in their mail."""
        await invite(self.ports, (company or self.acme).id, selection=[person], force=True)
        return self.mailer.letters[-1].password

    async def inside(self, email: str = ADA, *, password: str = GOOD, **options: Any) -> Browser:  # noqa: ANN401 (as `hire`)
        """The browser of somebody new, who chose that password."""
        browser = self.browser()
        await browser.log_in(email, await self.invited(email, **options))
        chosen = await browser.choose(password)
        assert chosen.location == "/portal"
        return browser

    async def person(self, email: str = ADA) -> Employee:
        """As they stand."""
        async with self.ports.store.reading(self.acme.id) as reading:
            found = await reading.matching_employees(
                external_ids=[], email_keys=[(check_record(_record(email))).email.key]
            )
        (only,) = found
        return only

    async def archive(self, email: str = ADA) -> None:
        await deactivate(self.ports, self.acme.id, (await self.person(email)).id)

    async def tell(self, number: int, progress: Progress, *, email: str = ADA, **fields: Any) -> None:  # noqa: ANN401 (as `campaign`)
        """Let a campaign of that number have come so far with them."""
        someone = await self.person(email)
        recipient = Recipient(email=someone.email, employee_id=someone.id, progress=progress)
        async with self.ports.store.transaction(self.acme.id) as transaction:
            await transaction.save_campaigns([campaign(number, **fields)])
            await transaction.save_results(
                CampaignId(f"{number:04}"), ResultChanges(new_recipients=[recipient])
            )

    def wait(self, by: timedelta) -> None:
        self.clock.advance(by)


async def new_site(storage: Storage, *, limits: Limits = PATIENT, **settings: Any) -> Site:  # noqa: ANN401 (as Settings)
    """On that empty store."""
    clock, mailer = ManualClock(NOW), MemoryMailer()
    ports = PortalPorts(
        clock=clock,
        entropy=SystemEntropy(),
        companies=storage.companies,
        api_keys=storage.api_keys,
        store=storage.store,
        sources=storage.sources,
        mailer=mailer,
        quota=MemoryQuotaCounter(clock),
        visitors=storage.visitors,
        hasher=Argon2Hasher(memory_kib=8),
        frequent_passwords=ListedPasswords(),
        identity_providers=storage.identity_providers,
        single_sign_on=OidcSignOn(clock=clock, limits=limits),
    )
    acme = await create_company(ports, name="Acme", language=Language.ENGLISH, sso_domains=["sso.example"])
    globex = await create_company(ports, name="Globex", language=Language.FRENCH)
    app: Any = application(ports, Settings(**{"log_level": "warning", **settings}))
    return Site(ports=ports, app=app, clock=clock, mailer=mailer, acme=acme, globex=globex)


def _record(email: str) -> RawEmployee:
    return RawEmployee(email=email, last_name="x", first_name="x")
