"""One request with its answer under way: what every answer carries, whoever sends it.

The framework and the gateway both answer through `Exchange.send`, so that no answer is without its quota, its id and
its safety headers. Decides nothing about what is answered.
"""

from __future__ import annotations

from typing import Final

from litestar.types import HTTPScope, Message, Send

from awareness_core.api_keys import Caller
from awareness_core.errors import AwarenessError
from awareness_core.quota import QuotaDecision
from awareness_http.allowances import quota_headers
from awareness_http.answers import JSON
from awareness_http.errors import HeaderPairs, body_of, ends_connection, headers_of, status_of
from awareness_http.paths import NO_ROUTE

_NOSNIFF: Final = (b"x-content-type-options", b"nosniff")
_NO_STORE: Final = (b"cache-control", b"no-store")


class Exchange:
    """Built when the head was read; `send` is handed to whoever answers."""

    __slots__ = (
        "_cors",
        "_is_head",
        "_is_http1",
        "_send",
        "allowance",
        "caller",
        "method",
        "refused_with",
        "request_id",
        "status",
        "template",
    )

    def __init__(self, scope: HTTPScope, send: Send, *, request_id: str, cors: HeaderPairs) -> None:
        self._send = send
        self._cors = cors
        self.request_id = request_id
        self.method: str = scope["method"]
        self._is_head = self.method == "HEAD"
        self._is_http1 = scope["http_version"].startswith("1")
        self.allowance: QuotaDecision | None = None
        self.caller: Caller | None = None
        self.template = NO_ROUTE
        self.status = 0
        """What was answered, 0 while nothing was."""
        self.refused_with: str | None = None

    @property
    def has_started(self) -> bool:
        """Whether the status has gone out, so that nothing else can be answered."""
        return self.status != 0

    async def send(self, message: Message) -> None:
        """ASGI's `send`, completing headers and leaving out the body that HEAD does not have."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": self._complete(list(message["headers"]))}
        elif self._is_head and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)

    async def refuse(self, refusal: AwarenessError) -> None:
        """Answer with a refusal."""
        self.refused_with = refusal.code
        body = body_of(refusal)
        headers = [
            (b"content-type", JSON),
            (b"content-length", b"%d" % len(body)),
            *headers_of(refusal),
        ]
        # HTTP/2 has streams to end and forbids the header (RFC 9113 §8.2.2).
        if ends_connection(refusal) and self._is_http1:
            headers.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": status_of(refusal), "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})

    def _complete(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        headers.append((b"x-request-id", self.request_id.encode("ascii")))
        if self.allowance is not None:
            headers.extend(quota_headers(self.allowance))
        headers.append(_NOSNIFF)
        for name, _ in headers:
            # Documents and pages that may be kept say so themselves.
            if name == b"cache-control":
                break
        else:
            headers.append(_NO_STORE)
        headers.extend(self._cors)
        return headers
