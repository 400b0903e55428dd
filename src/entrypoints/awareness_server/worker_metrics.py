"""The worker's figures over HTTP: the API's own `/metrics`, and nothing else of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import attrs

from awareness_core.ports import Ports
from awareness_server.settings import Settings

if TYPE_CHECKING:
    from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send
    from prometheus_client import CollectorRegistry

_PATH = b"/metrics"
_NOWHERE = b"/nothing"


@attrs.frozen(kw_only=True)
class MetricsAlone:
    """An ASGI application in front of the API. Whatever else is asked for is answered as a path that there is not."""

    api: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if cast("str", scope["type"]) == "http":
            request = cast("HTTPScope", scope)
            path = request.get("raw_path") or request["path"].encode("utf-8", "surrogatepass")
            if path != _PATH:
                scope = cast("Scope", {**scope, "raw_path": _NOWHERE, "path": _NOWHERE.decode()})
        await self.api(scope, receive, send)


def worker_metrics(ports: Ports, settings: Settings, registry: CollectorRegistry) -> MetricsAlone:
    """`GET /metrics` with what `registry` holds, as `metrics_token` guards it."""
    from awareness_http import create_app

    api = create_app(
        ports, metrics=True, metrics_token=settings.metrics_token, registry=registry, access_log=False
    )
    return MetricsAlone(api=api)
