"""Paths are exact, methods are told, and what is unknown is answered in the one form like everything else."""

from __future__ import annotations

import pytest

from tests.http.service import Answer, Service, send

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "raw_path",
    [
        b"/api/v1/ping/",
        b"/api/v1//ping",
        b"//api/v1/ping",
        b"/api//v1/ping",
        b"/api/v1%2Fping",
        b"/api/v1%2fping",
        b"/api/v1/pin%67",
        b"/api/v1/ping%00",
        b"/api/v1/ping%0a",
        b"/api/v1/ping;x=1",
        b"/api/v1/./ping",
        b"/api/v1/../v1/ping",
        b"/api/v1/PING",
        b"/API/v1/ping",
        b"/api/v1/p\xc3\xafng",
        b"/api/v1/ping\\",
        b"/api/v1",
        b"/api/v1/",
        b"/api/",
        b"/api/v2/ping",
        b"/api/v1/employees/a/b",
        b"/api/v1/employees/%2e%2e",
        b"/api/v1/employees//deactivate",
        b"/health/live/",
        b"/health",
        b"/docs/",
        b"/docs/../app.py",
        b"/docs/README.md",
        b"/docs/docs.html",
        b"/schema",
        b"/schema/openapi.json",
        b"/",
        b"*",
        b"",
    ],
)
async def test_a_path_that_is_not_exactly_one_of_ours_is_not_found(service: Service, raw_path: bytes) -> None:
    answer = await service.get(raw_path.decode("latin-1"), raw_path=raw_path)

    assert (answer.status, answer.code) == (404, "NOT_FOUND")


async def test_an_id_that_is_known_is_found_under_no_other_spelling(service: Service) -> None:
    person = await service.person()
    exact = f"/api/v1/employees/{person}"
    encoded = exact.replace("-", "%2D", 1).encode()

    assert 200 == (await service.get(exact)).status
    assert 404 == (await service.get(exact, raw_path=encoded)).status
    assert (
        404 == (await service.call("POST", f"{exact}/deactivate", raw_path=encoded + b"%2Fdeactivate")).status
    )


async def test_below_api_the_key_is_asked_for_before_the_path(service: Service) -> None:
    paths = ["/api/v1/nowhere", "/api//v1/ping", "/api/"]

    assert [401] * 3 == [(await service.get(path, key=None)).status for path in paths]


async def test_a_server_that_hands_out_no_raw_path_is_served_too(service: Service) -> None:
    headers = [("host", "api.example"), ("x-api-key", service.key)]

    assert (await send(service.app, "GET", "/api/v1/ping", raw_path=b"", headers=headers)).status == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST", "TRACE", "FOO", "get"])
async def test_a_method_that_a_path_does_not_take_is_told_which_it_takes(
    service: Service, method: str
) -> None:
    answer = await service.call(method, "/api/v1/ping")

    assert (answer.status, answer.code) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


async def test_a_path_with_a_get_and_a_post_tells_both(service: Service) -> None:
    answer = await service.call("DELETE", "/api/v1/employees")

    assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"


async def test_a_path_with_a_post_only_has_no_head(service: Service) -> None:
    answer = await service.call("HEAD", "/api/v1/employees/invite-bulk")

    assert (answer.status, answer.headers["allow"], answer.body) == (405, "OPTIONS, POST", b"")


@pytest.mark.parametrize(
    "path", ["/api/v1/ping", "/api/v1/employees", "/api/v1/campaigns", "/health/live", "/docs"]
)
async def test_head_answers_as_get_without_the_body(service: Service, path: str) -> None:
    get = await service.get(path)
    head = await service.call("HEAD", path)

    assert head.body == b""
    assert _but_for_its_own(get) == _but_for_its_own(head)


async def test_head_of_what_is_refused_has_no_body_either(service: Service) -> None:
    answers = [
        await service.call("HEAD", "/api/v1/ping", key=None),
        await service.call("HEAD", "/nowhere"),
        await service.call("HEAD", "/api/v1/campaigns", query={"page": 0}),
    ]

    assert [(401, b""), (404, b""), (400, b"")] == [(answer.status, answer.body) for answer in answers]


async def test_options_tells_the_methods_without_a_key(service: Service) -> None:
    answer = await service.call("OPTIONS", "/api/v1/employees", key=None)

    assert (answer.status, answer.headers["allow"], answer.body) == (204, "GET, HEAD, OPTIONS, POST", b"")
    assert "content-type" not in answer.headers


async def test_options_of_a_path_with_an_id_and_of_the_whole_server(service: Service) -> None:
    person = await service.call("OPTIONS", "/api/v1/employees/x", key=None)
    everything = await service.call("OPTIONS", "*", key=None)

    assert (204, "DELETE, GET, HEAD, OPTIONS") == (person.status, person.headers["allow"])
    assert (204, "DELETE, GET, HEAD, OPTIONS, POST") == (everything.status, everything.headers["allow"])


async def test_options_of_an_unknown_path_is_not_found(service: Service) -> None:
    assert (await service.call("OPTIONS", "/api/v1/nowhere", key=None)).status == 404


async def test_a_websocket_is_closed(service: Service) -> None:
    sent: list[object] = []

    async def keep(message: object) -> None:
        sent.append(message)

    await service.app({"type": "websocket", "path": "/"}, None, keep)  # type: ignore[arg-type]

    assert ["websocket.close"] == [message["type"] for message in sent if isinstance(message, dict)]


def _but_for_its_own(answer: Answer) -> tuple[int, dict[str, str]]:
    own = {"x-request-id", "ratelimit-remaining"}
    return answer.status, {name: value for name, value in answer.headers.items() if name not in own}
