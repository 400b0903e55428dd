"""What the core asks of the outside world about identity providers: where they are kept, and what they answer.

A part of `ports`, which says what holds for every port.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs

from awareness_core.identity_providers import Identity, IdentityProvider
from awareness_core.tenants import CompanyId


class IdentityProviders(Protocol):
    """The providers of all companies: somebody at the door names an address before it is known whose they are.

    They are kept in their companies' transactions, see `PortalWriting`.
    """

    async def find_provider(self, company_id: CompanyId) -> IdentityProvider | None:
        """The provider of that company."""

    async def providers_of_domain(self, domain: str) -> Sequence[IdentityProvider]:
        """Those of companies with that SSO domain, by company."""

    async def is_any_provider(self) -> bool:
        """Whether any company has one."""


@attrs.frozen(kw_only=True)
class SignInRequest:
    """What one errand to a provider carries; `email` is what the person typed, for the provider's own form."""

    redirect_uri: str
    state: str
    nonce: str = attrs.field(repr=False)
    code_verifier: str = attrs.field(repr=False)
    email: str | None = attrs.field(default=None, repr=False)


class SingleSignOn(Protocol):
    """Speaks OpenID Connect to providers, over the network and never inside a transaction.

    Each method raises `ProviderUnavailable`, saying why, when a provider is away or slow; and its kind `SignInUnproven`
    when it answered what cannot be believed.
    """

    async def check(self, provider: IdentityProvider) -> None:
        """Nothing when the client's secret can be read and the provider describes itself as it must.

        The reason is `secret` when the file is at fault, `unreachable` or `slow` when nothing was answered.
        """

    async def address(self, provider: IdentityProvider, request: SignInRequest) -> str:
        """Where the browser is sent."""

    async def identity(
        self, provider: IdentityProvider, request: SignInRequest, *, code: str, issuer: str | None
    ) -> Identity:
        """Who came back with that code. `issuer` is who sent them, if the browser was told (RFC 9207)."""
