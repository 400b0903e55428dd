"""What has to be done without anybody asking: polling sources, mailing what a crash left, erasing who left long ago.

`awareness serve` does it beside answering, `awareness worker` does nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

import structlog
import uvloop

from awareness_core.ports import Ports
from awareness_server.delivering import delivering
from awareness_server.http_server import Address, claimed_port, serve_app
from awareness_server.logs import configure_logs
from awareness_server.polling import polling
from awareness_server.purging import purging
from awareness_server.redaction import shown_url
from awareness_server.settings import Settings, secrets_of
from awareness_server.stopping import told_to_stop
from awareness_server.wiring import mail_in_use, opened_ports

_log = structlog.get_logger(__name__)


@asynccontextmanager
async def chores(
    ports: Ports, settings: Settings, *, is_stopping: Callable[[], bool] = lambda: False
) -> AsyncIterator[None]:
    """Do all of them while the block runs; no mail is begun any more once `is_stopping()`."""
    every = timedelta(seconds=settings.sources_poll_seconds)
    kept = timedelta(days=settings.retention_archived_days)
    async with (
        polling(ports, every=every),
        delivering(ports, is_stopping=is_stopping),
        purging(ports, after=kept),
    ):
        yield


@asynccontextmanager
async def chores_beside_serving(ports: Ports, settings: Settings) -> AsyncIterator[None]:
    """Do them while the block runs, unless the settings leave them to `awareness worker`."""
    async with contextlib.AsyncExitStack() as running:
        if settings.serve_does_chores:
            told = running.enter_context(told_to_stop())
            await running.enter_async_context(chores(ports, settings, is_stopping=told.is_set))
        yield


def work_until_stopped(settings: Settings, *, say: Callable[[str], None]) -> None:
    """Do the chores until SIGTERM or SIGINT; `say` shows a line to the user.

    Raises `CommandFailed` for a database that is away or not migrated, or a port for its figures that is in use.
    """
    configure_logs(log_format=settings.log_format, log_level=settings.log_level, secrets=secrets_of(settings))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_work(settings, say))
    _log.info("stopped")


async def _work(settings: Settings, say: Callable[[str], None]) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with opened_ports(settings) as ports:
        if not settings.worker_metrics_port:
            async with chores(ports, settings):
                _announce(settings, say)
                await stopped.wait()
            return
        from prometheus_client import CollectorRegistry

        from awareness_server.counted_mailer import with_counted_mail
        from awareness_server.worker_metrics import worker_metrics

        registry = CollectorRegistry()
        counted = with_counted_mail(ports, registry)
        figures = worker_metrics(counted, settings, registry)
        with claimed_port(settings.host, settings.worker_metrics_port) as address:
            async with chores(counted, settings):
                if not stopped.is_set():
                    await serve_app(figures, address, on_ready=partial(_announce, settings, say, address))


def _announce(settings: Settings, say: Callable[[str], None], metrics: Address | None = None) -> None:
    in_use = {"database": shown_url(settings.database_url), "mail": mail_in_use(settings)}
    if metrics is not None:
        in_use["metrics"] = f"{metrics.url}/metrics"
    if settings.log_format == "json":
        _log.info("working", **in_use)
        return
    say("Polling sources, and mailing what a crash left of invitations. Ctrl-C stops it.")
    for name, value in in_use.items():
        say(f"  {name:<9} {value}")
    if settings.retention_archived_days:
        say(f"  erased    whoever was archived {settings.retention_archived_days} days ago")
