"""The portal put together: pages in Litestar, the gateway in front of them. Decides nothing but their order."""

from __future__ import annotations

from typing import Any, NoReturn

from litestar import Litestar, Request
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp, HTTPScope
from prometheus_client import CollectorRegistry

from awareness_core.ports import PortalPorts
from awareness_core.quota import LOGIN_ADDRESS_POLICY, QuotaPolicy
from awareness_core.sessions import SessionPolicy
from awareness_web.gateway import PortalGateway
from awareness_web.metrics import PortalMetrics
from awareness_web.origins import origin_of, return_address_at
from awareness_web.routes.choosing import choosing_routes
from awareness_web.routes.company import company_routes
from awareness_web.routes.entering import entering_routes
from awareness_web.routes.files import file_routes
from awareness_web.routes.home import home_routes
from awareness_web.visiting import Desk, SubjectOf


def create_portal(
    ports: PortalPorts,
    *,
    policy: SessionPolicy | None = None,
    failures: QuotaPolicy = LOGIN_ADDRESS_POLICY,
    public_url: str | None = None,
    subject_of: SubjectOf | None = None,
    access_log: bool = True,
    registry: CollectorRegistry | None = None,
) -> ASGIApp:
    """The portal over `ports`, as an ASGI application for the paths of `is_portal_path`.

    `public_url` is where people reach it; without it nobody can log in through an identity provider. `failures` is how
    often logins may fail, and `subject_of` whose are counted together: by default those of the address that a request
    comes from. `registry` is the one of Prometheus that its figures are told by.
    """
    metrics = PortalMetrics(registry or CollectorRegistry())
    desk = Desk(
        ports=ports,
        policy=policy or SessionPolicy(),
        failures=failures,
        subject_of=subject_of or _peer,
        metrics=metrics,
        return_address=None if public_url is None else return_address_at(public_url),
    )
    app = Litestar(
        [
            *entering_routes(desk),
            *company_routes(desk),
            *choosing_routes(desk),
            *home_routes(desk),
            *file_routes(),
        ],
        openapi_config=None,
        exception_handlers={Exception: _let_through},
        logging_config=None,
        request_max_body_size=None,
    )
    return PortalGateway(
        app=app,
        methods={
            route.path.encode(): frozenset(route.methods) - {"OPTIONS"}
            for route in app.routes
            if isinstance(route, HTTPRoute)
        },
        public_origin=None if public_url is None else origin_of(public_url),
        keeps_access_log=access_log,
        metrics=metrics,
    )


def _peer(scope: HTTPScope) -> str:
    client = scope.get("client")
    return "unknown" if client is None else client[0]


def _let_through(_request: Request[Any, Any, Any], error: Exception) -> NoReturn:
    # One place makes errors into pages, and it is in front of Litestar.
    raise error
