"""The authorization code flow of OpenID Connect, with PKCE, for a client that has a secret.

Authlib makes the requests, `fetching` sends them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote_plus

import msgspec
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.client import OAuth2Client
from authlib.oauth2.rfc6749.parameters import prepare_token_request

from awareness_core.clock_ports import Clock
from awareness_core.errors import ProviderUnavailable, SignInUnproven
from awareness_core.identity_ports import SignInRequest
from awareness_core.identity_providers import Identity, IdentityProvider
from awareness_oidc.fetching import SLOW, STRANGE, Limits, ask, shown
from awareness_oidc.metadata import Metadata, ProviderDirectory
from awareness_oidc.tokens import TOKEN, NoKeyFits, identity_of, verified_claims

SECRET: Final = "secret"  # noqa: S105 (a reason)
CODE: Final = "code"
CLIENT: Final = "client"
ISSUER: Final = "issuer"
USERINFO: Final = "userinfo"

_SCOPE: Final = "openid email"
_LONGEST_SECRET: Final = 1024
_FORM: Final = "application/x-www-form-urlencoded"


class _Tokens(msgspec.Struct, frozen=True):
    id_token: str
    access_token: str | None = None


class _Refusal(msgspec.Struct, frozen=True):
    error: str = ""


_tokens: Final = msgspec.json.Decoder(_Tokens)
_refusal: Final = msgspec.json.Decoder(_Refusal)
_claims: Final = msgspec.json.Decoder(dict[str, Any])


class OidcClient:
    """Speaks to any number of providers. Remembers what they say of themselves, and of people nothing."""

    def __init__(self, *, clock: Clock, limits: Limits) -> None:
        self._clock = clock
        self._limits = limits
        self._directory = ProviderDirectory(clock=clock, limits=limits)

    async def check(self, provider: IdentityProvider) -> None:
        """See `SingleSignOn`."""
        await asyncio.to_thread(_read_secret, Path(provider.client_secret_file))
        async with self._in_time(provider):
            self._directory.forget(provider.issuer)
            metadata = await self._directory.metadata(provider.issuer)
            _auth_method(metadata)
            await self._directory.keys(metadata)

    async def address(self, provider: IdentityProvider, request: SignInRequest) -> str:
        """See `SingleSignOn`."""
        async with self._in_time(provider):
            metadata = await self._directory.metadata(provider.issuer)
        client = OAuth2Client(
            session=None,
            client_id=provider.client_id,
            redirect_uri=request.redirect_uri,
            scope=_SCOPE,
            code_challenge_method="S256",
        )
        hint = {} if request.email is None else {"login_hint": request.email}
        url, _ = client.create_authorization_url(
            metadata.authorization_endpoint,
            state=request.state,
            nonce=request.nonce,
            code_verifier=request.code_verifier,
            **hint,
        )
        return str(url)

    async def identity(
        self, provider: IdentityProvider, request: SignInRequest, *, code: str, issuer: str | None
    ) -> Identity:
        """See `SingleSignOn`."""
        async with self._in_time(provider):
            metadata = await self._directory.metadata(provider.issuer)
            is_missing = issuer is None and metadata.authorization_response_iss_parameter_supported
            if is_missing or issuer not in {None, provider.issuer}:
                raise SignInUnproven(
                    f"whoever sent the person is not, or does not say to be, {provider.issuer}", reason=ISSUER
                )
            tokens = await self._redeem(provider, metadata, request, code)
            claims = await self._believed(provider, metadata, request, tokens)
            if claims.get("email") is None and metadata.userinfo_endpoint and tokens.access_token:
                claims = await self._more(metadata.userinfo_endpoint, tokens.access_token, claims)
        return identity_of(claims)

    @asynccontextmanager
    async def _in_time(self, provider: IdentityProvider) -> AsyncIterator[None]:
        """The one limit over all that is asked on one occasion."""
        try:
            async with asyncio.timeout(self._limits.whole):
                yield
        except TimeoutError:
            message = f"{provider.issuer} took longer than {self._limits.whole:g} s"
            raise ProviderUnavailable(message, reason=SLOW) from None

    async def _redeem(
        self, provider: IdentityProvider, metadata: Metadata, request: SignInRequest, code: str
    ) -> _Tokens:
        secret = await asyncio.to_thread(_read_secret, Path(provider.client_secret_file))
        body = prepare_token_request(
            "authorization_code",
            code=code,
            redirect_uri=request.redirect_uri,
            code_verifier=request.code_verifier,
        )
        url, headers, body = _with_secret(provider.client_id, secret, metadata, body)
        answer = await ask("POST", url, limits=self._limits, headers=headers, body=body)
        where = shown(metadata.token_endpoint)
        if answer.status != HTTPStatus.OK:
            raise _token_refusal(where, answer.status, answer.body)
        try:
            return _tokens.decode(answer.body)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            raise ProviderUnavailable(f"{where} answered without an ID token", reason=STRANGE) from None

    async def _believed(
        self, provider: IdentityProvider, metadata: Metadata, request: SignInRequest, tokens: _Tokens
    ) -> Mapping[str, Any]:
        for are_new in (False, True):
            keys = await self._directory.keys(metadata, are_new=are_new)
            try:
                return await asyncio.to_thread(
                    verified_claims,
                    tokens.id_token,
                    keys,
                    issuer=provider.issuer,
                    client_id=provider.client_id,
                    nonce=request.nonce,
                    access_token=tokens.access_token,
                    now=self._clock.now(),
                )
            except NoKeyFits:
                continue
        raise SignInUnproven(
            "the ID token is refused: the provider publishes no key that made its signature", reason=TOKEN
        )

    async def _more(self, url: str, access_token: str, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        """The claims of the UserInfo endpoint (OpenID Connect Core 1.0 §5.3), if they are of the same person."""
        headers = {"authorization": f"Bearer {access_token}"}
        answer = await ask("GET", url, limits=self._limits, headers=headers)
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ProviderUnavailable(
                f"{shown(url)} answered with the status {answer.status}", reason=STRANGE
            )
        try:
            told = _claims.decode(answer.body) if answer.status == HTTPStatus.OK else None
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            told = None
        if told is None or told.get("sub") != claims.get("sub"):
            raise SignInUnproven(f"{shown(url)} does not tell who it is", reason=USERINFO)
        return {**told, **claims}


def _auth_method(metadata: Metadata) -> str:
    for method in ("client_secret_basic", "client_secret_post"):
        if method in metadata.token_endpoint_auth_methods_supported:
            return method
    raise ProviderUnavailable(
        f"{metadata.issuer} takes a client's secret neither as basic nor as post", reason=CLIENT
    )


def _with_secret(
    client_id: str, secret: str, metadata: Metadata, body: str
) -> tuple[str, dict[str, str], str]:
    """The token request with the client's credentials."""
    method = _auth_method(metadata)
    if method == "client_secret_basic":
        # RFC 6749 §2.3.1: each in the form's encoding, before the two are put together.
        client_id, secret = quote_plus(client_id), quote_plus(secret)
    auth = ClientAuth(client_id, secret, auth_method=method)
    headers = {"content-type": _FORM}
    url, headers, body = auth.prepare("POST", metadata.token_endpoint, headers, body)
    return str(url), dict(headers), str(body)


def _token_refusal(where: str, status: int, body: bytes) -> ProviderUnavailable:
    try:
        error = _refusal.decode(body).error
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        error = ""
    if error == "invalid_grant":
        return SignInUnproven(f"{where} does not know the code, or not any more", reason=CODE)
    if error in {"invalid_client", "unauthorized_client"} or status == HTTPStatus.UNAUTHORIZED:
        return SignInUnproven(
            f"{where} refused the client; its id must be right, and the file must hold its present secret",
            reason=CLIENT,
        )
    return ProviderUnavailable(f"{where} answered with the status {status}", reason=STRANGE)


def _read_secret(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST_SECRET + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"the file {path} with the client's secret cannot be read: {reason}"
        raise ProviderUnavailable(message, reason=SECRET) from None
    secret = content.decode("ascii", "replace").strip()
    if not secret or len(content) > _LONGEST_SECRET or not secret.isprintable() or not secret.isascii():
        message = f"the file {path} must hold the client's secret alone, on one line"
        raise ProviderUnavailable(message, reason=SECRET)
    return secret
