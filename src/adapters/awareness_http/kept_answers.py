"""An answer as it is kept: status, headers and body in one compressed stream, cut into parts.

It passes through a temporary file, so that memory does not grow with it, neither when it is kept nor when it is given
again.
"""

from __future__ import annotations

import asyncio
import tempfile
import zlib
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import IO, Final, Self

from litestar.types import Message, Send

from awareness_http.errors import HeaderPairs

PART_BYTES: Final = 128 * 1024
"""Of the compressed stream; in a database a row each."""

_IN_MEMORY: Final = 256 * 1024
_SENT_AT_ONCE: Final = 64 * 1024
_LEVEL: Final = 1
"""The ids in an answer hardly get smaller, and the rest does at any level."""

_HEAD_END: Final = b"\n\n"
_SUCCESS: Final = range(200, 300)


class AnswerSpool:
    """One answer, put aside. A context manager."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 (closed by __exit__)
        self._compressor = zlib.compressobj(_LEVEL)
        self.is_success = False
        """Whether its status is a success."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    async def keep(self, message: Message) -> None:
        """ASGI's `send`: take the next piece of the answer. Others have their turn in between, if there are many."""
        if message["type"] == "http.response.start":
            self.is_success = message["status"] in _SUCCESS
            lines = [b"%d" % message["status"], *(b"%s:%s" % pair for pair in message["headers"])]
            self._file.write(self._compressor.compress(b"\n".join(lines) + _HEAD_END))
        elif message["type"] == "http.response.body":
            self._file.write(self._compressor.compress(message["body"]))
            if message["more_body"]:
                await asyncio.sleep(0)
            else:
                self._file.write(self._compressor.flush())

    async def fill(self, parts: AsyncIterator[bytes]) -> None:
        """Take what was kept of an earlier answer."""
        async for part in parts:
            self._file.write(part)

    def __iter__(self) -> Iterator[bytes]:
        """What is to be kept, part by part; each time from the beginning."""
        self._file.seek(0)
        while part := self._file.read(PART_BYTES):
            yield part

    async def send(self, send: Send, *, headers: HeaderPairs = ()) -> None:
        """Answer with it, some tens of kilobytes at a time, with these headers besides."""
        pieces = self._pieces()
        head, _, body = next(pieces).partition(_HEAD_END)
        status, *lines = head.split(b"\n")
        pairs = [(name, value) for name, _, value in (line.partition(b":") for line in lines)]
        await send({"type": "http.response.start", "status": int(status), "headers": [*pairs, *headers]})
        for piece in pieces:
            if body:
                await send({"type": "http.response.body", "body": body, "more_body": True})
            body = piece
        await send({"type": "http.response.body", "body": body, "more_body": False})

    def _pieces(self) -> Iterator[bytes]:
        """All of it, as it was; the head, which is short, is in the first piece."""
        decompressor = zlib.decompressobj()
        for part in self:
            rest = part
            while rest:
                yield decompressor.decompress(rest, _SENT_AT_ONCE)
                rest = decompressor.unconsumed_tail
        yield decompressor.flush()
