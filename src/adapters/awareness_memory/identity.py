"""Identity providers in memory, and one that vouches for whom it was told to: the fake of the network behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

from awareness_core.errors import SignInUnproven
from awareness_core.identity_ports import SignInRequest
from awareness_core.identity_providers import Identity, IdentityProvider
from awareness_core.ports import refuse_inside_transaction
from awareness_core.tenants import CompanyId
from awareness_memory.state import CompanyState


class MemoryIdentityProviders:
    """`IdentityProviders` of the world that `newest` gives."""

    def __init__(self, newest: Callable[[], Mapping[CompanyId, CompanyState]]) -> None:
        self._newest = newest

    async def find_provider(self, company_id: CompanyId) -> IdentityProvider | None:
        """See `IdentityProviders`."""
        state = self._newest().get(company_id)
        return None if state is None else state.identity_provider

    async def providers_of_domain(self, domain: str) -> Sequence[IdentityProvider]:
        """See `IdentityProviders`."""
        states = [state for state in self._newest().values() if domain in state.company.sso_domains]
        found = [state.identity_provider for state in states if state.identity_provider is not None]
        return sorted(found, key=lambda provider: provider.company_id)

    async def is_any_provider(self) -> bool:
        """See `IdentityProviders`."""
        return any(state.identity_provider is not None for state in self._newest().values())


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
