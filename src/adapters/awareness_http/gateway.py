"""The outermost ASGI application: everything that every request meets, known path or not.

Litestar runs no middleware on an unknown path or method, so what must never be missing is decided here, in this order:
the head is fit to be read; below /api/ the key is good (401), its quota lasts (429), but for a path whose body is
signed, of which nothing is known until it is read; the path (404) and its method
(405) exist; the key may do it (403); the query and the `Idempotency-Key` are right (400). Only then does Litestar see
the request, and reads its body through a guard. What comes out of there, a refusal or an error nobody thought of, is
answered in the one form.
"""

from __future__ import annotations

import time
from typing import Final, cast

import attrs
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send, WebSocketCloseEvent
from structlog.contextvars import bind_contextvars, reset_contextvars

from awareness_core.api_keys import Caller, authorise
from awareness_core.errors import (
    ApiKeyInvalid,
    AwarenessError,
    SignatureInvalid,
    SourceUnavailable,
    StoreUnavailable,
    ValidationFailed,
)
from awareness_core.quota import QuotaDecision
from awareness_http.access_log import log_failure, log_request
from awareness_http.addresses import Network, client_address
from awareness_http.allowances import Allowances
from awareness_http.auth import authenticate
from awareness_http.bodies import GuardedBody
from awareness_http.calls import Call, Surroundings, put_call, put_surroundings
from awareness_http.cors import CrossOrigin
from awareness_http.errors import Unexpected, as_refusal
from awareness_http.exchange import Exchange
from awareness_http.idempotency import FingerprintedBody, read_idempotency_key, receipt_id_of
from awareness_http.lifespans import Lifespan, live_through
from awareness_http.paths import Nothing, Operation, PathTable
from awareness_http.queries import take_query
from awareness_http.repeats import Repeatable
from awareness_http.request_head import RequestHead, head_refusal, read_head
from awareness_http.request_ids import choose_request_id
from awareness_http.unread_bodies import unread_body

_API: Final = b"/api/"
_NO_WEBSOCKETS: Final[WebSocketCloseEvent] = {"type": "websocket.close", "code": 1000, "reason": None}
_ANY_METHOD: Final = "DELETE, GET, HEAD, OPTIONS, POST"


@attrs.frozen(kw_only=True)
class Gateway:
    """An ASGI application in front of another. `paths` lists what of that other application is served."""

    app: ASGIApp
    paths: PathTable
    surroundings: Surroundings
    allowances: Allowances
    cross_origin: CrossOrigin
    proxies: tuple[Network, ...]
    keeps_access_log: bool
    idle_seconds: float
    lifespan: Lifespan | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        kind: str = scope["type"]
        if kind == "http":
            await self._exchange(cast("HTTPScope", scope), receive, send)
        elif kind == "websocket":
            await send(_NO_WEBSOCKETS)
        else:
            await live_through(self.lifespan, receive, send)

    async def _exchange(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        head = read_head(scope["headers"])
        exchange = Exchange(
            scope,
            send,
            request_id=choose_request_id(head.one(b"x-request-id")),
            cors=self.cross_origin.headers(head.one(b"origin")),
        )
        bound = bind_contextvars(request_id=exchange.request_id)
        unread = unread_body(scope, head, receive, idle_seconds=self.idle_seconds)
        try:
            await self._serve(exchange, scope, unread or receive, head)
        except Exception as error:  # noqa: BLE001 (this is the place where every error becomes an answer)
            if unread is not None and not exchange.has_started:
                await unread.forget(error)
            await self._refuse(exchange, error, self._address(scope, head))
            # Frames that the error passed through hold it, and its traceback holds them, `receive` included. While that
            # is there the server waits for the rest of the body, and a garbage collection may be long in coming.
            error.__traceback__ = None
        finally:
            seconds = time.perf_counter() - began
            self.surroundings.metrics.count(exchange, seconds=seconds)
            if self.keeps_access_log:
                log_request(exchange, raw_path=_raw_path(scope), milliseconds=seconds * 1000)
            reset_contextvars(**bound)

    async def _serve(self, exchange: Exchange, scope: HTTPScope, receive: Receive, head: RequestHead) -> None:
        path = _raw_path(scope)
        url_bytes = len(path) + len(scope["query_string"])
        refusal = head_refusal(head, http_version=scope["http_version"], url_bytes=url_bytes)
        if refusal is not None:
            raise refusal
        if exchange.method == "OPTIONS":
            await self._tell_methods(exchange, path, scope, head)
            return
        route = self.paths.look(path)
        if path.startswith(_API) and not route.is_signed(exchange.method):
            exchange.caller = await authenticate(self.surroundings.ports, head)
            exchange.allowance = await self.allowances.charge_key(exchange.caller.api_key_id)
            if not exchange.allowance.allowed:
                raise exchange.allowance.refusal()
        exchange.template = route.template
        operation = route.operation(exchange.method)
        if exchange.caller is None:
            if operation.is_signed:
                _refuse_parameters(scope)
            exchange.allowance = await self._allowance(exchange, self._address(scope, head))
            put_surroundings(scope, self.surroundings)
        else:
            call = self._admitted(exchange.caller, operation, scope)
            key = read_idempotency_key(head) if exchange.method == "POST" else None
            if key is not None:
                fingerprinted = FingerprintedBody(receive, head, scope["query_string"], media=operation.media)
                repeatable = Repeatable(receipt_id_of(key, exchange.method, path), fingerprinted)
                body = self._guarded(fingerprinted, head, operation)
                await repeatable.answer(self.app, scope, body, exchange.send, call=call)
                return
            put_call(scope, call)
        if exchange.method == "HEAD":
            # A copy: the scope is the server's, which may log it.
            scope = cast("HTTPScope", {**scope, "method": "GET"})
        await self.app(scope, self._guarded(receive, head, operation), exchange.send)

    def _guarded(self, receive: Receive, head: RequestHead, operation: Operation) -> GuardedBody:
        return GuardedBody(receive, head, media=operation.media, idle_seconds=self.idle_seconds)

    def _admitted(self, caller: Caller, operation: Operation, scope: HTTPScope) -> Call:
        if operation.scope is not None:
            authorise(caller, operation.scope)
        query = take_query(operation.query, scope["query_string"])
        if query.faults and operation.query is Nothing:
            raise ValidationFailed(query.faults)
        return Call(self.surroundings.ports, caller, query)

    async def _tell_methods(
        self, exchange: Exchange, path: bytes, scope: HTTPScope, head: RequestHead
    ) -> None:
        allow = _ANY_METHOD
        if path != b"*":
            route = self.paths.find(path)
            exchange.template, allow = route.template, route.allow
        exchange.allowance = await self._allowance(exchange, self._address(scope, head))
        encoded = allow.encode("ascii")
        preflight = self.cross_origin.preflight(head.one(b"origin"), allow=encoded)
        await exchange.send(
            {"type": "http.response.start", "status": 204, "headers": [(b"allow", encoded), *preflight]}
        )
        await exchange.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _refuse(self, exchange: Exchange, error: Exception, address: str) -> None:
        refusal = as_refusal(error)
        if isinstance(refusal, Unexpected | StoreUnavailable | SourceUnavailable):
            log_failure(error, request_id=exchange.request_id)
        if exchange.has_started:
            # Half an answer is out; only breaking the connection tells the caller that it is none.
            raise error
        await exchange.refuse(await self._charged(exchange, refusal, address))

    async def _charged(self, exchange: Exchange, refusal: AwarenessError, address: str) -> AwarenessError:
        """`refusal`, or 429 in its place for an address that failed to authenticate too often."""
        if isinstance(refusal, ApiKeyInvalid | SignatureInvalid):
            exchange.allowance = await self._allowance(exchange, address, charged=True)
            return refusal if exchange.allowance.allowed else exchange.allowance.refusal()
        if exchange.allowance is None:
            exchange.allowance = await self._allowance(exchange, address)
        return refusal

    async def _allowance(self, exchange: Exchange, address: str, *, charged: bool = False) -> QuotaDecision:
        try:
            if charged:
                return await self.allowances.charge_address(address)
            return await self.allowances.of_address(address)
        except Exception as error:  # noqa: BLE001 (a counter that is down must not take the answer with it)
            log_failure(error, request_id=exchange.request_id)
            return self.allowances.untouched()

    def _address(self, scope: HTTPScope, head: RequestHead) -> str:
        client = scope.get("client")
        peer = "unknown" if client is None else client[0]
        return client_address(peer, head.all(b"x-forwarded-for"), proxies=self.proxies)


def _refuse_parameters(scope: HTTPScope) -> None:
    query = take_query(Nothing, scope["query_string"])
    if query.faults:
        raise ValidationFailed(query.faults)


def _raw_path(scope: HTTPScope) -> bytes:
    # ASGI leaves `raw_path` to the server; without it a path that needed decoding cannot be told apart.
    return scope.get("raw_path") or scope["path"].encode("utf-8", "surrogatepass")
