"""One GoPhish over HTTP: two paths, read with limits, and for whatever goes wrong one sentence that says what.

Only `/api/campaigns/summary` and `/api/campaigns/{id}/results` are ever asked for. A whole campaign would come with the
password of its mail server, and one of the paths beside them ends a campaign on GET. Redirects are not followed, so
that the API key goes to nobody else; it stands in no log and in no error, as no error quotes what was sent or answered.
"""

from __future__ import annotations

import asyncio
import functools
import os
import re
import ssl
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, TypeVar

import attrs
import certifi
import httpx
import msgspec

from awareness_core.errors import SourceUnavailable
from awareness_core.ports import refuse_inside_transaction
from awareness_gophish.shapes import Results, Summaries

Shape = TypeVar("Shape")

_SUMMARY: Final = "/api/campaigns/summary"
_RESULTS: Final = "/api/campaigns/{}/results"
_AWAY: Final = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT})
_TOLD_ID: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_LARGEST_ID: Final = 2**63 - 1

_summaries: Final = msgspec.json.Decoder(Summaries)
_results: Final = msgspec.json.Decoder(Results)


@attrs.frozen(kw_only=True)
class Limits:
    """How long, in seconds, and how much. `silence` is the longest pause in an answer, `whole` all of it."""

    connect: float = 5.0
    silence: float = 30.0
    whole: float = 300.0
    summary_bytes: int = 16 * 1024 * 1024
    results_bytes: int = 256 * 1024 * 1024


class GophishClient:
    """Asks one GoPhish at `url` for what its user's API key may see. Nothing is opened before the first question."""

    def __init__(self, url: str, api_key: str, *, limits: Limits) -> None:
        self._url = url
        self._limits = limits
        self._headers = {"authorization": f"Bearer {api_key}", "accept": "application/json"}

    async def summaries(self) -> Summaries:
        """All campaigns in brief. Raises `SourceUnavailable`."""
        return await self._ask(_SUMMARY, _summaries.decode, self._limits.summary_bytes)

    async def results(self, told_id: str) -> Results:
        """Recipients and timeline of one campaign. Raises `SourceUnavailable`."""
        if not _TOLD_ID.fullmatch(told_id) or int(told_id) > _LARGEST_ID:
            raise self._refusal("lists a campaign under a number that no campaign has", spoils_all=False)
        path = _RESULTS.format(told_id)
        found = await self._ask(path, _results.decode, self._limits.results_bytes)
        if found.id != int(told_id):
            raise self._refusal(f"answered {path} with the results of another campaign", spoils_all=False)
        return found

    async def _ask(self, path: str, decode: Callable[[bytes], Shape], limit: int) -> Shape:
        refuse_inside_transaction()
        try:
            async with asyncio.timeout(self._limits.whole):
                body = await self._body(path, limit)
        except TimeoutError:
            what = f"sent {path} for more than {self._limits.whole:g} s without an end"
            raise self._lost(what, path) from None
        except httpx.ConnectTimeout:
            raise self._refusal("cannot be reached: no connection in time") from None
        except httpx.TimeoutException:
            raise self._lost(f"did not answer {path} in time", path) from None
        except httpx.ConnectError as error:
            raise self._refusal(f"cannot be reached: {_reason(error)}") from None
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError, httpx.DecodingError):
            raise self._lost(f"broke off in the middle of {path}", path) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._refusal(f"cannot be asked for {path}: {type(error).__name__}") from None
        try:
            # Some megabytes of it would hold up everybody else.
            return await asyncio.to_thread(decode, body)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            what = _what_else(body) or f"something else than expected: {error}"
            raise self._refusal(f"answered {path} with {what}", spoils_all=path == _SUMMARY) from None

    async def _body(self, path: str, limit: int) -> bytes:
        timeout = httpx.Timeout(self._limits.silence, connect=self._limits.connect)
        async with (
            # No proxy and no .netrc of the environment: either would get to see the key, or replace it.
            httpx.AsyncClient(verify=_trust(), timeout=timeout, trust_env=False) as client,
            client.stream("GET", self._url + path, headers=self._headers) as response,
        ):
            self._check(response, path)
            parts: list[bytes] = []
            size = 0
            async for part in response.aiter_bytes():
                size += len(part)
                if size > limit:
                    raise self._refusal(
                        f"answered {path} with more than {limit // 1024 // 1024} MiB",
                        spoils_all=path == _SUMMARY,
                    )
                parts.append(part)
            return b"".join(parts)

    def _check(self, response: httpx.Response, path: str) -> None:
        status = response.status_code
        if status == HTTPStatus.OK:
            return
        if response.is_redirect:
            raise self._refusal(
                f"answered {path} with a redirect ({status}), which is not followed; name the address of the "
                "administration itself, with https where it wants it"
            )
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise self._refusal(
                f"refused the API key ({status}); put the one of the account settings in the file"
            )
        if status == HTTPStatus.NOT_FOUND and path != _SUMMARY:
            raise self._refusal(f"has no {path}: the campaign was deleted meanwhile", spoils_all=False)
        if status == HTTPStatus.NOT_FOUND:
            raise self._refusal(
                f"has no {path}; name the address of the administration (port 3333 by default), "
                "not of the phishing pages"
            )
        what = f"answered {path} with the status {status}"
        raise self._lost(what, path) if status in _AWAY else self._refusal(what, spoils_all=path == _SUMMARY)

    def _lost(self, what: str, path: str) -> SourceUnavailable:
        """An answer that did not come whole: GoPhish is going down, or this campaign alone is too much for it."""
        is_all = path == _SUMMARY
        return SourceUnavailable(f"GoPhish at {self._url} {what}", spoils_all=is_all, is_doubtful=not is_all)

    def _refusal(self, what: str, *, spoils_all: bool = True) -> SourceUnavailable:
        return SourceUnavailable(f"GoPhish at {self._url} {what}", spoils_all=spoils_all)


@functools.cache
def _trust() -> ssl.SSLContext:
    """Public authorities and those that the computer trusts (`SSL_CERT_FILE` names more); names are checked."""
    context = ssl.create_default_context(cafile=certifi.where())
    context.load_default_certs()
    return context


def _what_else(body: bytes) -> str | None:
    """What came in the place of JSON."""
    start = body[:512].lstrip().lower()
    if not start:
        return "nothing"
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<")):
        return "a web page instead of JSON: something else listens there, or a proxy stands in between"
    try:
        told = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None if start[:1] in {b"{", b"["} else "something that is no JSON"
    return None if isinstance(told, dict) else "JSON, but no object as GoPhish answers"


def _reason(error: httpx.ConnectError) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({cause.verify_message}); SSL_CERT_FILE can name an authority"
        if isinstance(cause, ssl.SSLError):
            return "it does not speak TLS there; is it http?"
        if isinstance(cause, OSError) and cause.strerror:
            # Event loops word it each in its own way; resolvers have numbers of their own, below 0.
            number = cause.errno or 0
            return os.strerror(number) if number > 0 else cause.strerror
        cause = cause.__cause__ or cause.__context__
    return str(error) or "no connection"
