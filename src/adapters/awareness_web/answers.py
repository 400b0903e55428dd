"""What a route returns: bytes that are ready to go, as a small ASGI application that Litestar hands on as it is."""

from __future__ import annotations

from litestar.response.base import ASGIResponse
from litestar.types import HTTPResponseBodyEvent, HTTPResponseStartEvent, Receive, Scope, Send

HeaderPairs = tuple[tuple[bytes, bytes], ...]
"""Header names in lower case with their values, as ASGI wants them."""


class Answer(ASGIResponse):
    """A complete response."""

    def __init__(
        self, body: bytes, *, status: int = 200, content_type: bytes, headers: HeaderPairs = ()
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


def go_to(path: str, *, headers: HeaderPairs = ()) -> Answer:
    """Make the browser open that page of ours with GET."""
    return Answer(
        b"",
        status=303,
        content_type=b"text/plain; charset=utf-8",
        headers=((b"location", path.encode("ascii")), *headers),
    )
