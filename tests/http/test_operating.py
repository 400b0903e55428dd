"""What operators look at: health, figures, and a log that holds what is needed and no secret."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, MutableMapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import structlog
from structlog.contextvars import get_contextvars

from awareness_core.employees import EmployeeId
from awareness_core.errors import StoreUnavailable
from awareness_core.outbox import LEASE, OVERDUE_AFTER, decided
from awareness_http.access_log import shown_path
from awareness_http.routes import health
from awareness_memory import ManualClock, MemoryQuotaCounter
from tests.contracts.storages import memory_storage
from tests.http.service import ADA, NOW, Service, new_service
from tests.http.test_quota import DeadCounter

pytestmark = pytest.mark.anyio

SECRET = "postgresql://admin:hunter2@db.internal"
ROOT: Final = Path(__file__).parents[2]
METRICS_TOKEN = "figures-for-prometheus-only"


async def test_a_healthy_service_says_so_without_a_key(stored: Service) -> None:
    live = await stored.get("/health/live", key=None)
    ready = await stored.get("/health/ready", key=None)

    assert {"status": "ok"} == live.json
    assert {
        "status": "ok",
        "checks": {"database": "ok", "counter_store": "ok", "mail_backlog": "ok"},
    } == ready.json


@pytest.mark.parametrize("failure", [StoreUnavailable(f"cannot reach {SECRET}"), RuntimeError(SECRET)])
async def test_a_service_without_its_database_lives_but_is_not_ready(
    service: Service, failure: Exception
) -> None:
    async def broken() -> None:
        raise failure

    service.ports.store.check = broken  # type: ignore[method-assign]
    with structlog.testing.capture_logs() as lines:
        ready = await service.get("/health/ready", key=None)

    assert (503, "SERVICE_UNAVAILABLE", "5") == (ready.status, ready.code, ready.headers["retry-after"])
    assert {"database": "down", "counter_store": "ok", "mail_backlog": "ok"} == ready.json["checks"]
    assert "hunter2" not in ready.body.decode()
    assert SECRET in str(lines)
    assert (await service.get("/health/live", key=None)).status == 200


async def test_a_database_that_hangs_is_not_waited_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hanging() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(health, "PATIENCE", 0.01)
    service.ports.store.check = hanging  # type: ignore[method-assign]

    assert (await service.get("/health/ready", key=None)).status == 503


async def test_a_counter_store_that_is_away_degrades_and_is_told() -> None:
    service = await new_service(memory_storage(), quota=_LonelyCounter(ManualClock(NOW)))
    ready = await service.get("/health/ready", key=None)

    assert (200, "degraded") == (ready.status, ready.json["status"])
    assert {"database": "ok", "counter_store": "degraded", "mail_backlog": "ok"} == ready.json["checks"]


async def test_a_counter_that_cannot_even_be_asked_takes_no_health_check_with_it() -> None:
    service = await new_service(memory_storage(), quota=DeadCounter())
    answers = [await service.get(path, key=None) for path in ("/health/live", "/health/ready", "/docs")]

    assert [200] * 3 == [answer.status for answer in answers]
    assert "degraded" == answers[1].json["checks"]["counter_store"]


@pytest.mark.parametrize(("late", "state"), [(OVERDUE_AFTER, "ok"), (OVERDUE_AFTER + LEASE, "degraded")])
async def test_mail_that_nobody_takes_over_degrades_and_is_told(
    stored: Service, late: timedelta, state: str
) -> None:
    hired = await stored.person()
    now = stored.clock.now()
    pending = decided(EmployeeId(hired), holder="gone", now=now - LEASE - late)
    async with stored.ports.store.transaction(stored.acme.id) as transaction:
        await transaction.save_pending([pending])
    ready = await stored.get("/health/ready", key=None)
    figures = (await stored.get("/metrics", key=None)).body.decode()

    assert (200, state) == (ready.status, ready.json["status"])
    assert state == ready.json["checks"]["mail_backlog"]
    assert "awareness_pending_invitations 1.0" in figures
    assert f"awareness_overdue_invitation_seconds {late.total_seconds()}" in figures


async def test_figures_are_told_without_the_backlog_while_the_database_is_away(service: Service) -> None:
    async def broken() -> None:
        raise StoreUnavailable("away")

    service.ports.companies.mail_backlog = broken  # type: ignore[method-assign,assignment]
    ready = await service.get("/health/ready", key=None)
    figures = await service.get("/metrics", key=None)

    assert (200, "degraded") == (ready.status, ready.json["checks"]["mail_backlog"])
    assert 200 == figures.status
    assert b"awareness_http_requests_total" in figures.body
    assert b"awareness_pending_invitations" not in figures.body


class _LonelyCounter(MemoryQuotaCounter):
    """A counter whose shared store is away, so that it counts by itself."""

    async def is_shared_store_down(self) -> bool:
        return True


async def test_requests_are_counted_by_route_and_status_and_no_person(stored: Service) -> None:
    person = await stored.person()
    await stored.get(f"/api/v1/employees/{person}")
    await stored.get("/api/v1/employees/nobody")
    await stored.get("/api/v1/nowhere")
    await stored.get("/api/v1/ping", key=None)
    await stored.call("BREW", "/api/v1/ping")
    figures = (await stored.get("/metrics", key=None)).body.decode()

    assert 1.0 == sample(
        figures, "awareness_http_requests_total", method="POST", route="/api/v1/employees", status="200"
    )
    by_id = "/api/v1/employees/{employee_id}"
    assert 1.0 == sample(figures, "awareness_http_requests_total", method="GET", route=by_id, status="200")
    assert 1.0 == sample(figures, "awareness_http_requests_total", method="GET", route=by_id, status="404")
    assert 1.0 == sample(figures, "awareness_http_requests_total", method="GET", route="(none)", status="404")
    assert 1.0 == sample(
        figures, "awareness_http_requests_total", method="other", route="/api/v1/ping", status="405"
    )
    assert 2.0 == sample(figures, "awareness_http_request_seconds_count", method="GET", route=by_id)
    assert 1.0 == sample(figures, "awareness_http_refusals_total", code="API_KEY_INVALID")
    assert not {person, "ada", stored.acme.id, stored.key, "BREW", "nowhere"} & set(
        re.split(r'[" ]', figures)
    )


async def test_two_applications_in_one_process_count_apart() -> None:
    first, second = await new_service(memory_storage()), await new_service(memory_storage())
    await first.get("/api/v1/ping")
    figures = (await second.get("/metrics", key=None)).body.decode()

    assert "/api/v1/ping" not in figures


@pytest.mark.slow
def test_processes_that_share_a_folder_tell_the_sum(tmp_path: Path) -> None:
    script = (
        "import asyncio\n"
        "from tests.contracts.storages import memory_storage\n"
        "from tests.http.service import new_service\n"
        "async def main():\n"
        "    service = await new_service(memory_storage())\n"
        "    for _ in range(3): await service.get('/api/v1/ping')\n"
        "    print((await service.get('/metrics', key=None)).body.decode())\n"
        "asyncio.run(main())\n"
    )
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    told = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    labels = {"method": "GET", "route": "/api/v1/ping", "status": "200"}

    assert [3.0, 6.0] == [sample(figures, "awareness_http_requests_total", **labels) for figures in told]
    assert 6.0 == sample(told[1], "awareness_http_request_seconds_count", method="GET", route="/api/v1/ping")


async def test_the_figures_can_be_turned_off() -> None:
    service = await new_service(memory_storage(), metrics=False)

    assert (await service.get("/metrics", key=None)).status == 404


async def test_the_figures_can_be_guarded_by_a_token_of_their_own() -> None:
    service = await new_service(memory_storage(), metrics_token=METRICS_TOKEN)
    right = await service.get("/metrics", key=METRICS_TOKEN)
    wrong = [
        await service.get("/metrics", key=None),
        await service.get("/metrics", key="wrong"),
        await service.get("/metrics"),
        await service.get("/metrics", key=METRICS_TOKEN[:-1]),
        await service.get("/metrics", key=None, headers=[("x-api-key", METRICS_TOKEN)]),
        await service.get(
            "/metrics", key=METRICS_TOKEN, headers=[("authorization", f"Bearer {METRICS_TOKEN}")]
        ),
        await service.get("/metrics", key=METRICS_TOKEN + "\xe9"),
    ]

    assert right.status == 200
    assert {401} == {answer.status for answer in wrong}
    assert [59, 58, 57, 56, 55, 54, 53] == [answer.remaining for answer in wrong]


async def test_a_request_is_one_line_that_says_who_what_and_how_long(service: Service) -> None:
    logging = await new_service(memory_storage(), access_log=True)
    with structlog.testing.capture_logs() as lines:
        answer = await logging.get("/api/v1/employees", query={"email": "ada@acme.example"})
    (line,) = [line for line in lines if line["event"] == "request"]
    access = (await logging.get("/api/v1/ping")).json

    assert {
        "event": "request",
        "log_level": "info",
        "method": "GET",
        "path": "/api/v1/employees",
        "status": 200,
        "request_id": answer.headers["x-request-id"],
        "company": access["entreprise_id"],
        "key_id": access["api_key_id"],
    } == {name: value for name, value in line.items() if name != "ms"}
    assert line["ms"] > 0


async def test_no_line_holds_a_key_an_address_or_a_body(service: Service) -> None:
    logging = await new_service(memory_storage(), access_log=True)
    with structlog.testing.capture_logs() as lines:
        await logging.post("/api/v1/employees", {**ADA, "send_invitation": True})
        await logging.get(f"/api/v1/employees/{logging.key}")
        await logging.get("/api/v1/employees/ada@acme.example")
        await logging.get("/api/v1/employees", query={"email": "ada@acme.example", "q": "Lovelace"})
        await logging.get("/api/v1/ping", key=logging.key[:-1])
        await logging.get("/api/v1/ping", key=None, headers=[("x-api-key", logging.key)])
    text = str(lines)
    (letter,) = logging.mailer.letters

    assert len([line for line in lines if line["event"] == "request"]) == 6
    assert [] == [
        word for word in (logging.key, logging.key[16:], "ada@", "Lovelace", letter.password) if word in text
    ]


async def test_a_refused_request_is_logged_with_its_code() -> None:
    logging = await new_service(memory_storage(), access_log=True)
    with structlog.testing.capture_logs() as lines:
        await logging.get("/api/v1/campaigns", query={"page": 0})

    assert [(400, "VALIDATION_ERROR")] == [(line["status"], line["code"]) for line in lines]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"/api/v1/ping", "/api/v1/ping"),
        (b"/api/v1/employees/a@b.example/deactivate", "/api/v1/employees/***/deactivate"),
        (b"/api/v1/employees/a%40b.example", "/api/v1/employees/***"),
        (b"/awk_abc/x", "/***/x"),
        (b"/a\nb\x1b[31m", "/a\\x0ab\\x1b[31m"),
        (b"/\xff", "/\\xff"),
        (b"/" + b"a" * 1000, "/" + "a" * 199),
    ],
)
def test_a_path_is_logged_on_one_line_without_what_may_be_secret(raw: bytes, shown: str) -> None:
    assert shown == shown_path(raw)


async def test_every_line_of_a_request_carries_its_id_and_none_after_it(service: Service) -> None:
    seen: list[MutableMapping[str, Any]] = []

    async def check() -> None:
        seen.append(get_contextvars())

    service.ports.store.check = check  # type: ignore[method-assign]
    answer = await service.get("/health/ready", key=None)

    assert [{"request_id": answer.headers["x-request-id"]}] == seen
    assert {} == get_contextvars()


async def test_applications_of_one_process_share_nothing_but_their_routes() -> None:
    guarded = await new_service(memory_storage(), metrics_token=METRICS_TOKEN)
    silent = await new_service(memory_storage(), metrics=False)
    busy = await new_service(memory_storage())
    for service in (guarded, silent, busy, busy):
        await service.get("/api/v1/ping")
    await busy.person()
    told = (await busy.get("/metrics", key=None)).body.decode()

    assert [0, 0, 1] == [await service.people() for service in (guarded, silent, busy)]
    assert [401, 404] == [(await one.get("/metrics", key=None)).status for one in (guarded, silent)]
    assert (
        sample(told, "awareness_http_requests_total", method="GET", route="/api/v1/ping", status="200") == 2
    )


async def test_the_lifespan_of_the_server_is_that_of_what_it_is_given() -> None:
    told: list[str] = []

    @contextlib.asynccontextmanager
    async def life() -> AsyncIterator[None]:
        told.append("begins")
        yield
        told.append("ends")

    await live(await new_service(memory_storage(), lifespan=life), told)

    assert ["begins", "lifespan.startup.complete", "ends", "lifespan.shutdown.complete"] == told


@pytest.mark.parametrize("phase", ["startup", "shutdown"])
async def test_a_server_that_cannot_begin_or_end_is_told_why(phase: str) -> None:
    told: list[str] = []

    @contextlib.asynccontextmanager
    async def life() -> AsyncIterator[None]:
        if phase == "startup":
            raise StoreUnavailable("no database")
        yield
        raise StoreUnavailable("no database")

    with pytest.raises(StoreUnavailable):
        await live(await new_service(memory_storage(), lifespan=life), told)

    assert f"lifespan.{phase}.failed" == told[-2]
    assert "no database" in told[-1]


async def live(service: Service, told: list[str]) -> None:
    """Start and stop the application as a server does, and add what it says to `told`."""
    arriving: Iterator[str] = iter(["lifespan.startup", "lifespan.shutdown"])

    async def receive() -> dict[str, str]:
        return {"type": next(arriving)}

    async def send(message: MutableMapping[str, Any]) -> None:
        told.extend(str(word) for word in message.values())

    await service.app({"type": "lifespan", "asgi": {}, "state": {}}, receive, send)  # type: ignore[arg-type]


def sample(figures: str, name: str, **labels: str) -> float | None:
    """The value of one sample in Prometheus' text form."""
    for line in figures.splitlines():
        found = re.fullmatch(r"(\w+)\{(.*)\} (\S+)", line)
        if found and found[1] == name and dict(re.findall(r'(\w+)="([^"]*)"', found[2])) == labels:
            return float(found[3])
    return None
