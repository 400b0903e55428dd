"""A GoPhish on a real socket: it speaks the two paths of the API in recorded shapes, and misbehaves when told to.

Knows nothing of the connector under test. Whatever else is asked for is noted, and answered as GoPhish answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import attrs

DATA: Final = Path(__file__).parents[1] / "data" / "gophish"
API_KEY: Final = "3af1c2d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90"

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


def recorded(name: str) -> Any:  # noqa: ANN401 (JSON)
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@attrs.define
class FakeGophish:
    """`replies` by path stand in the place of the right answers; `asked` notes path and credential of each request."""

    url: str = ""
    summary: Any = attrs.field(factory=lambda: recorded("summary.json"))
    results: dict[int, Any] = attrs.field(
        factory=lambda: {number: recorded(f"results-{number}.json") for number in (7, 8, 9, 10)}
    )
    replies: dict[str, Reply] = attrs.field(factory=dict)
    asked: list[tuple[str, str]] = attrs.field(factory=list)
    zipped: bool = False
    _serving: set[asyncio.Task[None]] = attrs.field(factory=set, init=False)

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def happens(self, number: int, event: dict[str, Any]) -> None:
        """Add an event to a campaign's timeline, as if it had just been saved."""
        self.results[number] = copy.deepcopy(self.results[number])
        self.results[number]["timeline"].append(event)

    def counts(self, number: int, **stats: int) -> None:
        """Change what the summary says of a campaign."""
        (campaign,) = (one for one in self.summary["campaigns"] if one["id"] == number)
        campaign["stats"] |= stats

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        try:
            await self._exchange(reader, writer)
        except asyncio.CancelledError:
            # Only `stop` cancels.
            return
        finally:
            writer.close()

    async def stop(self) -> None:
        """Let go of everybody who is still waiting."""
        serving = list(self._serving)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            first = await reader.readexactly(1)
            if first != b"G":
                await _send(writer, 400, "this is no HTTP")
                return
            head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ", 2)[1]
            fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            credential = fields.get("authorization", "")
            self.asked.append((path, credential))
            reply = self.replies.get(path) or self.replies.get("*")
            if reply is not None:
                await reply(writer)
            elif credential != f"bearer {API_KEY}":
                await _send(writer, 401, _refusal("Invalid API Key"))
            else:
                await self._serve(path, writer)

    async def _serve(self, path: str, writer: asyncio.StreamWriter) -> None:
        parts = path.strip("/").split("/")
        if path == "/api/campaigns/summary":
            await _send(writer, 200, self.summary, zipped=self.zipped)
        elif parts[:2] == ["api", "campaigns"] and parts[3:] == ["results"] and int(parts[2]) in self.results:
            await _send(writer, 200, self.results[int(parts[2])], zipped=self.zipped)
        else:
            await _send(writer, 404, _refusal("Campaign not found"))


@asynccontextmanager
async def fake_gophish() -> AsyncIterator[FakeGophish]:
    """One that listens on a free port while the block runs."""
    fake = FakeGophish()
    server = await asyncio.start_server(fake.answer, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.close()
        await fake.stop()


# How it misbehaves


def bytes_of(status: int, body: bytes, *, kind: str = "text/html", more: str = "") -> bytes:
    fields = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}Connection: close\r\n"
    return f"HTTP/1.1 {status} X\r\n{fields}\r\n".encode() + body


def raw(content: bytes) -> Reply:
    """Exactly these bytes, then the end."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()

    return reply


def dripping(content: bytes, *, pause: float) -> Reply:
    """A byte now and then, for ever."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while True:
            writer.write(content)
            await writer.drain()
            await asyncio.sleep(pause)

    return reply


async def silence(_writer: asyncio.StreamWriter) -> None:
    """Nothing at all, until the other side gives up."""
    await asyncio.Event().wait()


def endless(size: int) -> Reply:
    """A list that goes on for `size` bytes, in chunks."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"1" * 65_536
        for _ in range(size // len(chunk)):
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    return reply


def _refusal(message: str) -> dict[str, object]:
    return {"message": message, "success": False, "data": None}


async def _send(writer: asyncio.StreamWriter, status: int, value: object, *, zipped: bool = False) -> None:
    body = json.dumps(value).encode()
    more = ""
    if zipped:
        body, more = gzip.compress(body), "Content-Encoding: gzip\r\n"
    writer.write(bytes_of(status, body, kind="application/json", more=more))
    await writer.drain()
