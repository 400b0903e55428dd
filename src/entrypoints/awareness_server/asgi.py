"""The application as an ASGI server runs it: made for given settings, with ports that live as long as it does.

For servers other than `awareness serve`: `granian --interface asgi --factory awareness_server.asgi:create`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from awareness_server.http_server import AsgiApp, stop_with_parent
from awareness_server.logs import configure_logs
from awareness_server.setting_sources import load_settings
from awareness_server.settings import Settings, secrets_of
from awareness_server.wiring import opened_ports


@asynccontextmanager
async def opened_application(settings: Settings) -> AsyncIterator[AsgiApp]:
    """The application on opened ports, which are closed when the block ends. Raises as `opened_ports`."""
    from awareness_http import create_app

    async with opened_ports(settings) as ports:
        yield create_app(
            ports,
            trusted_proxies=settings.trusted_proxies,
            cors_origins=settings.cors_origins,
            metrics=settings.metrics,
            metrics_token=settings.metrics_token,
        )


def create() -> AsgiApp:
    """The application for the settings of this environment and working folder. Sets up logs."""
    return _configured(load_settings())


def application_in_worker(settings: Settings) -> AsgiApp:
    """The application in one of several processes, which stops when the process that started it does."""
    stop_with_parent()
    return _configured(settings)


def _configured(settings: Settings) -> AsgiApp:
    configure_logs(log_format=settings.log_format, log_level=settings.log_level, secrets=secrets_of(settings))
    return _Living(settings)


class _Living:
    """Opens the application when the server starts and closes it when the server stops."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()
        self._app: AsgiApp | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 (ASGI)
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)

    async def _live(self, receive: Any, send: Any) -> None:  # noqa: ANN401 (ASGI)
        await receive()
        self._app = await self._stack.enter_async_context(opened_application(self._settings))
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._stack.aclose()
        await send({"type": "lifespan.shutdown.complete"})
