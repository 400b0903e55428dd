"""What is left of a body when its request is refused.

A server that answers and closes while a client still sends makes the client's system throw the answer away (RFC 9112
§9.6): most clients send all of a body before they look for an answer, and would tell of a broken connection where they
were told 401. So a large body is read on and forgotten for a while before its refusal goes out.
"""

from __future__ import annotations

import asyncio
from typing import Final

from litestar.types import HTTPScope, Receive, ReceiveMessage

from awareness_http.errors import BodyTimeout
from awareness_http.request_head import RequestHead

_SMALL: Final = 64 * 1024
"""What the buffers of every system between here and there hold."""
_LARGE: Final = 64 * 1024 * 1024
_SILENCE_SECONDS: Final = 1.0
_TOTAL_SECONDS: Final = 10.0


class UnreadBody:
    """The `receive` channel of one request, which knows whether its body is over."""

    def __init__(self, receive: Receive, *, idle_seconds: float) -> None:
        self._receive = receive
        self._silence_seconds = min(idle_seconds, _SILENCE_SECONDS)
        self._is_over = False

    async def __call__(self) -> ReceiveMessage:
        """The next message, as ASGI has it."""
        message = await self._receive()
        self._is_over = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def forget(self, refusal: Exception) -> None:
        """Read to the end, unless that is far away or nothing comes; what comes is dropped."""
        if isinstance(refusal, BodyTimeout):
            return
        left = _LARGE
        try:
            async with asyncio.timeout(_TOTAL_SECONDS):
                while left > 0 and not self._is_over:
                    async with asyncio.timeout(self._silence_seconds):
                        message = await self()
                    if message["type"] == "http.request":
                        left -= len(message.get("body", b""))
        except TimeoutError:
            return


def unread_body(
    scope: HTTPScope, head: RequestHead, receive: Receive, *, idle_seconds: float
) -> UnreadBody | None:
    """The body, where reading it on may help: not where it is small, hopelessly large or not sent yet."""
    # HTTP/2 ends a stream and leaves the connection alone; who expects 100 waits with the body for our word.
    if not scope["http_version"].startswith("1") or b"expect" in head.values:
        return None
    if b"transfer-encoding" in head.values:
        return UnreadBody(receive, idle_seconds=idle_seconds)
    length = head.one(b"content-length")
    if length is None or not length.isdigit() or not _SMALL < int(length[:19]) <= _LARGE:
        return None
    return UnreadBody(receive, idle_seconds=idle_seconds)
