"""A server in a process of its own: ours as `awareness serve` runs it but for the quota, or one of the limits.

Both run in the same Granian with the same options. `serving(...)` starts one from the outside; run as a module it is
the server. Watched, ours also tells how long its event loop was ever kept from going round.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

import attrs
from litestar.types import ASGIApp, Receive, Scope, Send

from benchmarks.machine import SERVER_CORE, on_core

ROOT: Final = Path(__file__).parents[1]
STALL_PATH: Final = "/longest-stall"
_TICK: Final = 0.001


@attrs.frozen
class Served:
    """A running server."""

    process: subprocess.Popen[str]
    url: str

    @property
    def pid(self) -> int:
        """Its process."""
        return self.process.pid

    def longest_stall(self) -> float:
        """Seconds for which the loop of a watched server did not go round, at most, since this was asked last."""
        with urllib.request.urlopen(self.url + STALL_PATH) as answer:
            return float(answer.read())


@contextlib.contextmanager
def serving(what: str, *arguments: str) -> Iterator[Served]:
    """Serve until the block ends.

    `what` is `ours URL [SMTP_URL CONNECTIONS]`, the same `watched`, `bare`, or a limit on a database.
    """
    command = [sys.executable, "-m", "benchmarks.serving", what, *arguments]
    with (
        on_core(SERVER_CORE),
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            if not told:
                raise RuntimeError(f"{' '.join(command)} ended before it served")
            yield Served(process, json.loads(told)["url"])
        finally:
            process.terminate()


def main(arguments: Sequence[str]) -> None:
    """Serve until SIGTERM."""
    import uvloop

    from awareness_server.http_server import claimed_port, serve_app

    what, *rest = arguments

    async def serve() -> None:
        async with _application(what, rest) as app:
            await serve_app(app, address, on_ready=lambda: _tell(address.url))

    with (
        claimed_port("127.0.0.1", 0) as address,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(serve())


@contextlib.asynccontextmanager
async def _application(what: str, arguments: Sequence[str]) -> AsyncIterator[ASGIApp]:
    from benchmarks import limits

    match what, arguments:
        case "bare", []:
            yield limits.bare()
        case "sqlite-writes", [path, company_id]:
            yield limits.sqlite_writes(path, company_id)
        case "postgres-round-trip", [url]:
            yield limits.postgres_round_trip(url)
        case "postgres-writes", [url, company_id]:
            yield limits.postgres_writes(url, company_id)
        case "ours", [url, *mail]:
            async with _ours(url, mail) as app:
                yield app
        case "watched", [url]:
            async with _ours(url, ()) as app:
                watch = _StallWatch(app)
                ticking = asyncio.create_task(watch.tick())
                yield watch
                ticking.cancel()
        case _:
            raise SystemExit(f"no such server: {what} {' '.join(arguments)}")


@contextlib.asynccontextmanager
async def _ours(url: str, mail: Sequence[str]) -> AsyncIterator[ASGIApp]:
    from awareness_core.quota import QuotaPolicy
    from awareness_http import create_app
    from awareness_server.logs import configure_logs
    from awareness_server.settings import Settings
    from awareness_server.wiring import opened_ports
    from awareness_smtp import SmtpMailer

    settings = Settings(database_url=url, log_format="json")
    configure_logs(log_format=settings.log_format, log_level=settings.log_level)
    async with opened_ports(settings) as opened:
        ports = opened
        if mail:
            smtp_url, connections = mail
            mailer = SmtpMailer(smtp_url, "awareness@example.com", connections=int(connections))
            ports = attrs.evolve(opened, mailer=mailer)
        quota = QuotaPolicy(limit=10**9, window=timedelta(minutes=15))
        yield create_app(ports, key_quota=quota)


class _StallWatch:
    """An ASGI application in front of another, which notes when the loop came late to a timer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._longest = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path") != STALL_PATH:
            await self._app(scope, receive, send)
            return
        told, self._longest = self._longest, 0.0
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(told).encode(), "more_body": False})

    async def tick(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            await asyncio.sleep(_TICK)
            self._longest = max(self._longest, loop.time() - began - _TICK)


def _tell(url: str) -> None:
    print(json.dumps({"url": url}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
