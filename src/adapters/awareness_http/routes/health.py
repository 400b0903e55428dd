"""Whether the process lives, and whether requests should be sent to it. For orchestrators; no key, no detail.

What is wrong with a part stands in the log, not in an answer that anybody may read.
"""

from __future__ import annotations

import asyncio
from typing import Final

import structlog
from litestar import get
from litestar.openapi.datastructures import ResponseSpec
from litestar.types import Scope

from awareness_core.outbox import OVERDUE_AFTER, overdue
from awareness_core.ports import Ports
from awareness_http.answers import Answer, json_answer
from awareness_http.calls import surroundings_of
from awareness_http.errors import RETRY_WHEN_UNAVAILABLE
from awareness_http.wire.health import CheckState, Liveness, NotReady, Readiness, ReadinessChecks

PATIENCE: Final = 5.0
"""Seconds that a part may take to answer before it counts as down."""

_RETRY: Final = (b"retry-after", b"%d" % RETRY_WHEN_UNAVAILABLE)
_TAGS: Final = ["Health"]

_log = structlog.get_logger("awareness_http")


@get(
    "/health/live",
    summary="Does the process answer",
    responses={200: ResponseSpec(Liveness, description="It does.", generate_examples=False)},
    tags=_TAGS,
    security=[{}],
    operation_id="live",
    sync_to_thread=False,
)
def live() -> Answer:
    """Nothing else is looked at."""
    return json_answer(Liveness(status=CheckState.OK))


@get(
    "/health/ready",
    summary="Should requests be sent here",
    responses={
        200: ResponseSpec(Readiness, description="They should.", generate_examples=False),
        503: ResponseSpec(NotReady, description="Not now.", generate_examples=False),
    },
    tags=_TAGS,
    security=[{}],
    operation_id="ready",
)
async def ready(scope: Scope) -> Answer:
    """Not without the database. `degraded` where the quota is not counted together or mail is late."""
    ports = surroundings_of(scope).ports
    checks = ReadinessChecks(
        database=await _database(ports),
        counter_store=await _counter_store(ports),
        mail_backlog=await _mail_backlog(ports),
    )
    if checks.database is CheckState.OK:
        beside = {checks.counter_store, checks.mail_backlog}
        worst = CheckState.DEGRADED if CheckState.DEGRADED in beside else CheckState.OK
        return json_answer(Readiness(status=worst, checks=checks))
    body = NotReady(
        message="The service is not ready: see checks.",
        code="SERVICE_UNAVAILABLE",
        status=CheckState.DOWN,
        checks=checks,
    )
    return json_answer(body, status=503, headers=(_RETRY,))


async def _database(ports: Ports) -> CheckState:
    try:
        async with asyncio.timeout(PATIENCE):
            await ports.store.check()
    except Exception as error:  # noqa: BLE001 (whatever it is, it is not ready)
        _log.warning("database_not_ready", error=str(error) or type(error).__name__)
        return CheckState.DOWN
    return CheckState.OK


async def _counter_store(ports: Ports) -> CheckState:
    try:
        async with asyncio.timeout(PATIENCE):
            is_down = await ports.quota.is_shared_store_down()
    except Exception as error:  # noqa: BLE001 (whatever it is, it is not shared)
        _log.warning("counter_store_not_ready", error=str(error) or type(error).__name__)
        return CheckState.DEGRADED
    return CheckState.DEGRADED if is_down else CheckState.OK


async def _mail_backlog(ports: Ports) -> CheckState:
    try:
        async with asyncio.timeout(PATIENCE):
            backlog = await ports.companies.mail_backlog()
    except Exception as error:  # noqa: BLE001 (whatever it is, nobody can tell)
        _log.warning("mail_backlog_not_counted", error=str(error) or type(error).__name__)
        return CheckState.DEGRADED
    is_overdue = overdue(backlog, now=ports.clock.now()) > OVERDUE_AFTER
    return CheckState.DEGRADED if is_overdue else CheckState.OK
