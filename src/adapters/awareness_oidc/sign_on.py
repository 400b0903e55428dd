"""`SingleSignOn` by OpenID Connect. What it takes is imported when somebody first logs in so, in a thread.

The ciphers that verify signatures take longer to import than most commands take to run, and none but the portal's
visitors needs them.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Final

from awareness_core.clock_ports import Clock
from awareness_core.identity_ports import SignInRequest
from awareness_core.identity_providers import Identity, IdentityProvider
from awareness_oidc.fetching import Limits

if TYPE_CHECKING:
    from awareness_oidc.client import OidcClient

_DEFAULT_LIMITS: Final = Limits()


class OidcSignOn:
    """Speaks to any number of providers."""

    def __init__(self, *, clock: Clock, limits: Limits = _DEFAULT_LIMITS) -> None:
        self._clock = clock
        self._limits = limits
        self._made: OidcClient | None = None

    async def check(self, provider: IdentityProvider) -> None:
        """See `SingleSignOn`."""
        await (await self._client()).check(provider)

    async def address(self, provider: IdentityProvider, request: SignInRequest) -> str:
        """See `SingleSignOn`."""
        return await (await self._client()).address(provider, request)

    async def identity(
        self, provider: IdentityProvider, request: SignInRequest, *, code: str, issuer: str | None
    ) -> Identity:
        """See `SingleSignOn`."""
        return await (await self._client()).identity(provider, request, code=code, issuer=issuer)

    async def _client(self) -> OidcClient:
        module = await asyncio.to_thread(import_module, "awareness_oidc.client")
        if self._made is None:
            self._made = module.OidcClient(clock=self._clock, limits=self._limits)
        return self._made
