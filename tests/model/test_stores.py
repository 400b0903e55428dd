"""Every store does what the one in memory does, whatever it is told, in whatever order.

Commands come from tiny alphabets, so that people keep meeting over the same addresses and external ids: three
addresses, two external ids, two companies. Some go straight to the store, with changes that the core's functions made;
the others are the use cases that programs call.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from awareness_core.api_keys import ApiKeyId, Scope
from awareness_core.campaigns import Campaign, CampaignId, CampaignQuery, CampaignState
from awareness_core.emails import EmailAddress, parse_email
from awareness_core.employees import (
    Access,
    Employee,
    EmployeeChange,
    EmployeeId,
    EmployeeRecord,
    EmployeeState,
    Presence,
    amend,
    archive,
    hire,
    log_in_first,
)
from awareness_core.errors import Conflict
from awareness_core.kpis import Funnel, Step
from awareness_core.outbox import LEASE, decided
from awareness_core.pages import PageRequest
from awareness_core.passwords import TemporaryPassword
from awareness_core.periods import Period
from awareness_core.ports import EmployeeQuery, Ports
from awareness_core.receipts import ReceiptId
from awareness_core.recipients import Recipient
from awareness_core.results_check import RawEvent, check_event
from awareness_core.results_plan import Line
from awareness_core.sectors import Sector, SectorId, SectorReference
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.deactivate import deactivate
from awareness_core.use_cases.deliver_pending import deliver_pending
from awareness_core.use_cases.erase import erase
from awareness_core.use_cases.import_results import import_results
from awareness_core.use_cases.invite import invite
from awareness_core.use_cases.issue_api_key import issue_api_key
from awareness_core.use_cases.once import AnsweredBefore, kept_answer, once
from awareness_core.use_cases.provision import provision
from awareness_core.use_cases.record_first_login import record_first_login
from awareness_core.use_cases.synchronise import synchronise
from awareness_sql.migration import migrate
from tests.contracts.postgres_database import PlacedDatabase
from tests.core.tellings import SPRING, Told
from tests.model.payloads import KeptResults, ListedPayload, SpeltLine
from tests.model.worlds import BEGINNING, COMPANIES, Worlds

companies = st.sampled_from([company.id for company in COMPANIES])
emails = st.sampled_from(
    [parse_email(text) for text in ("a@acme.example", "B@Acme.example", "c@sso.example")]
)
external_ids = st.sampled_from(["E1", "E2", None])
names = st.sampled_from(["Dupont", "O'Neil", "Straße", "100%_\\"])
sector_references = st.sampled_from(
    [None, SectorReference(name="Sales"), SectorReference(name="SALES "), SectorReference(id="1")]
)
records = st.builds(
    EmployeeRecord,
    email=emails,
    last_name=names,
    first_name=st.just("Jeanne"),
    external_id=external_ids,
    job_title=st.sampled_from([None, "Comptable"]),
    sector=sector_references,
    presence=st.sampled_from(Presence),
)
campaigns = st.builds(
    Campaign,
    id=st.sampled_from([CampaignId(text) for text in "123"]),
    name=names,
    state=st.sampled_from(CampaignState),
    created_at=st.sampled_from([BEGINNING, BEGINNING + timedelta(milliseconds=1)]),
    starts_at=st.sampled_from([None, BEGINNING, BEGINNING + timedelta(days=1)]),
    funnel=st.builds(Funnel, total=st.integers(0, 9)),
)
pages = st.builds(PageRequest, page=st.integers(1, 3), limit=st.integers(1, 3))
employee_queries = st.builds(
    EmployeeQuery,
    external_id=external_ids,
    email_key=st.none() | emails.map(lambda email: email.key),
    state=st.none() | st.sampled_from(EmployeeState),
    access=st.none() | st.sampled_from(Access),
    sector_id=st.sampled_from([None, None, SectorId(1), SectorId(2)]),
    text=st.none()
    | st.sampled_from(["dupont", "STRASSE", "%", "_", "\\", "acme", "jeanne o'neil jeanne", ""]),
    page=pages,
)
choices = st.integers(0, 5)
"""Which of the people there are, counted round and round."""


class StoresAgree(RuleBasedStateMachine):
    """One life of two worlds."""

    empty_store: Callable[[], str]

    @initialize()
    def begin(self) -> None:
        self.worlds = Worlds(self.empty_store())
        self.hired = 0
        self.mailed: dict[CompanyId, list[TemporaryPassword]] = {company.id: [] for company in COMPANIES}

    def teardown(self) -> None:
        if hasattr(self, "worlds"):
            self.worlds.close()

    @invariant()
    def contents_are_equal(self) -> None:
        if hasattr(self, "worlds"):
            self.worlds.compare()

    @property
    def now(self) -> datetime:
        return self.worlds.clock.now()

    def _chosen(self, company: CompanyId, choice: int) -> list[Employee]:
        """One of the company's people, or nobody when there are none."""
        people = self.worlds.people(company)
        return [people[choice % len(people)]] if people else []

    def _apply(
        self, company: CompanyId, changes: Sequence[EmployeeChange], sectors: Sequence[Sector] = ()
    ) -> None:
        async def apply(ports: Ports) -> None:
            async with ports.store.transaction(company) as transaction:
                await transaction.apply(changes=changes, sectors=sectors)

        self.worlds.tell(apply)

    # Straight to the store

    @rule(company=companies, wanted=st.lists(records, max_size=3), named=st.booleans())
    def hire(self, company: CompanyId, wanted: list[EmployeeRecord], *, named: bool) -> None:
        """Ids are new, or with `named` begin anew, so that they meet those that exist."""
        changes = []
        for position, record in enumerate(wanted):
            self.hired += 1
            number = position if named else self.hired
            person = hire(
                record,
                employee_id=EmployeeId(f"{number:04}"),
                sector_id=SectorId(1) if record.sector else None,
                now=self.now,
            )
            changes.append(EmployeeChange(before=None, after=person))
        self._apply(company, changes)

    @rule(company=companies, choice=choices, record=records, state=st.sampled_from(EmployeeState))
    def amend(self, company: CompanyId, choice: int, record: EmployeeRecord, state: EmployeeState) -> None:
        for person in self._chosen(company, choice):
            amended = amend(
                person,
                record,
                email=record.email,
                sector_id=SectorId(2) if record.sector else None,
                next_state=state,
                now=self.now,
            )
            self._apply(company, [EmployeeChange(before=person, after=amended)])

    @rule(
        company=companies,
        first=choices,
        second=choices,
        what=st.sampled_from(["email", "external_id", "both"]),
    )
    def swap(self, company: CompanyId, first: int, second: int, what: str) -> None:
        one, other = self._chosen(company, first), self._chosen(company, second)
        if one and one != other:
            self._apply(
                company,
                [
                    EmployeeChange(before=mine, after=_with_things_of(theirs, mine, what))
                    for mine, theirs in ((one[0], other[0]), (other[0], one[0]))
                ],
            )

    @rule(company=companies, leaver=choices, record=records)
    def replace(self, company: CompanyId, leaver: int, record: EmployeeRecord) -> None:
        """Somebody leaves and somebody new takes over what they held, in one call."""
        for person in self._chosen(company, leaver):
            gone = attrs.evolve(archive(person, now=self.now), external_id=None)
            self.hired += 1
            newcomer = hire(
                attrs.evolve(record, email=person.email, external_id=person.external_id),
                employee_id=EmployeeId(f"{self.hired:04}"),
                sector_id=None,
                now=self.now,
            )
            self._apply(
                company,
                [
                    EmployeeChange(before=None, after=newcomer),
                    EmployeeChange(before=person, after=gone),
                ],
            )

    @rule(company=companies, choice=choices)
    def change_somebody_of_the_other_company(self, company: CompanyId, choice: int) -> None:
        (other,) = {one.id for one in COMPANIES} - {company}
        for person in self._chosen(other, choice):
            self._apply(company, [EmployeeChange(before=person, after=log_in_first(person, now=self.now))])

    @rule(
        company=companies,
        sectors=st.lists(st.sampled_from([1, 2, 3]), max_size=2),
        name=st.sampled_from(["Sales", "IT"]),
    )
    def add_sectors(self, company: CompanyId, sectors: list[int], name: str) -> None:
        self._apply(
            company, [], [Sector(id=SectorId(number), name=f"{name} {number % 2}") for number in sectors]
        )

    @rule(company=companies, owners=st.lists(choices, max_size=3), digest=st.integers(0, 2))
    def record_attempts(self, company: CompanyId, owners: list[int], digest: int) -> None:
        passwords = [
            TemporaryPassword(
                employee_id=person.id,
                salt=b"salt",
                digest=bytes([digest, position]),
                created_at=self.now,
                expires_at=self.now + timedelta(days=7),
            )
            for position, owner in enumerate(owners)
            for person in self._chosen(company, owner)
        ]

        async def record(ports: Ports) -> None:
            async with ports.store.transaction(company) as transaction:
                await transaction.record_attempts(passwords)

        self.worlds.tell(record)
        self.mailed[company] += passwords

    @rule(company=companies, of=companies, positions=st.lists(st.integers(0, 20), max_size=3))
    def record_deliveries(self, company: CompanyId, of: CompanyId, positions: list[int]) -> None:
        mailed = self.mailed[of]
        passwords = [mailed[position % len(mailed)] for position in positions if mailed]

        async def record(ports: Ports) -> None:
            async with ports.store.transaction(company) as transaction:
                await transaction.record_deliveries(passwords)

        self.worlds.tell(record)

    @rule(company=companies, of=companies, positions=st.lists(st.integers(0, 20), max_size=3))
    def record_failures(self, company: CompanyId, of: CompanyId, positions: list[int]) -> None:
        mailed = self.mailed[of]
        passwords = [mailed[position % len(mailed)] for position in positions if mailed]

        async def record(ports: Ports) -> None:
            async with ports.store.transaction(company) as transaction:
                await transaction.record_failures([(password, self.now) for password in passwords])

        self.worlds.tell(record)

    @rule(company=companies, of=companies, choice=choices)
    def forget_passwords(self, company: CompanyId, of: CompanyId, choice: int) -> None:
        people = [person.id for person in self._chosen(of, choice)]

        async def forget(ports: Ports) -> None:
            async with ports.store.transaction(company) as transaction:
                await transaction.forget_passwords(people)

        self.worlds.tell(forget)

    @rule(company=companies, saved=st.lists(campaigns, max_size=3))
    def save_campaigns(self, company: CompanyId, saved: list[Campaign]) -> None:
        async def save(ports: Ports) -> None:
            async with ports.store.transaction(company) as transaction:
                await transaction.save_campaigns(saved)

        self.worlds.tell(save)

    @rule(company=companies, record=records)
    def change_their_mind(self, company: CompanyId, record: EmployeeRecord) -> None:
        """Write and roll back."""
        person = hire(record, employee_id=EmployeeId("9999"), sector_id=None, now=self.now)

        async def write_and_give_up(ports: Ports) -> None:
            async with ports.store.transaction(company) as transaction:
                await transaction.apply(changes=[EmployeeChange(before=None, after=person)])
                raise Conflict(str(await transaction.employees_by_id([person.id])))

        self.worlds.tell(write_and_give_up)

    @rule(
        company=companies,
        name=st.sampled_from([ReceiptId("one"), ReceiptId("two")]),
        record=records,
        mails=st.booleans(),
        gives_up=st.booleans(),
    )
    def provision_once(
        self, company: CompanyId, name: ReceiptId, record: EmployeeRecord, *, mails: bool, gives_up: bool
    ) -> None:
        async def fingerprint() -> bytes:
            return str(record.email).encode()

        async def carry_out(ports: Ports) -> object:
            try:
                async with once(ports, company, name, fingerprint) as attempt:
                    report = await provision(attempt.ports, company, [record])
                    if mails:
                        await invite(attempt.ports, company)
                    if gives_up:
                        raise Conflict("given up")
                    await attempt.settle([str(report.summary).encode(), b"!"])
                    return report
            except AnsweredBefore:
                return [part async for part in kept_answer(ports, company, name)]

        self.worlds.tell(carry_out)

    # Questions with arguments

    @rule(company=companies, query=employee_queries)
    def list_employees(self, company: CompanyId, query: EmployeeQuery) -> None:
        async def ask(ports: Ports) -> object:
            async with ports.store.reading(company) as reading:
                return await reading.list_employees(query)

        self.worlds.tell(ask)

    @rule(
        company=companies,
        start=st.sampled_from([BEGINNING, BEGINNING + timedelta(milliseconds=1)]),
        length=st.sampled_from([timedelta(0), timedelta(days=1)]),
        state=st.none() | st.sampled_from(CampaignState),
        page=pages,
    )
    def list_campaigns(
        self,
        company: CompanyId,
        start: datetime,
        length: timedelta,
        state: CampaignState | None,
        page: PageRequest,
    ) -> None:
        query = CampaignQuery(period=Period(start=start, end=start + length), state=state, page=page)

        async def ask(ports: Ports) -> object:
            async with ports.store.reading(company) as reading:
                return await reading.list_campaigns(query)

        self.worlds.tell(ask)

    @rule(company=companies, ids=st.lists(external_ids, max_size=2), keys=st.lists(emails, max_size=2))
    def match(self, company: CompanyId, ids: list[str | None], keys: list[EmailAddress]) -> None:
        async def ask(ports: Ports) -> object:
            async with ports.store.transaction(company) as transaction:
                found = await transaction.matching_employees(
                    external_ids=[text for text in ids if text], email_keys=[email.key for email in keys]
                )
                held = await transaction.addresses_held_by_other_companies([email.key for email in keys])
                return sorted(found, key=lambda person: person.id), held

        self.worlds.tell(ask)

    # What programs call

    @rule(
        company=companies,
        wanted=st.lists(records, max_size=4),
        dry_run=st.booleans(),
        deactivate_missing=st.booleans(),
        confirm=st.none() | st.integers(0, 3),
    )
    def provision(
        self,
        company: CompanyId,
        wanted: list[EmployeeRecord],
        *,
        dry_run: bool,
        deactivate_missing: bool,
        confirm: int | None,
    ) -> None:
        self.worlds.tell(
            lambda ports: provision(
                ports,
                company,
                wanted,
                dry_run=dry_run,
                deactivate_missing=deactivate_missing,
                confirm_deactivations=confirm,
            )
        )

    @rule(
        company=companies,
        wanted=st.lists(records, max_size=4),
        chunk=st.integers(1, 3),
        dry_run=st.booleans(),
        deactivate_missing=st.booleans(),
        confirm=st.none() | st.integers(0, 3),
    )
    def synchronise(
        self,
        company: CompanyId,
        wanted: list[EmployeeRecord],
        chunk: int,
        *,
        dry_run: bool,
        deactivate_missing: bool,
        confirm: int | None,
    ) -> None:
        payload = ListedPayload([SpeltLine(record) for record in wanted], chunk)

        async def sync(ports: Ports) -> object:
            results = KeptResults()
            outcome = await synchronise(
                ports,
                company,
                payload,
                results,
                dry_run=dry_run,
                deactivate_missing=deactivate_missing,
                confirm_deactivations=confirm,
            )
            return outcome, results.items

        async def unchanged(ports: Ports) -> object:
            async with ports.store.reading(company) as reading:
                return await reading.unchanged_people(payload.lines)

        self.worlds.tell(sync)
        self.worlds.tell(unchanged)

    @rule(
        company=companies,
        of=companies,
        selection=st.none() | st.lists(choices, max_size=3),
        force=st.booleans(),
    )
    def invite(self, company: CompanyId, of: CompanyId, selection: list[int] | None, *, force: bool) -> None:
        ids = (
            None
            if selection is None
            else [person.id for choice in selection for person in self._chosen(of, choice)]
        )
        self.worlds.tell(lambda ports: invite(ports, company, selection=ids, force=force))

    @rule(company=companies, of=companies, who=st.lists(choices, max_size=3))
    def leave_pending(self, company: CompanyId, of: CompanyId, who: list[int]) -> None:
        """As a process that is stopped in the middle of inviting does."""
        left = [
            decided(person.id, holder="stopped", now=self.now - LEASE)
            for choice in who
            for person in self._chosen(of, choice)
        ]

        async def leave(ports: Ports) -> None:
            async with ports.store.transaction(company) as transaction:
                await transaction.save_pending(left)

        self.worlds.tell(leave)

    @rule(company=companies)
    def deliver_pending(self, company: CompanyId) -> None:
        self.worlds.tell(lambda ports: deliver_pending(ports, company))

    @rule(company=companies, of=companies, choice=choices)
    def deactivate(self, company: CompanyId, of: CompanyId, choice: int) -> None:
        for person in self._chosen(of, choice):
            self.worlds.tell(lambda ports, person=person: deactivate(ports, company, person.id))  # type: ignore[misc]

    @rule(company=companies, of=companies, choice=choices)
    def erase(self, company: CompanyId, of: CompanyId, choice: int) -> None:
        for person in self._chosen(of, choice):
            self.worlds.tell(lambda ports, person=person: erase(ports, company, person.id))  # type: ignore[misc]

    @rule(company=companies, targeted=st.lists(emails, max_size=3), acting=st.none() | emails)
    def import_results(
        self, company: CompanyId, targeted: list[EmailAddress], acting: EmailAddress | None
    ) -> None:
        told: list[Line] = [Recipient(email=email) for email in targeted]
        if acting is not None:
            raw = RawEvent(email=acting.text, step=Step.CLICKED, at=BEGINNING.isoformat())
            told.append(check_event(raw, names={}))
        self.worlds.tell(lambda ports: import_results(ports, company, Told(SPRING, [told])))

    @rule(company=companies, choice=choices)
    def log_in_first(self, company: CompanyId, choice: int) -> None:
        for person in self._chosen(company, choice):
            self.worlds.tell(lambda ports, person=person: record_first_login(ports, company, person.id))  # type: ignore[misc]

    @rule(company=companies)
    def issue_api_key(self, company: CompanyId) -> None:
        self.worlds.tell(lambda ports: issue_api_key(ports, company, name="Key", scopes=list(Scope)[:2]))

    @rule(use=st.booleans(), choice=choices)
    def touch_api_key(self, choice: int, *, use: bool) -> None:
        async def touch(ports: Ports) -> object:
            keys = await ports.api_keys.list_api_keys()
            key_id = keys[choice % len(keys)].id if keys else ApiKeyId("nobody's")
            if use:
                await ports.api_keys.record_api_key_use(key_id, at=self.now)
                return None
            return await ports.api_keys.revoke_api_key(key_id, at=self.now)

        self.worlds.tell(touch)

    # The world goes on

    @rule(minutes=st.sampled_from([0, 1, 15, 60 * 24 * 8]))
    def wait(self, minutes: int) -> None:
        self.worlds.clock.advance(timedelta(minutes=minutes, milliseconds=7))

    @rule(email=emails, refused=st.booleans())
    def fill_a_mailbox(self, email: EmailAddress, *, refused: bool) -> None:
        if refused:
            self.worlds.refuse_mail(email.text)
        else:
            self.worlds.accept_mail(email.text)

    @rule()
    def restart(self) -> None:
        self.worlds.reopen()


def _with_things_of(theirs: Employee, mine: Employee, what: str) -> Employee:
    """Me with another's address, or external id, or both."""
    return attrs.evolve(
        mine,
        email=mine.email if what == "external_id" else theirs.email,
        external_id=mine.external_id if what == "email" else theirs.external_id,
    )


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_sqlite_does_what_memory_does(tmp_path_factory: pytest.TempPathFactory) -> None:
    migrated = tmp_path_factory.mktemp("model") / "empty.db"
    migrate(f"sqlite:///{migrated}")

    def empty_store() -> str:
        return f"sqlite:///{shutil.copy(migrated, migrated.with_name('model.db'))}"

    _run(type("SqliteAgreesWithMemory", (StoresAgree,), {"empty_store": staticmethod(empty_store)}))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_postgres_does_what_memory_does(postgres: PlacedDatabase) -> None:
    def empty_store() -> str:
        postgres.empty()
        return postgres.url

    _run(type("PostgresAgreesWithMemory", (StoresAgree,), {"empty_store": staticmethod(empty_store)}))


def _run(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(machine, settings=settings(stateful_step_count=40))
