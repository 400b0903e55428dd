"""What every `Companies` does."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from awareness_core.errors import ConstraintViolated, NotFound
from awareness_core.tenants import Company, CompanyId, Language
from tests.contracts.storages import ACME, GLOBEX, NOW, Storage, apply, everyone, hired, person

pytestmark = pytest.mark.anyio


async def test_a_company_comes_back_as_it_was_stored(empty_storage: Storage) -> None:
    company = Company(
        id=CompanyId("01957c5a"),
        name="Société Générale d'Été",
        language=Language.ENGLISH,
        sso_domains=frozenset({"b.example", "a.example"}),
        invitation_lifetime=timedelta(days=3, milliseconds=1),
        color="#1a5a9c",
        created_at=NOW,
    )

    await empty_storage.companies.add_company(company)

    assert [company] == await empty_storage.companies.list_companies()
    async with empty_storage.store.reading(company.id) as reading:
        assert company == await reading.company()


async def test_companies_are_listed_by_name_whatever_its_case(empty_storage: Storage) -> None:
    names = ["beta", "Alpha", "émile", "Zeta", "alpine"]
    for name in names:
        await empty_storage.companies.add_company(attrs.evolve(ACME, id=CompanyId(name), name=name))

    listed = [company.name for company in await empty_storage.companies.list_companies()]

    assert ["Alpha", "alpine", "beta", "Zeta", "émile"] == listed


@pytest.mark.parametrize("name", ["Acme", "ACME", "  acme"])
async def test_a_name_is_taken_in_every_spelling(storage: Storage, name: str) -> None:
    with pytest.raises(ConstraintViolated):
        await storage.companies.add_company(attrs.evolve(ACME, id=CompanyId("other"), name=name))

    assert [ACME, GLOBEX] == await storage.companies.list_companies()


async def test_an_id_is_taken(storage: Storage) -> None:
    with pytest.raises(ConstraintViolated):
        await storage.companies.add_company(attrs.evolve(ACME, name="Another"))

    assert [ACME, GLOBEX] == await storage.companies.list_companies()


async def test_a_company_is_changed_whole_and_its_people_stay(storage: Storage) -> None:
    changed = attrs.evolve(
        ACME, name="Acme 2", language=Language.ENGLISH, sso_domains=frozenset({"a.example"}), color="#000000"
    )
    await apply(storage, hired(person(1)))

    await storage.companies.change_company(changed)

    assert [changed, GLOBEX] == await storage.companies.list_companies()
    async with storage.store.reading(ACME.id) as reading:
        assert changed == await reading.company()
    assert [person(1)] == await everyone(storage)


async def test_a_change_takes_no_name_of_another_and_makes_no_company(storage: Storage) -> None:
    with pytest.raises(ConstraintViolated):
        await storage.companies.change_company(attrs.evolve(ACME, name="GLOBEX"))
    with pytest.raises(NotFound):
        await storage.companies.change_company(attrs.evolve(ACME, id=CompanyId("other"), name="Other"))

    assert [ACME, GLOBEX] == await storage.companies.list_companies()
