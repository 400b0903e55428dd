"""Running the HTTP service: refuse what could only go wrong later, say what is in use, answer until told to stop.

One worker runs in this process; several are Granian's processes, each of which makes its own application.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial

import structlog
import uvloop

from awareness_server.asgi import application, application_in_worker
from awareness_server.chores import chores_beside_serving
from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.http_server import Address, claimed_port, serve_app, serve_workers
from awareness_server.logs import configure_logs
from awareness_server.redaction import shown_url
from awareness_server.settings import Settings, secrets_of
from awareness_server.stopping import grace_seconds
from awareness_server.wiring import limits_are_shared, limits_in_use, mail_in_use, opened_ports

_log = structlog.get_logger(__name__)


def serve_until_stopped(settings: Settings, *, say: Callable[[str], None]) -> None:
    """Answer on `settings.host` and `settings.port` until SIGTERM or SIGINT; `say` shows a line to the user.

    Raises `CommandFailed` for a database that is away or not migrated, a port in use, or several workers that would
    count the quota apart.
    """
    if settings.workers > 1 and not limits_are_shared(settings):
        raise CommandFailed(
            f"{settings.workers} workers would each count the quota for themselves; set limits_url to a Redis or "
            "Valkey that they share, database_url to a PostgreSQL, or workers to 1",
            ExitCode.BAD_SETTINGS,
        )
    configure_logs(log_format=settings.log_format, log_level=settings.log_level, secrets=secrets_of(settings))
    with claimed_port(settings.host, settings.port) as address:
        announce = partial(_announce, settings, address, say)
        if settings.workers == 1:
            _run(_serve_here(settings, address, announce))
        else:
            _run(_check(settings))
            with _shared_metrics():
                serve_workers(
                    partial(application_in_worker, settings),
                    address,
                    workers=settings.workers,
                    grace=grace_seconds(settings),
                    on_ready=announce,
                )
    _log.info("stopped")


@contextmanager
def _shared_metrics() -> Iterator[None]:
    """A new folder in which workers put their figures, so that each of them tells the sum of all."""
    with tempfile.TemporaryDirectory(prefix="awareness-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield


def _run(what: Coroutine[None, None, None]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(what)


async def _serve_here(settings: Settings, address: Address, announce: Callable[[], None]) -> None:
    async with opened_ports(settings) as ports:
        app = application(ports, settings, lifespan=lambda: chores_beside_serving(ports, settings))
        await serve_app(app, address, grace=grace_seconds(settings), on_ready=announce)


async def _check(settings: Settings) -> None:
    async with opened_ports(settings):
        pass


def _announce(settings: Settings, address: Address, say: Callable[[str], None]) -> None:
    in_use = {
        "database": shown_url(settings.database_url),
        "mail": mail_in_use(settings),
        "limits": limits_in_use(settings),
    }
    if settings.log_format == "json":
        _log.info("serving", url=address.url, workers=settings.workers, **in_use)
        return
    say(f"Answering on {address.url}; {address.url}/docs describes the API. Ctrl-C stops it.")
    for name, value in in_use.items():
        say(f"  {name:<9} {value}")
