"""What a route returns: bytes that are ready to go, as a small ASGI application.

Litestar sends what it is given; encoding here, once, from a wire type is the shortest way there is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Final

import msgspec
from litestar.response.base import ASGIResponse
from litestar.types import HTTPResponseBodyEvent, HTTPResponseStartEvent, Receive, Scope, Send

from awareness_http.errors import HeaderPairs

JSON: Final = b"application/json"
NDJSON: Final = b"application/x-ndjson"
CSV: Final = b"text/csv; charset=utf-8"

_SENT_AT_ONCE: Final = 64 * 1024

_encode = msgspec.json.Encoder().encode


class Answer(ASGIResponse):
    """A complete response. A kind of `ASGIResponse` only so that Litestar hands it on as it is."""

    def __init__(
        self, body: bytes, *, status: int = 200, content_type: bytes = JSON, headers: HeaderPairs = ()
    ) -> None:
        self._start: HTTPResponseStartEvent = {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", content_type),
                (b"content-length", b"%d" % len(body)),
                *headers,
            ],
        }
        self._body: HTTPResponseBodyEvent = {"type": "http.response.body", "body": body, "more_body": False}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 (ASGI's three)
        """Send it."""
        await send(self._start)
        await send(self._body)


def json_answer(value: object, *, status: int = 200, headers: HeaderPairs = ()) -> Answer:
    """`value`, a wire type, as JSON."""
    return Answer(_encode(value), status=status, headers=headers)


class StreamedAnswer(ASGIResponse):
    """A response whose body is made while it is sent. `parts` may be of any size."""

    def __init__(
        self,
        parts: Iterator[bytes] | AsyncIterator[bytes],
        *,
        content_type: bytes,
        headers: HeaderPairs = (),
    ) -> None:
        self._parts = parts if isinstance(parts, AsyncIterator) else _awaited(parts)
        self._content_type = content_type
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 (ASGI's three)
        """Send it, some tens of kilobytes at a time."""
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", self._content_type), *self._headers],
            }
        )
        gathered = bytearray()
        async for part in self._parts:
            gathered += part
            if len(gathered) >= _SENT_AT_ONCE:
                await send({"type": "http.response.body", "body": bytes(gathered), "more_body": True})
                gathered.clear()
        await send({"type": "http.response.body", "body": bytes(gathered), "more_body": False})


async def _awaited(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
