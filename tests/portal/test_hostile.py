"""What is sent by others than our own pages, or is no form at all: refused with a page, and nothing is done."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from awareness_core.errors import HasherBusy, StoreUnavailable
from awareness_core.ports import Reading
from awareness_core.sessions import form_token
from awareness_core.tenants import CompanyId, Language
from awareness_memory import MemoryStore
from awareness_passwords import Argon2Hasher
from awareness_web.languages import texts_in
from tests.contracts.storages import memory_storage
from tests.portal.browser import HOST, Page
from tests.portal.site import ADA, BETTER, GOOD, Site, new_site

pytestmark = pytest.mark.anyio

FORMS = ["/login", "/portal/choose", "/portal/password", "/portal/log-out", "/portal/log-out-everywhere"]
PAGES = [
    "/",
    "/login",
    "/portal",
    "/portal/choose",
    "/portal/password",
    "/portal/static/portal.css",
    "/portal/nowhere",
]
SECRET = "dbname=/secret/place"


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"https://{HOST}.evil.example"},
        {"origin": f"https://{HOST}:8443"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": None, "sec-fetch-site": "cross-site"},
    ],
    ids=str,
)
async def test_a_form_from_elsewhere_is_refused_whatever_it_knows(
    site: Site, path: str, headers: Mapping[str, str | None]
) -> None:
    browser = await site.inside()
    await browser.get("/portal")
    page = await browser.post(
        path, {"email": ADA, "password": GOOD, "new": BETTER, "again": BETTER}, headers=headers
    )

    assert (403, True, []) == (page.status, "Please send that again" in page.text, page.set_cookies)
    assert 200 == (await browser.get("/portal")).status
    assert "/portal" == (await site.browser().log_in(ADA, GOOD)).location


@pytest.mark.parametrize("path", FORMS[1:])
@pytest.mark.parametrize("token", ["", "x", "0" * 64, form_token("another"), "\udc80é"])
async def test_a_form_without_its_sessions_token_is_refused(site: Site, path: str, token: str) -> None:
    browser = await site.inside()
    sent = token.encode("utf-8", "replace").decode()
    page = await browser.post(path, {"form_token": sent, "current": GOOD, "new": BETTER, "again": BETTER})

    assert 403 == page.status
    assert 200 == (await browser.get("/portal")).status
    assert "/portal" == (await site.browser().log_in(ADA, GOOD)).location


async def test_nobody_is_logged_in_as_somebody_else_by_a_form_of_another_browser(site: Site) -> None:
    await site.inside()
    mallory, victim = site.browser(), site.browser()
    await mallory.get("/login")
    forged = {"form_token": mallory.form_token, "email": ADA, "password": GOOD}
    without = await victim.post("/login", forged)
    await victim.get("/login")
    with_own_cookie = await victim.post("/login", forged)

    for page in (without, with_own_cookie):
        assert (403, True) == (page.status, "Please try again" in page.text)
        assert not [line for line in page.set_cookies if "session" in line]
    assert "/portal" == (await victim.post("/login", {"email": ADA, "password": GOOD})).location


async def test_a_client_that_says_nothing_of_its_origin_needs_the_token_alone(site: Site) -> None:
    await site.inside()
    browser = site.browser()
    await browser.get("/login")
    silent = {"origin": None, "sec-fetch-site": None}

    assert (
        "/portal" == (await browser.post("/login", {"email": ADA, "password": GOOD}, headers=silent)).location
    )


async def test_the_public_address_is_ours_also_when_a_proxy_names_another_host() -> None:
    site = await new_site(memory_storage(), public_url="https://Awareness.example/")
    await site.inside()
    browser = site.browser()
    await browser.get("/login")
    outside = {"origin": "https://awareness.example", "host": "10.0.0.5:8000"}

    assert (
        "/portal"
        == (await browser.post("/login", {"email": ADA, "password": GOOD}, headers=outside)).location
    )


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b"", "application/x-www-form-urlencoded", 403),
        (b"&&&", "application/x-www-form-urlencoded", 400),
        (b"=", "application/x-www-form-urlencoded", 403),
        (b"a=1&a=2", "application/x-www-form-urlencoded", 400),
        (b"email=%ff%fe", "application/x-www-form-urlencoded", 400),
        ("email=é".encode(), "application/x-www-form-urlencoded", 400),
        (b"&".join(b"f%d=1" % n for n in range(50)), "application/x-www-form-urlencoded", 400),
        (b'{"email": "x"}', "application/json", 400),
        (b"--x\r\n\r\n--x--", "multipart/form-data; boundary=x", 400),
        (b"email=x", "text/plain", 400),
        (b"email=" + b"x" * 20_000, "application/x-www-form-urlencoded", 413),
    ],
    ids=str,
)
async def test_rubbish_is_told_to_be_rubbish(
    site: Site, path: str, body: bytes, content_type: str, status: int
) -> None:
    inside = await site.inside()
    # Whoever is inside is led there from the login page.
    browser = site.browser() if path == "/login" else inside
    page = await browser.call("POST", path, body=body, headers={"content-type": content_type})

    assert status == page.status
    assert page.body.startswith("<!doctype html>")
    assert 200 == (await inside.get("/portal")).status


async def test_an_endless_body_is_cut_off(site: Site) -> None:
    browser = site.browser()
    page = await browser.call("POST", "/login", parts=[b"email="] + [b"x" * 65_536] * 200)

    assert (413, "close") == (page.status, page.headers["connection"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=200), path=st.sampled_from(FORMS))
async def test_no_bytes_make_it_fail(site: Site, body: bytes, path: str) -> None:
    assert (await site.browser().call("POST", path, body=body)).status in {400, 403}


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/", "GET, HEAD, OPTIONS"),
        ("PUT", "/login", "GET, HEAD, OPTIONS, POST"),
        ("DELETE", "/portal", "GET, HEAD, OPTIONS"),
        ("GET", "/portal/log-out", "OPTIONS, POST"),
        ("HEAD", "/portal/log-out-everywhere", "OPTIONS, POST"),
        ("get", "/login", "GET, HEAD, OPTIONS, POST"),
        ("TRACE", "/portal/choose", "GET, HEAD, OPTIONS, POST"),
    ],
)
async def test_a_method_that_a_page_does_not_take_is_told_which_it_takes(
    site: Site, method: str, path: str, allowed: str
) -> None:
    page = await site.browser().call(method, path)

    assert (405, allowed) == (page.status, page.headers["allow"])


@pytest.mark.parametrize("path", ["/", "/login", "/portal/static/portal.css"])
async def test_head_answers_as_get_without_the_body(site: Site, path: str) -> None:
    browser = site.browser(cookies={"__Host-awareness-visitor": "x"})
    get, head = [await browser.call(method, path) for method in ("GET", "HEAD")]

    assert "" == head.body
    assert _headers(get) == _headers(head)


async def test_options_tells_the_methods(site: Site) -> None:
    page = await site.browser().call("OPTIONS", "/login")

    assert (204, "GET, HEAD, OPTIONS, POST", "") == (page.status, page.headers["allow"], page.body)


@pytest.mark.parametrize(
    "raw_path",
    [
        b"/portal//",
        b"/portal//choose",
        b"/portal/choose//",
        b"/portal/../portal",
        b"/portal/%63hoose",
        b"/portal/static",
        b"/portal/static/",
        b"/portal/static/../app.py",
        b"/portal/static/%2e%2e/app.py",
        b"/portal/static/layout.html.j2",
        b"/portal/\xff\x00",
        b"/portal//" + b"x" * 500,
    ],
)
async def test_a_path_that_is_not_exactly_one_of_ours_is_not_found(site: Site, raw_path: bytes) -> None:
    page = await site.browser().get(raw_path.decode("latin-1"), raw_path=raw_path)

    assert (404, True) == (page.status, "There is no such page" in page.text)


@pytest.mark.parametrize(
    "path", ["/Login", "/login//", "//login", "/login%2F", "/%6cogin", "/portals", "/nowhere"]
)
async def test_what_is_no_page_is_the_apis_as_ever(site: Site, path: str) -> None:
    page = await site.browser().get(path)

    assert (404, "application/json") == (page.status, page.headers["content-type"])
    assert "ratelimit-limit" in page.headers


async def test_the_api_its_description_and_its_health_are_where_they_were(site: Site) -> None:
    pages = [
        await site.browser().get(path)
        for path in ("/api/v1/ping", "/docs", "/openapi.json", "/health/live", "/metrics")
    ]

    assert [401, 200, 200, 200, 200] == [page.status for page in pages]


async def test_without_the_portal_its_paths_are_unknown() -> None:
    site = await new_site(memory_storage(), portal=False)

    for path in ("/", "/login", "/portal"):
        assert "application/json" == (await site.browser().get(path)).headers["content-type"]


@pytest.mark.parametrize("path", PAGES)
async def test_every_answer_is_closed_to_what_others_would_do_with_it(site: Site, path: str) -> None:
    for browser in (site.browser(), await site.inside(f"{PAGES.index(path)}@acme.example")):
        headers = (await browser.get(path)).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))

        assert ("'none'", "'self'", "'none'") == (
            policy["default-src"],
            policy["form-action"],
            policy["frame-ancestors"],
        )
        assert "unsafe" not in headers["content-security-policy"]
        assert ("nosniff", "same-origin") == (headers["x-content-type-options"], headers["referrer-policy"])
        assert headers["cache-control"] == ("public, max-age=3600" if "static" in path else "no-store")


async def test_no_page_has_a_script_a_style_or_an_address_elsewhere_in_it(site: Site) -> None:
    browser = await site.inside()
    for path in ("/portal", "/portal/password", "/portal/nowhere"):
        body = (await browser.get(path)).body
        assert not [
            word
            for word in ("<script", "<style", " style=", " onclick", "http://", "https://", "//")
            if word in body
        ]


async def test_a_database_that_is_away_is_told_as_that_and_no_more() -> None:
    store = _FailingStore()
    site = await new_site(memory_storage(store))
    browser = await site.inside()
    store.failure = StoreUnavailable(f"cannot connect to {SECRET}")
    pages = [await browser.get("/portal"), await site.browser().log_in(ADA, GOOD)]

    for page in pages:
        assert (503, "5", True) == (page.status, page.headers["retry-after"], "Back in a moment" in page.text)
        assert SECRET not in page.body
    store.failure = None
    assert 200 == (await browser.get("/portal")).status


async def test_too_many_logins_at_once_are_not_told_as_a_database_that_is_away(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def verify(*_: object) -> bool:
        raise HasherBusy

    await site.inside()
    monkeypatch.setattr(Argon2Hasher, "verify", verify)
    with structlog.testing.capture_logs() as lines:
        page = await site.browser().log_in(ADA, GOOD)

    assert (503, "5", True) == (page.status, page.headers["retry-after"], "Back in a moment" in page.text)
    assert ["hasher_busy"] == [line["event"] for line in lines]


async def test_an_error_that_nobody_thought_of_shows_nothing_and_is_logged_without_secrets() -> None:
    store = _FailingStore()
    site = await new_site(memory_storage(store))
    await site.inside()
    store.failure = ZeroDivisionError(SECRET)
    with structlog.testing.capture_logs() as lines:
        page = await site.browser().log_in(ADA, GOOD)

    assert (500, False) == (page.status, SECRET in page.body)
    (line,) = lines
    assert ("request_failed", page.headers["x-request-id"]) == (line["event"], line["request_id"])
    assert GOOD not in str(line)


def test_both_languages_say_the_same_things() -> None:
    french, english = (_names(texts_in(language)) for language in (Language.FRENCH, Language.ENGLISH))

    assert french == english


class _FailingStore(MemoryStore):
    failure: Exception | None = None

    @contextlib.asynccontextmanager
    async def reading(self, company_id: CompanyId) -> AsyncIterator[Reading]:
        """As the memory store's, unless it fails."""
        if self.failure is not None:
            raise self.failure
        async with super().reading(company_id) as reading:
            yield reading


def _names(texts: object, prefix: str = "") -> set[tuple[str, int]]:
    if isinstance(texts, Mapping):
        return {name for key, value in texts.items() for name in _names(value, f"{prefix}.{key}")}
    return {(prefix, len(texts) if isinstance(texts, list) else 1)}


def _headers(page: Page) -> Mapping[str, str]:
    return {name: value for name, value in page.headers.items() if name != "x-request-id"}
