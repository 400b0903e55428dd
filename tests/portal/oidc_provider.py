"""An OpenID provider on a real socket: it does what the standards want, and misbehaves when told to.

Knows nothing of what is under test. Whoever comes to it is logged in already, as `person`, and sent back at once.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import attrs
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from awareness_core.clock_ports import Clock
from awareness_memory import SystemClock
from tests.contracts.gophish_server import Reply, bytes_of

CLIENT: Final = "awareness portal"
SECRET: Final = "s3cret+with/signs%~"
REDIRECT: Final = "https://portal.example/login/oidc"

# Making one takes a tenth of a second.
_KEYS: Final = [RSAKey.generate_key(2048, {"kid": f"key {number}", "use": "sig"}) for number in range(2)]


@attrs.define
class FakeProvider:
    """`replies` by path stand in the place of the right answers; `asked` notes the path of each request.

    `claims` replace those of the next tokens, None leaves one out. `signed_with` makes an odd token out of its claims.
    """

    issuer: str = ""
    clock: Clock = attrs.field(factory=SystemClock)
    redirect: str = REDIRECT
    person: Mapping[str, Any] = attrs.field(factory=dict)
    claims: dict[str, Any] = attrs.field(factory=dict)
    metadata: dict[str, Any] = attrs.field(factory=dict)
    alg: str = "RS256"
    key: RSAKey = _KEYS[0]
    published: list[RSAKey] = attrs.field(factory=lambda: [_KEYS[0]])
    kid: str | None = "key 0"
    userinfo: dict[str, Any] | None = None
    sends_iss: bool = True
    replies: dict[str, Reply] = attrs.field(factory=dict)
    asked: list[str] = attrs.field(factory=list)
    tokens: list[str] = attrs.field(factory=list)
    _codes: dict[str, dict[str, str]] = attrs.field(factory=dict)
    _serving: set[asyncio.Task[None]] = attrs.field(factory=set, init=False)

    def rotate(self) -> None:
        """Sign with another key from now on, and publish that one alone."""
        self.key, self.published, self.kid = _KEYS[1], [_KEYS[1]], "key 1"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._exchange(reader, writer)
        except asyncio.CancelledError:
            # Only `stop` cancels.
            return
        finally:
            writer.close()

    async def stop(self) -> None:
        """Let go of everybody who is still waiting."""
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        method, target, _ = first.split(" ", 2)
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = (await reader.readexactly(int(fields.get("content-length", 0)))).decode()
        url = urlsplit(target)
        self.asked.append(url.path)
        reply = self.replies.get(url.path)
        if reply is not None:
            await reply(writer)
            return
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        form = {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}
        writer.write(self._answered(method, url.path, query, form, fields))
        await writer.drain()

    def _answered(
        self, method: str, path: str, query: dict[str, str], form: dict[str, str], fields: dict[str, str]
    ) -> bytes:
        match (method, path):
            case ("GET", "/.well-known/openid-configuration"):
                return _json(200, self._described())
            case ("GET", "/authorize"):
                return self._sent_back(query)
            case ("POST", "/token"):
                return self._redeemed(form, fields)
            case ("GET", "/keys"):
                published = KeySet(list(self.published)).as_dict(private=False)
                # What other providers publish beside them.
                published["keys"] += [{"kty": "oct", "k": "AAAA"}, {"kty": "RSA"}, {"kty": "XYZ"}]
                return _json(200, published)
            case ("GET", "/userinfo") if self.userinfo is not None:
                is_known = fields.get("authorization", "").removeprefix("Bearer ") in self.tokens
                return _json(200, self.userinfo) if is_known else _json(401, {"error": "invalid_token"})
        return _json(404, {})

    def _described(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }

    def _sent_back(self, query: dict[str, str]) -> bytes:
        # What is wrong with the client is told to the person, and not to where it says it is (RFC 6749 §4.1.2.1).
        if (query.get("client_id"), query.get("redirect_uri")) != (CLIENT, self.redirect):
            return bytes_of(400, b"unknown client")
        is_right = (
            query.get("response_type") == "code"
            and {"openid", "email"} <= set(query.get("scope", "").split())
            and query.get("code_challenge_method") == "S256"
            and query.get("code_challenge")
            and query.get("state")
            and query.get("nonce")
        )
        told = {"state": query.get("state", ""), **({"iss": self.issuer} if self.sends_iss else {})}
        if is_right:
            told["code"] = secrets.token_urlsafe()
            self._codes[told["code"]] = query
        else:
            told["error"] = "invalid_request"
        return bytes_of(302, b"", more=f"Location: {self.redirect}?{urlencode(told)}\r\n")

    def _redeemed(self, form: dict[str, str], fields: dict[str, str]) -> bytes:
        kind, _, credentials = fields.get("authorization", "").partition(" ")
        client, _, secret = base64.b64decode(credentials).decode().partition(":")
        known = (unquote_plus(client), unquote_plus(secret))
        if "client_secret" in form:
            known, kind = (form["client_id"], form["client_secret"]), "Basic"
        if kind != "Basic" or known != (CLIENT, SECRET):
            return _json(401, {"error": "invalid_client"})
        asked = self._codes.pop(form.get("code", ""), None)
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = _encoded(verifier)
        if (
            asked is None
            or form.get("grant_type") != "authorization_code"
            or form.get("redirect_uri") != self.redirect
            or challenge != asked["code_challenge"]
        ):
            return _json(400, {"error": "invalid_grant"})
        token = secrets.token_urlsafe()
        self.tokens.append(token)
        answer = {"access_token": token, "token_type": "Bearer", "id_token": self._id_token(asked["nonce"])}
        return _json(200, answer)

    def _id_token(self, nonce: str) -> str:
        now = int(self.clock.now().timestamp())
        claims = {
            "iss": self.issuer,
            "sub": "subject of " + str(self.person.get("email")),
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            **self.person,
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": self.alg, **({} if self.kid is None else {"kid": self.kid})}
        if self.alg == "none":
            return ".".join(_encoded(json.dumps(part).encode()) for part in (header, claims)) + "."
        if self.alg == "HS256":
            # The trap of RFC 8725 §2.1: signed with what everybody can read.
            signed = ".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
            public = _KEYS[0].as_pem(private=False)
            return f"{signed}.{_encoded(hmac.digest(public, signed.encode(), 'sha256'))}"
        return jwt.encode(header, claims, self.key, algorithms=[self.alg])


@asynccontextmanager
async def fake_provider(clock: Clock | None = None) -> AsyncIterator[FakeProvider]:
    """One that listens on a free port while the block runs."""
    fake = FakeProvider(clock=clock or SystemClock())
    server = await asyncio.start_server(fake.answer, "127.0.0.1", 0)
    fake.issuer = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.close()
        await fake.stop()


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _json(status: int, value: object) -> bytes:
    return bytes_of(status, json.dumps(value).encode(), kind="application/json")
