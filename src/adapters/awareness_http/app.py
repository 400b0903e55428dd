"""The application put together: routes in Litestar, the gateway in front of it.

Knows every part and decides nothing but their order. Which outside world it serves is its caller's choice.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
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
from awareness_http.calls import Surroundings
from awareness_http.cors import CrossOrigin
from awareness_http.gateway import Gateway
from awareness_http.lifespans import Lifespan
from awareness_http.metrics import Metrics
from awareness_http.openapi import LITESTAR_OWN, WireSchemas, openapi_config
from awareness_http.paths import PathTable
from awareness_http.routes.access import ping
from awareness_http.routes.campaigns import list_results, read_campaign, read_recipients
from awareness_http.routes.docs import docs_file, docs_page, openapi
from awareness_http.routes.employees import (
    deactivate_person,
    erase_person,
    list_people,
    provision_one,
    read_person,
)
from awareness_http.routes.health import live, ready
from awareness_http.routes.invitations import invite_many
from awareness_http.routes.notices import receive_from_gophish
from awareness_http.routes.operating import METRICS, figures
from awareness_http.routes.result_imports import import_campaign
from awareness_http.routes.synchronising import synchronise_people

_ROUTES: Final = (
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
    receive_from_gophish,
    live,
    ready,
    openapi,
    docs_page,
    docs_file,
    figures,
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
    app = _routed()
    return Gateway(
        app=app,
        paths=PathTable(_served(app, metrics=metrics)),
        surroundings=Surroundings(ports=ports, metrics=Metrics(registry), metrics_token=metrics_token),
        allowances=Allowances(counter=ports.quota, key_policy=key_quota, address_policy=address_quota),
        cross_origin=CrossOrigin(cors_origins),
        proxies=parse_networks(trusted_proxies),
        keeps_access_log=access_log,
        idle_seconds=body_idle_seconds,
        lifespan=lifespan,
    )


@cache
def _routed() -> Litestar:
    """Every route. None holds anything of an application, so that one of these serves all of a process."""
    return Litestar(
        _ROUTES,
        openapi_config=openapi_config(),
        plugins=[WireSchemas()],
        exception_handlers={Exception: _let_through},
        logging_config=None,
        request_max_body_size=None,
    )


def _served(app: Litestar, *, metrics: bool) -> Iterable[HTTPRoute]:
    for route in app.routes:
        is_hidden = route.path.startswith(LITESTAR_OWN) or (route.path == METRICS and not metrics)
        if isinstance(route, HTTPRoute) and not is_hidden:
            yield route


def _let_through(_request: Request[Any, Any, Any], error: Exception) -> NoReturn:
    # One place makes errors into answers, and it is in front of Litestar.
    raise error
