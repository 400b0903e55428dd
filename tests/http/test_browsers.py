"""What browsers meet: no other page may call the API unless a setting says so, and /docs may load nothing from afar."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files

import pytest

from tests.contracts.storages import memory_storage
from tests.http.service import Service, new_service

pytestmark = pytest.mark.anyio

PAGE = "https://app.example"
STATIC = files("awareness_http").joinpath("static")


async def allowing(*origins: str) -> Service:
    return await new_service(memory_storage(), cors_origins=origins)


async def test_no_page_may_call_by_default(service: Service) -> None:
    answers = [
        await service.get("/api/v1/ping", headers=[("origin", PAGE)]),
        await service.call("OPTIONS", "/api/v1/ping", headers=[("origin", PAGE)], key=None),
    ]
    names = {name for answer in answers for name in answer.headers}

    assert [] == [name for name in names if name.startswith("access-control") or name == "vary"]


async def test_a_listed_page_may_call_and_read_the_headers() -> None:
    service = await allowing(PAGE, "http://localhost:3000")
    answer = await service.get("/api/v1/ping", headers=[("origin", PAGE)])
    refused = await service.get("/api/v1/ping", key=None, headers=[("origin", PAGE)])

    assert (
        PAGE
        == answer.headers["access-control-allow-origin"]
        == refused.headers["access-control-allow-origin"]
    )
    assert "Origin" == answer.headers["vary"]
    assert {"RateLimit-Remaining", "Retry-After", "X-Request-Id"} <= set(
        answer.headers["access-control-expose-headers"].split(", ")
    )


async def test_a_preflight_is_answered_without_a_key() -> None:
    service = await allowing(PAGE)
    asked = [("origin", PAGE), ("access-control-request-method", "POST")]
    answer = await service.call("OPTIONS", "/api/v1/employees", key=None, headers=asked)

    assert (204, PAGE) == (answer.status, answer.headers["access-control-allow-origin"])
    assert "GET, HEAD, OPTIONS, POST" == answer.headers["access-control-allow-methods"]
    assert {"Authorization", "X-Api-Key", "Content-Type"} <= set(
        answer.headers["access-control-allow-headers"].split(", ")
    )


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "https://app.example.evil.example", "null", "", "HTTPS://APP.EXAMPLE/"]
)
async def test_an_unlisted_page_is_not_told_that_others_are_listed(origin: str) -> None:
    service = await allowing(PAGE)
    answer = await service.get("/api/v1/ping", headers=[("origin", origin)])

    assert answer.status == 200
    assert {"vary"} == {
        name for name in answer.headers if name.startswith("access-control") or name == "vary"
    }


@pytest.mark.parametrize(
    "origin", ["*", "app.example", "https://app.example/", "https://a.example/path", "ftp://a"]
)
async def test_a_setting_that_is_no_origin_is_refused(origin: str) -> None:
    with pytest.raises(ValueError, match="an origin looks like"):
        await allowing(origin)


async def test_the_docs_may_load_from_here_only(service: Service) -> None:
    page = await service.get("/docs", key=None)
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "'none'" == policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"]
    assert "'self'" == policy["script-src"] == policy["style-src"] == policy["connect-src"]
    assert "unsafe" not in str(policy)
    assert page.headers["referrer-policy"] == "no-referrer"


async def test_everything_the_docs_ask_for_is_served(service: Service) -> None:
    html = (await service.get("/docs", key=None)).body.decode()
    wanted = set(re.findall(r'(?:href|src)="([^"]+)"', html))
    answers = {path: await service.get(path, key=None) for path in wanted}

    assert {
        "/docs/docs.css",
        "/docs/docs.js",
        "/docs/favicon.svg",
        "/docs/swagger-ui-bundle.js",
        "/docs/swagger-ui.css",
    } <= wanted
    assert {200} == {answer.status for answer in answers.values()}
    assert all(path.startswith("/") for path in wanted)
    assert not re.search(r"<script>|<style|style=|onload=", html)


async def test_files_of_the_docs_say_what_they_are(service: Service) -> None:
    types = {
        name: (await service.get(f"/docs/{name}", key=None)).headers["content-type"]
        for name in ("docs.js", "docs.css", "favicon.svg")
    }

    assert {
        "docs.js": "text/javascript; charset=utf-8",
        "docs.css": "text/css; charset=utf-8",
        "favicon.svg": "image/svg+xml",
    } == types


def test_what_was_taken_over_is_unchanged() -> None:
    table = STATIC.joinpath("README.md").read_text(encoding="utf-8")
    recorded = dict(re.findall(r"^\| `([^`]+)` \| `[^`]+` \| `([0-9a-f]{64})` \|$", table, re.MULTILINE))
    actual = {name: hashlib.sha256(STATIC.joinpath(name).read_bytes()).hexdigest() for name in recorded}

    assert len(recorded) == 5
    assert recorded == actual
