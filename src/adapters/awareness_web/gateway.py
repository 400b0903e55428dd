"""The outermost part of the portal: what every request meets and every answer carries, known page or not.

Litestar runs no middleware on an unknown path or method, so it is decided here, in this order: the head is fit to be
read; the page (404) and its method (405) exist; what changes something was sent by one of our own pages (403). What
comes out of a page as an error becomes a page that says so.
"""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Mapping
from secrets import token_hex
from typing import Final, cast

import attrs
import structlog
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send, WebSocketCloseEvent

from awareness_core.errors import HasherBusy, RateLimitExceeded, StoreUnavailable
from awareness_web.answers import Answer, HeaderPairs, go_to
from awareness_web.head import Head, head_of
from awareness_web.metrics import PortalMetrics
from awareness_web.origins import is_from_here
from awareness_web.pages import page
from awareness_web.refusals import NotFromHere, NothingHere, Refused, WrongMethod
from awareness_web.visiting import language_of

_NO_WEBSOCKETS: Final[WebSocketCloseEvent] = {"type": "websocket.close", "code": 1000, "reason": None}
_MAX_HEADER_BYTES: Final = 32 * 1024
_MAX_URL_BYTES: Final = 8 * 1024
_RETRY_WHEN_UNAVAILABLE: Final = b"5"
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,128}")
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_POLICY: Final = (
    b"default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    b"base-uri 'none'"
)
# `no-referrer` would make browsers send forms with `Origin: null`.
_EVERY_ANSWER: Final[HeaderPairs] = (
    (b"content-security-policy", _POLICY),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
)

_NO_ROUTE: Final = "(none)"
_UNSHOWN_PATH: Final = "***"

_log = structlog.get_logger("awareness_web")


@attrs.frozen(kw_only=True)
class PortalGateway:
    """An ASGI application in front of another. `methods` are those of each page, by path."""

    app: ASGIApp
    methods: Mapping[bytes, frozenset[str]]
    public_origin: str | None
    keeps_access_log: bool
    metrics: PortalMetrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        kind: str = scope["type"]
        if kind == "http":
            await self._exchange(cast("HTTPScope", scope), receive, send)
        elif kind == "websocket":
            await send(_NO_WEBSOCKETS)
        else:
            await self.app(scope, receive, send)

    async def _exchange(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        head = head_of(scope["headers"])
        sent_id = head.one(b"x-request-id")
        request_id = sent_id if sent_id and _REQUEST_ID.fullmatch(sent_id) else token_hex(16).encode()
        answering = _Answering(send, request_id=request_id, is_head=scope["method"] == "HEAD")
        try:
            await self._serve(scope, receive, answering, head)
        except Exception as error:
            if answering.status:
                # Half a page is out; only breaking the connection tells the browser that it is none.
                raise
            _tell(error, request_id.decode())
            answer = _page_of(error, head, is_http1=scope["http_version"].startswith("1"))
            await answer(scope, receive, answering.send)
            # Frames that the error passed through hold `receive`, and the server waits for what does.
            error.__traceback__ = None
        finally:
            seconds = time.perf_counter() - began
            route = self._known(_raw_path(scope))
            self.metrics.count_request(scope["method"], route or _NO_ROUTE, answering.status, seconds=seconds)
            if self.keeps_access_log:
                _log.info(
                    "request",
                    method=scope["method"],
                    path=route or _UNSHOWN_PATH,
                    status=answering.status,
                    ms=round(seconds * 1000, 2),
                    request_id=request_id.decode(),
                )

    def _known(self, path: bytes) -> str | None:
        """The path if it is one of ours: whatever else was asked for may be anything."""
        return path.decode("ascii") if path in self.methods else None

    def _without_slash(self, path: bytes, method: str) -> Answer:
        """The way to the page that was meant. Raises `NothingHere` if there is none."""
        meant = self._known(path.removesuffix(b"/"))
        if meant is None or method not in {"GET", "HEAD"}:
            raise NothingHere
        return go_to(meant)

    async def _serve(self, scope: HTTPScope, receive: Receive, answering: _Answering, head: Head) -> None:
        path, method = _raw_path(scope), scope["method"]
        if head.size > _MAX_HEADER_BYTES or len(path) + len(scope["query_string"]) > _MAX_URL_BYTES:
            raise Refused
        if path not in self.methods:
            await self._without_slash(path, method)(scope, receive, answering.send)
            return
        taken = self.methods[path]
        allowed = ", ".join(sorted({*taken, "OPTIONS"} | ({"HEAD"} if "GET" in taken else set())))
        if method == "OPTIONS":
            await Answer(
                b"", status=204, content_type=b"text/plain", headers=((b"allow", allowed.encode()),)
            )(scope, receive, answering.send)
            return
        wanted = "GET" if method == "HEAD" else method
        if wanted not in taken:
            raise WrongMethod(allowed)
        if method not in _SAFE and not is_from_here(head, public_origin=self.public_origin):
            raise NotFromHere
        # A copy: the scope is the server's, which may log it.
        await self.app(cast("HTTPScope", {**scope, "method": wanted}), receive, answering.send)


class _Answering:
    """One answer under way: completes its headers, and leaves out the body that HEAD does not have."""

    def __init__(self, send: Send, *, request_id: bytes, is_head: bool) -> None:
        self._send = send
        self._request_id = request_id
        self._is_head = is_head
        self.status = 0
        """What was answered, 0 while nothing was."""

    async def send(self, message: Message) -> None:
        """ASGI's `send`."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message["headers"], *_EVERY_ANSWER, (b"x-request-id", self._request_id)]
            if all(name != b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        elif self._is_head and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)


def _page_of(error: Exception, head: Head, *, is_http1: bool) -> Answer:
    status, reason, headers = _told(error)
    if isinstance(error, Refused) and error.ends_connection and is_http1:
        headers = (*headers, (b"connection", b"close"))
    return page("refusal", language_of(head), status=status, headers=headers, reason=reason)


def _told(error: Exception) -> tuple[int, str, HeaderPairs]:
    match error:
        case Refused():
            return error.status, error.reason, error.headers
        case RateLimitExceeded():
            return 429, "throttled", ((b"retry-after", b"%d" % error.retry_after),)
        case StoreUnavailable() | HasherBusy():
            return 503, "unavailable", ((b"retry-after", _RETRY_WHEN_UNAVAILABLE),)
        case _:
            return 500, "unexpected", ()


def _tell(error: Exception, request_id: str) -> None:
    if isinstance(error, StoreUnavailable):
        _log.warning("store_unavailable", request_id=request_id, error=error.message)
    elif isinstance(error, HasherBusy):
        _log.warning("hasher_busy", request_id=request_id)
    elif not isinstance(error, Refused | RateLimitExceeded):
        # Spelt out here: given the exception itself, a console renderer shows local variables, passwords among them.
        spelt = "".join(traceback.format_exception(error))
        _log.error("request_failed", request_id=request_id, error=type(error).__name__, exception=spelt)


def _raw_path(scope: HTTPScope) -> bytes:
    # ASGI leaves `raw_path` to the server.
    return scope.get("raw_path") or scope["path"].encode("utf-8", "surrogatepass")
