"""What every `IdentityProviders` does."""

from __future__ import annotations

import attrs
import pytest

from awareness_core.identity_providers import IdentityProvider
from awareness_core.tenants import Company, CompanyId
from tests.contracts.storages import ACME, GLOBEX, LATER, NOW, Storage

pytestmark = pytest.mark.anyio


def provider(company: Company = ACME) -> IdentityProvider:
    return IdentityProvider(
        company_id=company.id,
        issuer=f"https://login.{company.id}.example/tenant",
        client_id=f"client of {company.name}",
        client_secret_file="/run/secrets/oidc",
        created_at=NOW,
    )


async def save(storage: Storage, *providers: IdentityProvider) -> None:
    """Each as its company's."""
    for one in providers:
        async with storage.store.transaction(one.company_id) as transaction:
            await transaction.save_identity_provider(one)


async def test_a_company_has_one_at_most_and_the_last_one_counts(storage: Storage) -> None:
    providers = storage.identity_providers
    before = [await providers.find_provider(ACME.id), await providers.is_any_provider()]
    other = attrs.evolve(
        provider(), issuer="https://é.example", client_id="x", client_secret_file="y", created_at=LATER
    )
    await save(storage, provider())
    first = await providers.find_provider(ACME.id)
    await save(storage, other)

    assert [None, False] == before
    assert (provider(), other) == (first, await providers.find_provider(ACME.id))
    assert await providers.is_any_provider()
    assert None is await providers.find_provider(GLOBEX.id)
    assert None is await providers.find_provider(CompanyId("a\0b\ud800"))


async def test_one_that_names_another_company_is_kept_as_the_companys_own(storage: Storage) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_identity_provider(attrs.evolve(provider(), company_id=GLOBEX.id))
        own = await transaction.identity_provider()

    assert provider() == own
    assert [provider(), None] == [
        await storage.identity_providers.find_provider(company.id) for company in (ACME, GLOBEX)
    ]


async def test_forgetting_one_leaves_that_of_another_company_alone(storage: Storage) -> None:
    await save(storage, provider(ACME), provider(GLOBEX))
    for _ in range(2):
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.forget_identity_provider()

    assert [None, provider(GLOBEX)] == [
        await storage.identity_providers.find_provider(company.id) for company in (ACME, GLOBEX)
    ]


async def test_a_domain_leads_to_the_providers_of_the_companies_that_have_it(storage: Storage) -> None:
    providers = storage.identity_providers
    domains = frozenset({"shared.example", "globex.example"})
    await storage.companies.change_company(attrs.evolve(GLOBEX, sso_domains=domains))
    without = await providers.providers_of_domain("globex.example")
    await save(storage, provider(GLOBEX), provider(ACME))
    alone = [await providers.providers_of_domain(name) for name in ("sso.example", "globex.example")]
    both = attrs.evolve(ACME, sso_domains=frozenset({"shared.example"}))
    await storage.companies.change_company(both)

    assert [] == list(without)
    assert [[provider(ACME)], [provider(GLOBEX)]] == [list(found) for found in alone]
    assert [provider(ACME), provider(GLOBEX)] == list(await providers.providers_of_domain("shared.example"))
    for name in ("sso.example", "example", "red.example", "shared.example globex.example", "", "%"):
        assert [] == list(await providers.providers_of_domain(name))
