"""The figures for Prometheus, open or behind a token of their own."""

from __future__ import annotations

import hmac

from litestar import get
from litestar.handlers import HTTPRouteHandler
from litestar.types import Scope

from awareness_core.errors import ApiKeyInvalid
from awareness_http.answers import Answer
from awareness_http.auth import bearer_token
from awareness_http.metrics import CONTENT_TYPE, Metrics
from awareness_http.request_head import read_head


def metrics_route(metrics: Metrics, *, token: str | None) -> HTTPRouteHandler:
    """`GET /metrics`. With a `token`, only for who sends it as a bearer."""
    expected = None if token is None else token.encode("utf-8")

    @get("/metrics", include_in_schema=False, sync_to_thread=False)
    def figures(scope: Scope) -> Answer:
        if expected is not None:
            sent = bearer_token(read_head(scope["headers"])) or ""
            if not hmac.compare_digest(sent.encode("ascii"), expected):
                raise ApiKeyInvalid
        return Answer(metrics.render(), content_type=CONTENT_TYPE)

    return figures
