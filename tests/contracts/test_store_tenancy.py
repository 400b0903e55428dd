"""What no `Store` does: let one company see or change what is another's."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

import attrs
import pytest

from awareness_core.anonymity import AddressMark, ErasedAddress
from awareness_core.campaigns import CampaignId, CampaignQuery, CampaignState
from awareness_core.emails import EmailKey
from awareness_core.employees import Access, EmployeeState
from awareness_core.errors import ConstraintViolated
from awareness_core.kpis import Step
from awareness_core.outbox import decided
from awareness_core.pages import PageRequest
from awareness_core.periods import Period
from awareness_core.ports import EmployeeQuery, Reading, RosterEntry, Transaction
from awareness_core.records import fingerprint_of
from awareness_core.results_plan import ResultChanges
from awareness_core.sectors import Sector, SectorId
from awareness_core.verdict_rules import VerdictRules
from tests.contracts.storages import (
    ACME,
    GLOBEX,
    NOW,
    Seen,
    Storage,
    campaign,
    changed,
    hired,
    password,
    person,
    receipt,
)
from tests.contracts.test_identity_providers import provider
from tests.contracts.test_store_portal import chosen, session
from tests.core.tellings import happened, targeted

pytestmark = pytest.mark.anyio

# One person, one sector, one campaign with a password each: the same ids in both companies, but for what is unique.
OURS = person(1, external_id="E1", sector_id=SectorId(1), email="ours@acme.example")
THEIRS = person(1, external_id="E1", sector_id=SectorId(1), email="theirs@globex.example", last_name="Other")
ONLY_THEIRS = person(2, external_id="E2", email="only.theirs@globex.example")
ALWAYS = Period(start=NOW - timedelta(days=1), end=NOW + timedelta(days=1))
LONG_AFTER = NOW + timedelta(days=9)
ERASED = ErasedAddress(mark=AddressMark("Globex"), until=NOW)
OURS_SPELT, THEIRS_SPELT = fingerprint_of(b"ours"), fingerprint_of(b"theirs")
GLANCES = [
    Seen(spelt, external_id, email)
    for spelt in (OURS_SPELT, THEIRS_SPELT)
    for external_id, email in (("E1", ""), ("E2", ""), (None, str(OURS.email)), (None, str(THEIRS.email)))
]


@pytest.fixture
async def both(storage: Storage) -> Storage:
    for company, people in ((ACME, [OURS]), (GLOBEX, [THEIRS, ONLY_THEIRS])):
        async with storage.store.transaction(company.id) as transaction:
            spelt = OURS_SPELT if company is ACME else THEIRS_SPELT
            await transaction.apply(
                changes=[
                    attrs.evolve(change, fingerprint=spelt if change.after.id == OURS.id else None)
                    for change in hired(*people)
                ],
                sectors=[Sector(id=SectorId(1), name=f"Sector of {company.name}")],
            )
            await transaction.save_campaigns([campaign(1, name=f"Campaign of {company.name}")])
            told = happened(company.id, Step.REPORTED)
            results = ResultChanges(new_recipients=[targeted(company.id)], new_events=[told.event])
            await transaction.save_results(campaign(1).id, results)
    async with storage.store.transaction(GLOBEX.id) as transaction:
        await transaction.record_attempts([password(ONLY_THEIRS, 2)])
        await transaction.save_pending([decided(ONLY_THEIRS.id, holder="Globex", now=NOW)])
        await transaction.save_verdict_rules(VerdictRules(scanner_agents=("globex",)))
        await transaction.save_receipt(receipt(holder="Globex"), answer=[b"to Globex"])
        await transaction.save_campaigns([campaign(2, external_id="theirs")])
        await transaction.save_chosen_password(chosen(ONLY_THEIRS, "of Globex"))
        await transaction.save_session(session(3, ONLY_THEIRS))
        await transaction.save_identity_provider(provider(GLOBEX))
        await transaction.save_erasure_secret(b"of Globex")
        await transaction.save_erased_addresses([ERASED])
    return storage


async def _joined(parts: AsyncIterator[bytes]) -> bytes:
    return b"".join([part async for part in parts])


async def _listed(pages: AsyncIterator[Sequence[RosterEntry]]) -> list[RosterEntry]:
    return [entry async for page in pages for entry in page]


TARGETED = [targeted(company.id).email.key for company in (ACME, GLOBEX)]
HAPPENED = [happened(company.id, Step.REPORTED).event.key for company in (ACME, GLOBEX)]

Question = Callable[[Reading], Awaitable[Any]]

QUESTIONS: dict[str, list[Question]] = {
    "company": [lambda reading: reading.company()],
    "sectors": [lambda reading: reading.sectors()],
    "matching_employees": [
        lambda reading: reading.matching_employees(
            external_ids=["E1", "E2"],
            email_keys=[OURS.email.key, THEIRS.email.key, ONLY_THEIRS.email.key],
        )
    ],
    "rostered_employees": [lambda reading: reading.rostered_employees()],
    "count_rostered_employees": [lambda reading: reading.count_rostered_employees()],
    "roster": [lambda reading: _listed(reading.roster())],
    "unchanged_people": [lambda reading: reading.unchanged_people(GLANCES)],
    "employees_by_id": [lambda reading: reading.employees_by_id([OURS.id, ONLY_THEIRS.id])],
    "employees_without_password": [lambda reading: reading.employees_without_password()],
    "list_employees": [
        lambda reading, query=query: reading.list_employees(query)  # type: ignore[misc]
        for query in (
            EmployeeQuery(),
            EmployeeQuery(external_id="E2"),
            EmployeeQuery(email_key=EmailKey("only.theirs@globex.example")),
            EmployeeQuery(state=EmployeeState.ACTIVE),
            EmployeeQuery(access=Access.AWAITING_ACCESS),
            EmployeeQuery(sector_id=SectorId(1)),
            EmployeeQuery(text="e"),
        )
    ],
    "list_campaigns": [
        lambda reading, query=query: reading.list_campaigns(query)  # type: ignore[misc]
        for query in (
            CampaignQuery(period=ALWAYS),
            CampaignQuery(period=ALWAYS, state=CampaignState.DRAFT),
        )
    ],
    "receipt": [lambda reading: reading.receipt(receipt().id)],
    "kept_answer": [lambda reading: _joined(reading.kept_answer(receipt().id))],
    "campaign": [lambda reading, name=name: reading.campaign(CampaignId(name)) for name in ("0001", "0002")],  # type: ignore[misc]
    "campaign_by_external_id": [lambda reading: reading.campaign_by_external_id("theirs")],
    "report_times": [lambda reading: reading.report_times(CampaignId("0001"))],
    "recipients": [lambda reading: reading.recipients(CampaignId("0001"), TARGETED)],
    "list_recipients": [lambda reading: reading.list_recipients(CampaignId("0001"), PageRequest())],
    "recipients_after": [lambda reading: reading.recipients_after(CampaignId("0001"), None, limit=9)],
    "events": [
        lambda reading: reading.events(CampaignId("0001"), recipients=TARGETED),
        lambda reading: reading.events(CampaignId("0001"), keys=HAPPENED),
    ],
    "recipients_active_after": [
        lambda reading: reading.recipients_active_after(CampaignId("0001"), NOW - timedelta(days=1))
    ],
    "due_invitations": [lambda reading: reading.due_invitations(at=NOW + timedelta(days=9), limit=9)],
    "held_invitations": [lambda reading: reading.held_invitations("Globex")],
    "verdict_rules": [lambda reading: reading.verdict_rules()],
    "chosen_password": [lambda reading: reading.chosen_password(ONLY_THEIRS.id)],
    "session": [lambda reading: reading.session(session(3, ONLY_THEIRS).digest)],
    "identity_provider": [lambda reading: reading.identity_provider()],
    "campaigns_by_id": [lambda reading: reading.campaigns_by_id([CampaignId("0001"), CampaignId("0002")])],
    "temporary_passwords": [lambda reading: reading.temporary_passwords(ONLY_THEIRS.id)],
    "recipients_of_employees": [lambda reading: reading.recipients_of_employees([OURS.id, ONLY_THEIRS.id])],
    "untied_recipients": [
        lambda reading: reading.untied_recipients(external_ids=["E1", "E2"], email_keys=TARGETED)
    ],
    "employees_archived_before": [lambda reading: reading.employees_archived_before(LONG_AFTER, limit=9)],
    "count_employees_archived_before": [lambda reading: reading.count_employees_archived_before(LONG_AFTER)],
    "erasure_secret": [lambda reading: reading.erasure_secret()],
    "erased_addresses": [lambda reading: reading.erased_addresses([AddressMark("Globex")])],
}


def test_every_question_is_asked() -> None:
    methods = {name for name, _ in inspect.getmembers(Reading, inspect.isfunction) if name[0] != "_"}

    assert {"addresses_held_by_other_companies"} == methods - QUESTIONS.keys()


@pytest.mark.parametrize("name", QUESTIONS)
async def test_no_answer_holds_anything_of_another_company(both: Storage, name: str) -> None:
    for question in QUESTIONS[name]:
        async with both.store.reading(ACME.id) as reading:
            read = await question(reading)
        async with both.store.transaction(ACME.id) as transaction:
            read_to_write = await question(transaction)
        glanced_at = await question(both.store.glance(ACME.id))

        assert read == read_to_write == glanced_at
        assert not [word for word in ("globex", "Globex", "Other", "0002", "E2") if word in repr(read)]


async def test_whether_another_company_holds_an_address_is_all_that_is_told(both: Storage) -> None:
    async with both.store.reading(ACME.id) as reading:
        held = await reading.addresses_held_by_other_companies(
            [OURS.email.key, THEIRS.email.key, EmailKey("nobody@acme.example")]
        )

    assert {THEIRS.email.key} == held


Write = Callable[[Transaction], Awaitable[None]]


@pytest.mark.parametrize(
    "write",
    [
        lambda transaction: transaction.apply(changes=[changed(ONLY_THEIRS, last_name="Mine")]),
        lambda transaction: transaction.apply(changes=[changed(ONLY_THEIRS, external_id=None)]),
        lambda transaction: transaction.record_attempts([password(ONLY_THEIRS, 9)]),
        lambda transaction: transaction.save_chosen_password(chosen(ONLY_THEIRS)),
        lambda transaction: transaction.save_session(session(9, ONLY_THEIRS)),
        lambda transaction: transaction.save_pending([decided(ONLY_THEIRS.id, holder="Acme", now=NOW)]),
    ],
)
async def test_writing_to_somebody_of_another_company_is_refused(both: Storage, write: Write) -> None:
    with pytest.raises(ConstraintViolated):
        async with both.store.transaction(ACME.id) as transaction:
            await write(transaction)

    assert _untouched() == await _seen_by_globex(both)


async def test_writes_to_one_company_leave_the_same_ids_of_another_alone(both: Storage) -> None:
    async with both.store.transaction(ACME.id) as transaction:
        await transaction.apply(
            changes=[changed(OURS, last_name="Changed", external_id=None)],
            sectors=[Sector(id=SectorId(2), name="New")],
        )
        await transaction.record_attempts([password(OURS, 1)])
        await transaction.record_deliveries([password(OURS, 1), password(ONLY_THEIRS, 2)])
        await transaction.record_failures(
            [(password(OURS, 1), LONG_AFTER), (password(ONLY_THEIRS, 2), LONG_AFTER)]
        )
        await transaction.forget_passwords([OURS.id, ONLY_THEIRS.id])
        await transaction.save_pending([decided(OURS.id, holder="Globex", now=NOW)])
        await transaction.forget_pending([OURS.id, ONLY_THEIRS.id], holder="Globex")
        await transaction.forget_pending([OURS.id, ONLY_THEIRS.id])
        await transaction.save_verdict_rules(None)
        await transaction.save_campaigns([campaign(1, name="Changed"), campaign(2, name="Changed")])
        await transaction.save_receipt(receipt(), answer=[b"changed"])
        await transaction.purge_receipts(at=NOW + timedelta(days=9), at_most=9)
        await transaction.forget_receipt(receipt().id)
        await transaction.save_chosen_password(chosen(OURS))
        await transaction.save_session(session(2, OURS))
        await transaction.end_session(session(3, ONLY_THEIRS).digest)
        await transaction.end_sessions([OURS.id, ONLY_THEIRS.id])
        await transaction.purge_sessions(at=LONG_AFTER, at_most=9)
        await transaction.end_sso_sessions()
        await transaction.save_identity_provider(provider(GLOBEX))
        await transaction.forget_identity_provider()
        await transaction.save_erasure_secret(b"of Acme")
        await transaction.save_erased_addresses([attrs.evolve(ERASED, until=LONG_AFTER)])
        await transaction.remove_employees([OURS.id, ONLY_THEIRS.id])
        await transaction.forget_answers()

    assert _untouched() == await _seen_by_globex(both)


def _untouched() -> list[object]:
    return [
        ["Other", "Name2"],
        [None, None],
        ["Sector of Globex"],
        [password(ONLY_THEIRS, 2)],
        [decided(ONLY_THEIRS.id, holder="Globex", now=NOW)],
        ("globex",),
        ["Campaign 2", "Campaign of Globex"],
        receipt(holder="Globex"),
        b"to Globex",
        b"of Globex",
        [ERASED],
        chosen(ONLY_THEIRS, "of Globex"),
        session(3, ONLY_THEIRS),
        provider(GLOBEX),
    ]


async def _seen_by_globex(storage: Storage) -> list[object]:
    async with storage.store.reading(GLOBEX.id) as reading:
        people = (await reading.list_employees(EmployeeQuery())).items
        campaigns = (await reading.list_campaigns(CampaignQuery(period=ALWAYS))).items
        return [
            [someone.last_name for someone in people],
            [someone.invitation.last_sent_at for someone in people],
            [sector.name for sector in await reading.sectors()],
            await reading.temporary_passwords(ONLY_THEIRS.id),
            await reading.held_invitations("Globex"),
            (await reading.verdict_rules()).scanner_agents,
            [found.name for found in campaigns],
            await reading.receipt(receipt().id),
            await _joined(reading.kept_answer(receipt().id)),
            await reading.erasure_secret(),
            await reading.erased_addresses([ERASED.mark]),
            await reading.chosen_password(ONLY_THEIRS.id),
            await reading.session(session(3, ONLY_THEIRS).digest),
            await reading.identity_provider(),
        ]
