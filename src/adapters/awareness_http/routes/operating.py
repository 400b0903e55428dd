"""The figures for Prometheus, open or behind a token of their own."""

from __future__ import annotations

import asyncio
import hmac
from typing import Final

import structlog
from litestar import get
from litestar.types import Scope

from awareness_core.errors import ApiKeyInvalid
from awareness_core.outbox import overdue
from awareness_core.ports import Ports
from awareness_http.answers import Answer
from awareness_http.auth import bearer_token
from awareness_http.calls import surroundings_of
from awareness_http.metrics import CONTENT_TYPE, BacklogFigures
from awareness_http.request_head import read_head

METRICS: Final = "/metrics"

PATIENCE: Final = 5.0
"""Seconds that the database may take; the figures are told without its own then."""

_log = structlog.get_logger("awareness_http")


@get(METRICS, include_in_schema=False)
async def figures(scope: Scope) -> Answer:
    """All of them; where there is a token, only for who sends it as a bearer."""
    surroundings = surroundings_of(scope)
    if surroundings.metrics_token is not None:
        sent = bearer_token(read_head(scope["headers"])) or ""
        if not hmac.compare_digest(sent.encode("ascii"), surroundings.metrics_token.encode("utf-8")):
            raise ApiKeyInvalid
    return Answer(surroundings.metrics.render(await _backlog(surroundings.ports)), content_type=CONTENT_TYPE)


async def _backlog(ports: Ports) -> BacklogFigures | None:
    try:
        async with asyncio.timeout(PATIENCE):
            backlog = await ports.companies.mail_backlog()
    except Exception as error:  # noqa: BLE001 (whatever it is, the other figures are told)
        _log.warning("mail_backlog_not_counted", error=str(error) or type(error).__name__)
        return None
    return BacklogFigures(pending=backlog.pending, overdue=overdue(backlog, now=ports.clock.now()))
