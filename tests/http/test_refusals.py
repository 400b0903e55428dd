"""Whatever goes wrong, inside or out, is answered in the one form, with all headers, and without a detail too many."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import attrs
import pytest
import structlog
from litestar.types import Send

from awareness_core.api_keys import Scope
from awareness_core.errors import AwarenessError, ConstraintViolated, StoreUnavailable
from awareness_core.ports import Reading, Transaction
from awareness_core.tenants import CompanyId
from awareness_http.errors import STATUSES
from awareness_http.request_head import MAX_HEADER_BYTES, MAX_URL_BYTES
from awareness_memory import MemoryStore
from tests.contracts.storages import memory_storage
from tests.http.service import ADA, Service, new_service, send

pytestmark = pytest.mark.anyio

SECRET = "postgresql://admin:hunter2@db.internal/awareness"


class _FailingStore(MemoryStore):
    """A store whose data a test may put out of reach, while keys are still found."""

    failure: Exception | None = None

    @contextlib.asynccontextmanager
    async def reading(self, company_id: CompanyId) -> AsyncIterator[Reading]:
        """As the memory store's, unless it fails."""
        if self.failure is not None:
            raise self.failure
        async with super().reading(company_id) as reading:
            yield reading

    def glance(self, company_id: CompanyId) -> Reading:
        """As the memory store's, unless it fails."""
        if self.failure is not None:
            raise self.failure
        return super().glance(company_id)

    @contextlib.asynccontextmanager
    async def transaction(self, company_id: CompanyId) -> AsyncIterator[Transaction]:
        """As the memory store's, unless it fails."""
        if self.failure is not None:
            raise self.failure
        async with super().transaction(company_id) as transaction:
            yield transaction


async def failing(failure: Exception) -> Service:
    store = _FailingStore()
    service = await new_service(memory_storage(store))
    store.failure = failure
    return service


async def test_a_database_that_is_away_is_503_with_a_time_to_try_again() -> None:
    service = await failing(StoreUnavailable(f"cannot connect to {SECRET}"))
    with structlog.testing.capture_logs() as lines:
        answer = await service.get("/api/v1/employees")

    assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, "SERVICE_UNAVAILABLE", "5")
    assert ["store_unavailable"] == [line["event"] for line in lines if "exception" not in line]
    assert "hunter2" not in answer.body.decode()
    assert answer.remaining == 599


@pytest.mark.parametrize("failure", [RuntimeError(SECRET), KeyError(SECRET), AwarenessError(SECRET)])
async def test_an_error_that_nobody_thought_of_is_500_and_tells_nothing(failure: Exception) -> None:
    service = await failing(failure)
    answer = await service.get("/api/v1/employees")

    assert (answer.status, answer.code) == (500, "INTERNAL_ERROR")
    assert answer.remaining == 599
    assert "hunter2" not in str(answer)


async def test_an_error_that_nobody_thought_of_is_logged_under_the_request_id() -> None:
    service = await failing(RuntimeError("the disk is on fire"))
    with structlog.testing.capture_logs() as lines:
        answer = await service.get("/api/v1/employees")

    (line,) = [line for line in lines if line["event"] == "request_failed"]
    assert line["request_id"] == answer.headers["x-request-id"]
    assert "RuntimeError: the disk is on fire" in line["exception"]
    assert service.key not in str(line)
    assert line["log_level"] == "error"


async def test_a_constraint_that_kept_being_violated_is_a_conflict() -> None:
    service = await failing(ConstraintViolated("uq_employees_email"))
    answer = await service.post("/api/v1/employees", ADA)

    assert (answer.status, answer.code) == (409, "CONFLICT")


async def test_the_key_store_being_away_is_503_too(service: Service) -> None:
    async def away(_public_id: object) -> None:
        raise StoreUnavailable("away")

    service.ports.api_keys.find_api_key = away  # type: ignore[method-assign, assignment]
    answer = await service.get("/api/v1/ping")

    assert answer.status == 503


def test_every_refusal_of_the_core_has_a_status() -> None:
    def kinds(root: type[AwarenessError]) -> set[type[AwarenessError]]:
        return {root} | {kind for child in root.__subclasses__() for kind in kinds(child)}

    concrete = {kind for kind in kinds(AwarenessError) if "code" in vars(kind)} - {AwarenessError}

    assert set() == {kind for kind in concrete if kind not in STATUSES}


@pytest.mark.parametrize("sent", ["a", "A-Z_0.9", "x" * 128])
async def test_a_callers_request_id_is_kept(service: Service, sent: str) -> None:
    answers = [
        await service.get("/api/v1/ping", headers=[("x-request-id", sent)]),
        await service.get("/nowhere", headers=[("x-request-id", sent)]),
        await service.get("/api/v1/ping", key=None, headers=[("x-request-id", sent)]),
    ]

    assert [sent] * 3 == [answer.headers["x-request-id"] for answer in answers]


@pytest.mark.parametrize("sent", ["", "x" * 129, "a b", "a/b", "é", 'a"b', "a\tb"])
async def test_a_request_id_that_is_not_fit_for_a_log_is_replaced(service: Service, sent: str) -> None:
    answer = await service.get("/api/v1/ping", headers=[("x-request-id", sent)])

    assert answer.headers["x-request-id"] != sent


async def test_a_repeated_request_id_is_replaced_and_new_ones_differ(service: Service) -> None:
    twice = [("x-request-id", "a"), ("x-request-id", "b")]
    ids = {(await service.get("/api/v1/ping", headers=twice)).headers["x-request-id"] for _ in range(5)}

    assert len(ids) == 5
    assert ids.isdisjoint({"a", "b"})


async def test_headers_that_are_too_large_are_refused_before_anything_is_asked(service: Service) -> None:
    answer = await service.get("/api/v1/ping", headers=[("x-anything", "a" * MAX_HEADER_BYTES)])

    assert (answer.status, answer.code) == (431, "REQUEST_HEADER_FIELDS_TOO_LARGE")
    assert answer.headers["ratelimit-policy"] == "60;w=900"


async def test_a_url_that_is_too_long_is_refused(service: Service) -> None:
    by_path = await service.get("/api/v1/" + "a" * MAX_URL_BYTES)
    by_query = await service.get("/api/v1/ping", query=b"a" * MAX_URL_BYTES)

    assert [(414, "URI_TOO_LONG")] * 2 == [(answer.status, answer.code) for answer in (by_path, by_query)]


async def test_the_host_is_said_exactly_once(service: Service) -> None:
    key = ("x-api-key", service.key)
    missing = await send(service.app, "GET", "/api/v1/ping", headers=[key])
    empty = await send(service.app, "GET", "/api/v1/ping", headers=[key, ("host", "")])
    twice = await send(service.app, "GET", "/api/v1/ping", headers=[key, ("host", "a"), ("host", "b")])
    nonsense = await send(service.app, "GET", "/api/v1/ping", headers=[key, ("host", "a b/c")])
    old = await send(service.app, "GET", "/api/v1/ping", headers=[key], http_version="1.0")

    assert [400, 400, 400, 400, 200] == [answer.status for answer in (missing, empty, twice, nonsense, old)]
    assert [("Host", "invalid_header")] == twice.faults


async def test_at_most_100_faults_are_told(service: Service) -> None:
    body = {**ADA, **{f"field{number}": 1 for number in range(5000)}}
    answer = await service.post("/api/v1/employees", body)

    assert len(answer.faults) == 100


async def test_an_answer_that_broke_off_half_way_is_broken_off_for_the_caller_too(service: Service) -> None:
    async def half(scope: object, receive: object, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        await send(attrs.evolve(service.app, app=half), "GET", "/health/live", headers=[("host", "a")])  # type: ignore[misc]


async def test_answers_of_the_api_are_not_kept_by_caches(service: Service) -> None:
    answers = [
        await service.get("/api/v1/ping"),
        await service.get("/api/v1/employees", key=None),
        await service.get("/health/ready", key=None),
    ]

    assert {"no-store"} == {answer.headers["cache-control"] for answer in answers}


async def test_a_key_without_the_scope_learns_nothing_of_ids(service: Service) -> None:
    narrow = await service.key_with(Scope.READ_RESULTS)
    known = await service.person()
    answers = [await service.get(f"/api/v1/employees/{name}", key=narrow) for name in (known, "nobody")]

    assert answers[0].without_its_own == answers[1].without_its_own
