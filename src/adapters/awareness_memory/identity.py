"""Identity providers in memory, and one that vouches for whom it was told to: the fake of the network behind it."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from awareness_core.errors import NotFound, SignInUnproven
from awareness_core.identity_ports import SignInRequest
from awareness_core.identity_providers import Identity, IdentityProvider
from awareness_core.ports import refuse_inside_transaction
from awareness_core.tenants import CompanyId
from awareness_memory.store import MemoryStore


class MemoryIdentityProviders:
    """`IdentityProviders` of the companies in `store`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._providers: dict[CompanyId, IdentityProvider] = {}

    async def save_provider(self, provider: IdentityProvider) -> None:
        """See `IdentityProviders`."""
        if provider.company_id not in {company.id for company in await self._store.list_companies()}:
            raise NotFound("No such company.")
        self._providers[provider.company_id] = provider

    async def find_provider(self, company_id: CompanyId) -> IdentityProvider | None:
        """See `IdentityProviders`."""
        return self._providers.get(company_id)

    async def remove_provider(self, company_id: CompanyId) -> bool:
        """See `IdentityProviders`."""
        return self._providers.pop(company_id, None) is not None

    async def providers_of_domain(self, domain: str) -> Sequence[IdentityProvider]:
        """See `IdentityProviders`."""
        companies = await self._store.list_companies()
        found = [company.id for company in companies if domain in company.sso_domains]
        return [self._providers[company_id] for company_id in sorted(found) if company_id in self._providers]

    async def is_any_provider(self) -> bool:
        """See `IdentityProviders`."""
        return bool(self._providers)


class MemorySingleSignOn:
    """`SingleSignOn` without a network. `identities` are vouched for, once each, by issuer and code."""

    def __init__(self) -> None:
        self.identities: dict[tuple[str, str], Identity] = {}

    async def check(self, provider: IdentityProvider) -> None:
        """See `SingleSignOn`. Whatever is asked describes itself as it must."""

    async def address(self, provider: IdentityProvider, request: SignInRequest) -> str:
        """See `SingleSignOn`."""
        refuse_inside_transaction()
        return f"{provider.issuer}/authorize?{urlencode({'state': request.state})}"

    async def identity(
        self,
        provider: IdentityProvider,
        request: SignInRequest,  # noqa: ARG002 (the port's)
        *,
        code: str,
        issuer: str | None,  # noqa: ARG002 (the port's)
    ) -> Identity:
        """See `SingleSignOn`."""
        refuse_inside_transaction()
        identity = self.identities.pop((provider.issuer, code), None)
        if identity is None:
            raise SignInUnproven("no such code, or used", reason="code")
        return identity
