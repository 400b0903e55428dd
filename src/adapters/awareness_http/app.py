"""The application put together: routes in Litestar, the gateway in front of it.

Knows every part and decides nothing but their order. Which outside world it serves is its caller's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, NoReturn

from litestar import Litestar, Request
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp
from prometheus_client import CollectorRegistry

from awareness_core.ports import Ports
from awareness_core.quota import API_KEY_POLICY, FAILED_AUTHENTICATION_POLICY, QuotaPolicy
from awareness_http.addresses import parse_networks
from awareness_http.allowances import Allowances
from awareness_http.bodies import IDLE_SECONDS
from awareness_http.cors import CrossOrigin
from awareness_http.gateway import Gateway
from awareness_http.metrics import Metrics
from awareness_http.openapi import LITESTAR_OWN, WireSchemas, describe, openapi_config
from awareness_http.paths import PathTable
from awareness_http.routes.access import ping
from awareness_http.routes.campaigns import list_results, read_campaign, read_recipients
from awareness_http.routes.docs import docs_routes
from awareness_http.routes.employees import (
    deactivate_person,
    erase_person,
    list_people,
    provision_one,
    read_person,
)
from awareness_http.routes.health import health_routes
from awareness_http.routes.invitations import invite_many
from awareness_http.routes.notices import notice_routes
from awareness_http.routes.operating import metrics_route
from awareness_http.routes.result_imports import import_campaign
from awareness_http.routes.synchronising import synchronise_people

Lifespan = Callable[[], AbstractAsyncContextManager[None]]

_API_ROUTES: Final = (
    ping,
    provision_one,
    invite_many,
    list_people,
    read_person,
    deactivate_person,
    erase_person,
    synchronise_people,
    list_results,
    read_campaign,
    read_recipients,
    import_campaign,
)


def create_app(
    ports: Ports,
    *,
    trusted_proxies: Iterable[str] = (),
    cors_origins: Iterable[str] = (),
    metrics: bool = True,
    metrics_token: str | None = None,
    registry: CollectorRegistry | None = None,
    access_log: bool = True,
    key_quota: QuotaPolicy = API_KEY_POLICY,
    address_quota: QuotaPolicy = FAILED_AUTHENTICATION_POLICY,
    body_idle_seconds: float = IDLE_SECONDS,
    lifespan: Lifespan | None = None,
) -> ASGIApp:
    """The HTTP API over `ports`, as an ASGI application.

    `trusted_proxies` are addresses or networks whose `X-Forwarded-For` is believed, `cors_origins` the web pages that
    may call from a browser. `metrics` turns `/metrics` on, `metrics_token` guards it, and `registry` may hold what
    others count, to be told there, too. `lifespan` is entered when the server starts and left when it stops. Raises
    `ValueError` for a network or an origin that is none.
    """
    figures = Metrics(registry)
    routes = [
        *_API_ROUTES,
        *notice_routes(ports),
        *health_routes(ports),
        *docs_routes(describe),
        *([metrics_route(figures, ports, token=metrics_token)] if metrics else ()),
    ]
    app = Litestar(
        routes,
        openapi_config=openapi_config(),
        plugins=[WireSchemas()],
        exception_handlers={Exception: _let_through},
        lifespan=[] if lifespan is None else [lambda _: lifespan()],
        logging_config=None,
        request_max_body_size=None,
    )
    return Gateway(
        app=app,
        paths=PathTable(_served(app)),
        ports=ports,
        allowances=Allowances(counter=ports.quota, key_policy=key_quota, address_policy=address_quota),
        cross_origin=CrossOrigin(cors_origins),
        proxies=parse_networks(trusted_proxies),
        metrics=figures,
        keeps_access_log=access_log,
        idle_seconds=body_idle_seconds,
    )


def _served(app: Litestar) -> Iterable[HTTPRoute]:
    for route in app.routes:
        if isinstance(route, HTTPRoute) and not route.path.startswith(LITESTAR_OWN):
            yield route


def _let_through(_request: Request[Any, Any, Any], error: Exception) -> NoReturn:
    # One place makes errors into answers, and it is in front of Litestar.
    raise error
