"""What every `Store` lists: which people and campaigns, in which order, how many pages of them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.campaigns import Campaign, CampaignQuery, CampaignState
from awareness_core.emails import EmailKey
from awareness_core.employees import Access, Employee, EmployeeState, access
from awareness_core.kpis import Funnel
from awareness_core.pages import Page, PageRequest
from awareness_core.periods import Period
from awareness_core.ports import EmployeeQuery
from awareness_core.sectors import Sector, SectorId
from awareness_core.tenants import Company
from tests.contracts.storages import (
    ACME,
    GLOBEX,
    LATER,
    NOW,
    Storage,
    apply,
    campaign,
    hired,
    person,
    storage_of,
)

pytestmark = pytest.mark.anyio

ALWAYS = Period(start=NOW - timedelta(days=36_500), end=NOW + timedelta(days=36_500))


async def _list(storage: Storage, query: EmployeeQuery) -> Page[Employee]:
    async with storage.store.reading(ACME.id) as reading:
        return await reading.list_employees(query)


async def _list_campaigns(storage: Storage, query: CampaignQuery) -> Page[Campaign]:
    async with storage.store.reading(ACME.id) as reading:
        return await reading.list_campaigns(query)


async def test_people_are_listed_by_id_page_by_page(storage: Storage) -> None:
    people = [person(number) for number in (3, 1, 5, 2, 4)]
    await apply(storage, hired(*people))

    pages = [
        await _list(storage, EmployeeQuery(page=PageRequest(page=number, limit=2)))
        for number in (1, 2, 3, 4, 1_000_000_000)
    ]

    assert [["0001", "0002"], ["0003", "0004"], ["0005"], [], []] == [
        [employee.id for employee in page.items] for page in pages
    ]
    assert {5} == {page.total for page in pages}
    assert [True, True, False, False, False] == [page.has_more for page in pages]


async def test_each_filter_narrows_and_all_together_do(storage: Storage) -> None:
    wanted = person(
        1, external_id="E1", last_name="Dupont", sector_id=SectorId(1), state=EmployeeState.ACTIVE
    )
    others = [
        person(2, external_id="E2", last_name="Dupont"),
        person(3, last_name="Martin", sector_id=SectorId(1)),
        person(4, email=wanted.email.text, state=EmployeeState.ARCHIVED, archived_at=NOW),
    ]
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.apply(
            changes=hired(wanted, *others), sectors=[Sector(id=SectorId(1), name="Sales")]
        )
    narrowed = [
        (EmployeeQuery(external_id="E1"), {"0001"}),
        (EmployeeQuery(email_key=wanted.email.key), {"0001", "0004"}),
        (EmployeeQuery(state=EmployeeState.ACTIVE), {"0001", "0002", "0003"}),
        (EmployeeQuery(access=Access.AWAITING_ACCESS), {"0001", "0002", "0003"}),
        (EmployeeQuery(sector_id=SectorId(1)), {"0001", "0003"}),
        (EmployeeQuery(text="dupont"), {"0001", "0002"}),
        (EmployeeQuery(external_id="E2", sector_id=SectorId(1)), set()),
        (
            EmployeeQuery(
                external_id="E1",
                email_key=wanted.email.key,
                state=EmployeeState.ACTIVE,
                access=Access.AWAITING_ACCESS,
                sector_id=SectorId(1),
                text="DUPONT",
            ),
            {"0001"},
        ),
    ]

    for query, expected in narrowed:
        page = await _list(storage, query)
        assert (expected, len(expected)) == ({found.id for found in page.items}, page.total)


@pytest.mark.parametrize("domains", [(), ("x.example",), ("x.example", "y.example", "z.example")])
async def test_a_page_beyond_the_last_knows_how_many_use_single_sign_on(
    empty_storage: Storage, domains: tuple[str, ...]
) -> None:
    await empty_storage.companies.add_company(attrs.evolve(ACME, sso_domains=frozenset(domains)))
    people = [person(1, email="1@x.example"), person(2, email="2@y.example"), person(3, email="3@x.example")]
    await apply(empty_storage, hired(*people))

    page = await _list(empty_storage, EmployeeQuery(access=Access.SSO, page=PageRequest(page=9, limit=1)))

    assert (0, {0: 0, 1: 2, 3: 3}[len(domains)]) == (len(page.items), page.total)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("müller", {"0001"}),
        ("MU\u0308LLER", {"0001"}),
        ("  zoë   müller ", {"0001"}),
        ("müller zoë", {"0001"}),
        ("strasse", {"0002"}),
        ("STRASSE", {"0002"}),
        ("straße", {"0002"}),
        ("acme.ex", {"0001", "0002", "0003"}),
        ("", {"0001", "0002", "0003"}),
        ("%", {"0003"}),
        ("_", {"0003"}),
        ("\\", {"0003"}),
        ("100% \\_o/", {"0003"}),
        ("muller", set()),
        ("zoe", set()),
        ("\0", set()),
        ("m\0", set()),
        ("\ud800", set()),
        ("x" * 60_000, set()),
    ],
)
async def test_a_text_is_sought_literally_but_for_case_and_blanks(
    storage: Storage, text: str, expected: set[str]
) -> None:
    await apply(
        storage,
        hired(
            person(1, first_name="Zoë", last_name="Müller"),
            person(2, first_name="Ann", last_name="Straße"),
            person(3, first_name="Bo", last_name="100% \\_o/"),
        ),
    )

    page = await _list(storage, EmployeeQuery(text=text))

    assert expected == {employee.id for employee in page.items}
    assert len(expected) == page.total


@pytest.mark.parametrize("unheard_of", ["\0", "E1\0", "\ud800", "' OR 1=1 --"])
async def test_a_filter_that_nothing_stored_can_match_matches_nothing(
    storage: Storage, unheard_of: str
) -> None:
    await apply(storage, hired(person(1, external_id="E1")))

    assert [] == (await _list(storage, EmployeeQuery(external_id=unheard_of))).items
    assert [] == (await _list(storage, EmployeeQuery(email_key=EmailKey(unheard_of)))).items


@pytest.mark.slow
def test_access_is_filtered_as_the_core_derives_it(migrated: Path) -> None:
    domains = st.sampled_from(["a.example", "b.example", "c.example"])
    person_facts = st.tuples(domains, st.sampled_from(EmployeeState), st.booleans(), st.booleans())

    @given(facts=st.lists(person_facts, max_size=8), sso=st.frozensets(domains))
    @example(facts=[("a.example", EmployeeState.ARCHIVED, True, True)], sso=frozenset({"a.example"}))
    @example(facts=[("a.example", EmployeeState.ARCHIVED, True, True)], sso=frozenset())
    def holds(facts: list[tuple[str, EmployeeState, bool, bool]], sso: frozenset[str]) -> None:
        company = attrs.evolve(ACME, sso_domains=sso)
        people = [
            person(
                number,
                email=f"p{number}@{domain}",
                state=state,
                first_login_at=NOW if has_logged_in else None,
                has_password=has_password,
            )
            for number, (domain, state, has_logged_in, has_password) in enumerate(facts)
        ]
        for kind in ("memory", "sqlite"):
            with tempfile.TemporaryDirectory() as folder:
                listed = asyncio.run(listed_by_access(kind, Path(folder), company, people))
            assert {
                wanted: [employee for employee in people if access(employee, company) is wanted]
                for wanted in Access
            } == listed

    async def listed_by_access(
        kind: str, folder: Path, company: Company, people: list[Employee]
    ) -> dict[Access, Sequence[Employee]]:
        async with storage_of(kind, migrated, folder) as storage:
            await storage.companies.add_company(company)
            await apply(storage, hired(*people))
            return {wanted: (await _list(storage, EmployeeQuery(access=wanted))).items for wanted in Access}

    holds()


async def test_campaigns_come_back_as_they_were_stored(storage: Storage) -> None:
    plain = campaign(1)
    full = campaign(
        2,
        name="Été: “Facture”",
        state=CampaignState.COMPLETED,
        starts_at=NOW - timedelta(days=1),
        ends_at=LATER,
        funnel=Funnel(
            total=100, sent=99, opened=50, clicked=20, submitted=10, reported=5, errors=1, machine=7
        ),
    )
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_campaigns([plain, full])

    assert [plain, full] == (await _list_campaigns(storage, CampaignQuery(period=ALWAYS))).items


async def test_campaigns_are_listed_latest_first_then_by_id_descending(storage: Storage) -> None:
    campaigns = [
        campaign(1, created_at=LATER),
        campaign(2, created_at=LATER, starts_at=NOW),
        campaign(3, created_at=NOW),
        campaign(4, created_at=NOW, starts_at=LATER + timedelta(milliseconds=1)),
    ]
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_campaigns(campaigns)

    pages = [
        await _list_campaigns(storage, CampaignQuery(period=ALWAYS, page=PageRequest(page=number, limit=3)))
        for number in (1, 2, 3)
    ]

    assert [["0004", "0001", "0003"], ["0002"], []] == [[found.id for found in page.items] for page in pages]
    assert {4} == {page.total for page in pages}


async def test_a_period_includes_both_its_ends(storage: Storage) -> None:
    millisecond = timedelta(milliseconds=1)
    moments = [NOW - millisecond, NOW, NOW + millisecond, LATER, LATER + millisecond]
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_campaigns(
            [campaign(number, starts_at=moment) for number, moment in enumerate(moments)]
        )

    page = await _list_campaigns(storage, CampaignQuery(period=Period(start=NOW, end=LATER)))

    assert ["0003", "0002", "0001"] == [found.id for found in page.items]


async def test_campaigns_are_filtered_by_state(storage: Storage) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_campaigns(
            [campaign(number, state=state) for number, state in enumerate(CampaignState)]
        )

    found = {
        state: [
            item.state
            for item in (await _list_campaigns(storage, CampaignQuery(period=ALWAYS, state=state))).items
        ]
        for state in CampaignState
    }

    assert {state: [state] for state in CampaignState} == found


async def test_campaigns_of_another_company_are_not_counted(storage: Storage) -> None:
    for company, held in ((ACME, 5), (GLOBEX, 2)):
        async with storage.store.transaction(company.id) as transaction:
            await transaction.save_campaigns([campaign(number) for number in range(held)])

    queries = [
        CampaignQuery(period=ALWAYS, state=state, page=PageRequest(page=number, limit=1))
        for state in (None, campaign(0).state)
        for number in (1, 2, 9)
    ]
    async with storage.store.reading(GLOBEX.id) as reading:
        assert {2} == {(await reading.list_campaigns(query)).total for query in queries}


async def test_saving_a_campaign_again_replaces_it_and_no_other(storage: Storage) -> None:
    for company in (ACME, GLOBEX):
        async with storage.store.transaction(company.id) as transaction:
            await transaction.save_campaigns([campaign(1), campaign(2)])

    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_campaigns(
            [campaign(1, name="Lost"), campaign(3), campaign(1, name="Kept", created_at=LATER)]
        )

    listed = (await _list_campaigns(storage, CampaignQuery(period=ALWAYS))).items
    assert [campaign(1, name="Kept", created_at=LATER), campaign(3), campaign(2)] == listed
    async with storage.store.reading(GLOBEX.id) as reading:
        theirs = await reading.list_campaigns(CampaignQuery(period=ALWAYS))
    assert [campaign(2), campaign(1)] == theirs.items
