"""The body of a request, let in only as far as its head and the path allow.

Stands between the server and the framework as the ASGI `receive` of one request. Nothing is asked of the server before
the framework asks, which it does after the checks of key, quota and scope. What the bytes mean is `strict_json`'s
business.
"""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Sequence
from typing import Final

import attrs
from litestar.types import HTTPRequestEvent, Receive

from awareness_http.errors import BodyBrokenOff, BodyTimeout, PayloadTooLarge, UnsupportedMediaType
from awareness_http.request_head import RequestHead

MAX_BODY_BYTES: Final = 1024 * 1024
"""Choice: decisions/004."""

IDLE_SECONDS: Final = 10.0
"""So long a caller may send nothing in the middle of a body (Choice: decisions/004)."""

EMPTY: Final = b" "
"""Stands for an empty body: Litestar does not ask its reader about one; about a blank one it does."""

_CHARSET = rb'\s*(;\s*charset\s*=\s*("utf-8"|utf-8)\s*)?'


@attrs.frozen
class Media:
    """A media type that a path takes, and how many bytes of it."""

    name: str
    limit: int

    def is_named_by(self, header: bytes) -> bool:
        """Whether a `Content-Type` means it, in UTF-8."""
        return _pattern(self.name).fullmatch(header.strip()) is not None


@functools.cache
def _pattern(name: str) -> re.Pattern[bytes]:
    return re.compile(re.escape(name.encode()) + _CHARSET, re.IGNORECASE)


SMALL_JSON: Final = (Media("application/json", MAX_BODY_BYTES),)
BULK: Final = (
    Media("application/json", 64 * 1024 * 1024),
    Media("application/x-ndjson", 512 * 1024 * 1024),
)
"""Choice: decisions/004. Newline-delimited JSON is read line by line, so that it may be large."""


class GuardedBody:
    """The `receive` channel of one request, with limits.

    Raises `PayloadTooLarge`, `UnsupportedMediaType`, `BodyTimeout` and `BodyBrokenOff` where a server would hand out
    bytes. A body that says it is too large is refused before any of it is read.
    """

    def __init__(
        self,
        receive: Receive,
        head: RequestHead,
        *,
        media: Sequence[Media] = SMALL_JSON,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._receive = receive
        self._head = head
        self._media = media
        self._limit = 0
        self._idle_seconds = idle_seconds
        self._received = 0
        self._is_checked = False

    async def __call__(self) -> HTTPRequestEvent:
        """The next part of the body, as ASGI's `http.request`."""
        if not self._is_checked:
            self._check_head()
        try:
            async with asyncio.timeout(self._idle_seconds):
                message = await self._receive()
        except TimeoutError:
            raise BodyTimeout(self._idle_seconds) from None
        if message["type"] != "http.request":
            raise BodyBrokenOff
        body = message.get("body", b"")
        more = message.get("more_body", False)
        if body:
            self._count(len(body))
        elif not more and self._received == 0:
            body = EMPTY
        return {"type": "http.request", "body": body, "more_body": more}

    def _check_head(self) -> None:
        self._is_checked = True
        self._limit = self._sent_media_limit()
        coding = self._head.values.get(b"transfer-encoding")
        if coding is not None and coding.strip().lower() != b"chunked":
            raise UnsupportedMediaType("Send the body as it is or in chunks, in no other transfer coding.")
        length = _declared_length(self._head)
        if length is not None and length > self._limit:
            raise PayloadTooLarge(self._limit)
        if length or coding is not None:
            self._check_media_type()

    def _check_media_type(self) -> None:
        if b"content-encoding" in self._head.values:
            raise UnsupportedMediaType(
                "Send the body without a Content-Encoding; compressed bodies are not read."
            )
        if self._sent_media() is None:
            taken = " or ".join(f"Content-Type: {media.name}" for media in self._media)
            raise UnsupportedMediaType(f"Send the body as JSON in UTF-8, with one header {taken}.")

    def _sent_media(self) -> Media | None:
        sent = self._head.one(b"content-type")
        if sent is None:
            return None
        return next((media for media in self._media if media.is_named_by(sent)), None)

    def _sent_media_limit(self) -> int:
        # What is of no known type is refused for that; until then the largest limit is the one not to exceed.
        sent = self._sent_media()
        return max(media.limit for media in self._media) if sent is None else sent.limit

    def _count(self, size: int) -> None:
        if self._received == 0:
            # HTTP/2 needs to announce no length, so only its first bytes tell that there is a body.
            self._check_media_type()
        self._received += size
        if self._received > self._limit:
            raise PayloadTooLarge(self._limit)


def _declared_length(head: RequestHead) -> int | None:
    sent = head.one(b"content-length")
    # Beyond 18 digits nothing is read anyway, and `int` has a limit of its own.
    if sent is None or not sent.isdigit():
        return None
    return int(sent[:19])
