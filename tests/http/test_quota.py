"""What a caller has left: exact, told on every answer, and never another's fault."""

from __future__ import annotations

from datetime import timedelta

import pytest

from awareness_core.api_keys import Scope
from awareness_core.errors import StoreUnavailable
from awareness_core.quota import QuotaPolicy, QuotaUse
from tests.contracts.storages import memory_storage
from tests.http.service import Service, new_service

pytestmark = pytest.mark.anyio

PING = "/api/v1/ping"


async def test_600_of_605_requests_pass(service: Service) -> None:
    answers = [await service.get(PING) for _ in range(605)]

    assert [200] * 600 + [429] * 5 == [answer.status for answer in answers]
    assert [*range(599, -1, -1), 0, 0, 0, 0, 0] == [answer.remaining for answer in answers]
    refused = answers[-1]
    assert refused.code == "RATE_LIMIT_EXCEEDED"
    assert refused.headers["retry-after"] == refused.headers["ratelimit-reset"] == "900"
    assert refused.headers["ratelimit-policy"] == "600;w=900"


async def test_the_window_begins_with_the_first_request_and_a_new_one_after_it(service: Service) -> None:
    for _ in range(600):
        await service.get(PING)
    service.clock.advance(timedelta(seconds=899))
    within = await service.get(PING)
    service.clock.advance(timedelta(seconds=1))
    after = await service.get(PING)

    assert (within.status, within.headers["retry-after"]) == (429, "1")
    assert (after.status, after.remaining, after.headers["ratelimit-reset"]) == (200, 599, "900")


async def test_every_request_with_a_known_key_is_charged_to_it_whatever_comes_of_it(service: Service) -> None:
    narrow = await service.key_with(Scope.READ_RESULTS)
    charged = [
        await service.get(PING, key=narrow),
        await service.get("/api/v1/nowhere", key=narrow),
        await service.get("/api//v1/ping", key=narrow),
        await service.call("DELETE", PING, key=narrow),
        await service.get("/api/v1/employees", key=narrow),
        await service.get("/api/v1/campaigns", query={"page": 0}, key=narrow),
        await service.post("/api/v1/employees", {}, key=narrow),
        await service.call("HEAD", PING, key=narrow),
    ]

    assert [200, 404, 404, 405, 403, 400, 403, 200] == [answer.status for answer in charged]
    assert list(range(599, 591, -1)) == [answer.remaining for answer in charged]


async def test_the_quota_is_asked_before_the_scope_and_the_body(service: Service) -> None:
    narrow = await service.key_with(Scope.READ_RESULTS)
    for _ in range(600):
        await service.get(PING, key=narrow)

    assert (await service.post("/api/v1/employees", {}, key=narrow)).status == 429
    assert (await service.get("/api/v1/nowhere", key=narrow)).status == 429


async def test_one_key_does_not_use_up_another_of_the_same_company(service: Service) -> None:
    other = await service.key_with(Scope.READ_RESULTS)
    for _ in range(601):
        await service.get(PING)

    assert (await service.get(PING, key=other)).remaining == 599


async def test_60_failed_authentications_from_an_address_are_told_why_and_the_61st_to_wait(
    service: Service,
) -> None:
    answers = [await service.get(PING, key="nonsense") for _ in range(62)]

    assert [401] * 60 + [429] * 2 == [answer.status for answer in answers]
    assert [*range(59, -1, -1), 0, 0] == [answer.remaining for answer in answers]
    assert answers[0].headers["ratelimit-policy"] == "60;w=900"
    assert answers[-1].headers["retry-after"] == "900"


async def test_a_valid_key_is_never_blocked_by_its_address(service: Service) -> None:
    for _ in range(70):
        await service.get(PING, key="nonsense")
    answer = await service.get(PING)

    assert (answer.status, answer.remaining) == (200, 599)


async def test_addresses_are_counted_apart_and_an_ipv6_customer_as_one(service: Service) -> None:
    for _ in range(60):
        await service.get(PING, key=None, client="2001:db8:1:2::1")
    same = await service.get(PING, key=None, client="2001:db8:1:2:ffff::9")
    next_network = await service.get(PING, key=None, client="2001:db8:1:3::1")
    ipv4 = await service.get(PING, key=None, client="192.0.2.7")

    assert [429, 401, 401] == [same.status, next_network.status, ipv4.status]


async def test_answers_without_a_key_tell_the_allowance_of_the_address_and_charge_nothing(
    service: Service,
) -> None:
    await service.get(PING, key=None)
    free = [
        await service.get(path, key=None)
        for path in ("/health/live", "/health/ready", "/docs", "/openapi.json", "/metrics", "/nowhere")
    ]
    options = await service.call("OPTIONS", PING, key=None)

    assert [59] * 7 == [answer.remaining for answer in [*free, options]]
    assert {"60;w=900"} == {answer.headers["ratelimit-policy"] for answer in free}


async def test_other_policies_can_be_given() -> None:
    service = await new_service(
        memory_storage(), key_quota=QuotaPolicy(limit=2, window=timedelta(seconds=60))
    )
    answers = [await service.get(PING) for _ in range(3)]

    assert [200, 200, 429] == [answer.status for answer in answers]
    assert answers[0].headers["ratelimit-policy"] == "2;w=60"


class DeadCounter:
    """A counter that cannot even fall back."""

    async def hit(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        raise StoreUnavailable("the counter is gone")

    async def peek(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        raise StoreUnavailable("the counter is gone")

    async def is_shared_store_down(self) -> bool:
        return True


async def test_headers_are_there_even_when_nothing_can_be_counted() -> None:
    service = await new_service(memory_storage(), quota=DeadCounter())
    answers = [await service.get(PING), await service.get(PING, key=None), await service.get("/nowhere")]

    assert [503, 401, 404] == [answer.status for answer in answers]
