"""The application as an ASGI server runs it: made for given settings, with ports that live as long as it does.

For servers other than `awareness serve`: `granian --interface asgi --factory awareness_server.asgi:create`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import attrs

from awareness_core.ports import PortalPorts
from awareness_core.quota import LOGIN_ADDRESS_POLICY
from awareness_core.sessions import SessionPolicy
from awareness_server.chores import chores_beside_serving
from awareness_server.front_door import FrontDoor, whose_failures
from awareness_server.garbage import look_seldom
from awareness_server.http_server import AsgiApp, stop_with_parent
from awareness_server.logs import configure_logs
from awareness_server.setting_sources import load_settings
from awareness_server.settings import Settings, secrets_of
from awareness_server.stopping import grace_seconds
from awareness_server.wiring import BuiltPorts, build_ports, checked

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_TELLS_REQUESTS = frozenset({"debug", "info"})

Lifespan = Callable[[], AbstractAsyncContextManager[None]]


def create() -> AsgiApp:
    """The application for the settings of this environment and working folder. Sets up logs."""
    return _living_application(load_settings())


def application_in_worker(settings: Settings) -> AsgiApp:
    """The application in one of several processes, which stops when the process that started it does.

    That one has looked at the database. It may go away at any moment from then on, when a process takes the place of
    one that died, too; requests are told, and that is no reason not to answer them.
    """
    stop_with_parent(grace=grace_seconds(settings))
    return _living_application(settings, has_been_checked=True)


def application(ports: PortalPorts, settings: Settings, *, lifespan: Lifespan | None = None) -> AsgiApp:
    """The application on these ports, which are their owner's to close. `lifespan` spans the server's run."""
    from prometheus_client import CollectorRegistry

    from awareness_server.counted_mailer import with_counted_mail

    registry = CollectorRegistry()
    return _application(with_counted_mail(ports, registry), settings, registry, lifespan)


def _application(
    ports: PortalPorts, settings: Settings, registry: CollectorRegistry, lifespan: Lifespan | None
) -> AsgiApp:
    from awareness_http import create_app

    tells_requests = settings.log_level in _TELLS_REQUESTS
    api = create_app(
        ports,
        trusted_proxies=settings.trusted_proxies,
        cors_origins=settings.cors_origins,
        metrics=settings.metrics,
        metrics_token=settings.metrics_token,
        registry=registry,
        access_log=tells_requests,
        lifespan=lifespan,
    )
    if not settings.portal:
        return api
    from awareness_web import create_portal

    portal = create_portal(
        ports,
        policy=SessionPolicy(
            idle=timedelta(minutes=settings.session_idle_minutes),
            lifetime=timedelta(hours=settings.session_hours),
        ),
        failures=attrs.evolve(LOGIN_ADDRESS_POLICY, limit=settings.login_failures),
        public_url=settings.public_url,
        subject_of=whose_failures(settings.trusted_proxies),
        access_log=tells_requests,
        registry=registry,
    )
    return FrontDoor(api=api, portal=portal)


@asynccontextmanager
async def _closing(built: BuiltPorts) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await built.close()


def _living_application(settings: Settings, *, has_been_checked: bool = False) -> AsgiApp:
    configure_logs(log_format=settings.log_format, log_level=settings.log_level, secrets=secrets_of(settings))
    from prometheus_client import CollectorRegistry

    from awareness_server.counted_mailer import with_counted_mail

    built, registry = build_ports(settings), CollectorRegistry()
    ports = with_counted_mail(built.ports, registry)

    @asynccontextmanager
    async def life() -> AsyncIterator[None]:
        lasting = _closing(built) if has_been_checked else checked(built, settings)
        async with lasting, chores_beside_serving(ports, settings):
            yield

    app = _application(ports, settings, registry, life)
    look_seldom()
    return app
