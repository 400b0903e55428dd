"""How a provider describes itself (OpenID Connect Discovery 1.0), and its keys: asked for, checked, and remembered.

What is known is an hour old at most. A failure is remembered for ten seconds, so that many who log in while a provider
is away are not each waiting for it, and each other.
"""

from __future__ import annotations

import asyncio
import re
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

import attrs
import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key

from awareness_core.clock_ports import Clock
from awareness_core.errors import ProviderUnavailable
from awareness_core.web_addresses import is_safe_url
from awareness_oidc.fetching import STRANGE, Limits, ask, shown

KEPT: Final = timedelta(hours=1)
FAILURE_KEPT: Final = timedelta(seconds=10)
METADATA: Final = "metadata"

_PATH: Final = "/.well-known/openid-configuration"
_MAX_KEYS: Final = 100
_VISIBLE: Final = re.compile(r"[!-~]{1,2000}")


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed of a provider's description."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    response_types_supported: tuple[str, ...] = ("code",)
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    code_challenge_methods_supported: tuple[str, ...] | None = None
    authorization_response_iss_parameter_supported: bool = False


class _KeySet(msgspec.Struct, frozen=True):
    keys: list[dict[str, object]]


_metadata: Final = msgspec.json.Decoder(Metadata)
_key_set: Final = msgspec.json.Decoder(_KeySet)


@attrs.define
class _Known:
    """What is known of one issuer. One question at a time is on its way."""

    turn: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    metadata: Metadata | None = None
    metadata_at: datetime | None = None
    keys: tuple[Key, ...] = ()
    keys_at: datetime | None = None
    failure: ProviderUnavailable | None = None
    failure_at: datetime | None = None


class ProviderDirectory:
    """What providers say of themselves. As many are remembered as companies have."""

    def __init__(self, *, clock: Clock, limits: Limits) -> None:
        self._clock = clock
        self._limits = limits
        self._known: dict[str, _Known] = {}

    async def metadata(self, issuer: str) -> Metadata:
        """Its description. Raises `ProviderUnavailable`."""
        known = self._known.setdefault(issuer, _Known())
        async with known.turn:
            if known.metadata is None or not self._is_fresh(known.metadata_at, KEPT):
                if known.failure is not None and self._is_fresh(known.failure_at, FAILURE_KEPT):
                    raise ProviderUnavailable(known.failure.message, reason=known.failure.reason)
                try:
                    known.metadata = await self._described(issuer)
                except ProviderUnavailable as error:
                    known.failure, known.failure_at = error, self._clock.now()
                    raise
                known.metadata_at = self._clock.now()
            return known.metadata

    async def keys(self, metadata: Metadata, *, are_new: bool = False) -> tuple[Key, ...]:
        """The keys that it signs with; with `are_new` asked for again. Raises `ProviderUnavailable`."""
        known = self._known.setdefault(metadata.issuer, _Known())
        async with known.turn:
            if are_new or not known.keys or not self._is_fresh(known.keys_at, KEPT):
                known.keys = await self._published(metadata.jwks_uri)
                known.keys_at = self._clock.now()
            return known.keys

    def forget(self, issuer: str) -> None:
        """Ask it anew next time."""
        self._known.pop(issuer, None)

    def _is_fresh(self, at: datetime | None, kept: timedelta) -> bool:
        return at is not None and timedelta(0) <= self._clock.now() - at < kept

    async def _described(self, issuer: str) -> Metadata:
        url = issuer.rstrip("/") + _PATH
        body = await self._json(url)
        try:
            found = _metadata.decode(body)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise ProviderUnavailable(
                f"{url} is no description of an OpenID provider: {_what_else(body) or error}", reason=METADATA
            ) from None
        fault = _fault(found, issuer)
        if fault is not None:
            raise ProviderUnavailable(f"{url} {fault}", reason=METADATA)
        return found

    async def _published(self, url: str) -> tuple[Key, ...]:
        body = await self._json(url)
        try:
            listed = _key_set.decode(body).keys
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise ProviderUnavailable(
                f"{shown(url)} is no set of keys: {_what_else(body) or error}", reason=METADATA
            ) from None
        keys = tuple(key for one in listed[:_MAX_KEYS] if (key := _key(one)) is not None)
        if not keys:
            raise ProviderUnavailable(f"{shown(url)} has no key that can be used", reason=METADATA)
        return keys

    async def _json(self, url: str) -> bytes:
        answer = await ask("GET", url, limits=self._limits)
        if answer.status != HTTPStatus.OK:
            raise ProviderUnavailable(
                f"{shown(url)} answered with the status {answer.status}", reason=STRANGE
            )
        return answer.body


def _fault(found: Metadata, issuer: str) -> str | None:
    """Why that description cannot be worked with."""
    if found.issuer != issuer:
        return f"is that of another issuer, {found.issuer[:200]!a}; the two must be spelt alike"
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"):
        url = getattr(found, name)
        # A query is no fault of it; what is in one goes into a header.
        if url is not None and not (is_safe_url(url.partition("?")[0]) and _VISIBLE.fullmatch(url)):
            return f"names a {name} that is not https, or no URL"
    if "code" not in found.response_types_supported:
        return "does not offer the authorization code flow"
    methods = found.code_challenge_methods_supported
    if methods is not None and "S256" not in methods:
        return "does not offer PKCE with S256"
    return None


def _key(jwk: dict[str, object]) -> Key | None:
    """None for what is no public key for signatures: others stand in such sets, too."""
    if jwk.get("use", "sig") != "sig" or jwk.get("kty") not in {"RSA", "EC", "OKP"}:
        return None
    try:
        return JWKRegistry.import_key(jwk)  # type: ignore[arg-type]  # its values are checked there
    except (JoseError, ValueError, TypeError, KeyError):
        return None


def _what_else(body: bytes) -> str | None:
    start = body[:512].lstrip()
    if not start:
        return "the answer is empty"
    if start.startswith(b"<"):
        return "it is a web page"
    return None if start[:1] in {b"{", b"["} else "it is no JSON"
