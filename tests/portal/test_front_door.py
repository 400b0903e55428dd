"""What the entry point adds: whose failures are counted behind proxies, and where mails lead."""

from __future__ import annotations

import re

import pytest
from litestar import Litestar

from awareness_http import create_app
from awareness_http.gateway import Gateway
from awareness_http.openapi import LITESTAR_OWN
from awareness_server.settings import Settings
from awareness_server.wiring import login_url
from tests.contracts.storages import memory_storage
from tests.portal.browser import Page
from tests.portal.site import ADA, GOOD, Site, new_site

pytestmark = pytest.mark.anyio

FEW = 10


@pytest.mark.parametrize(
    ("public_url", "portal", "leads_to"),
    [
        (None, True, None),
        ("https://awareness.example", True, "https://awareness.example/login"),
        ("https://awareness.example/login", True, "https://awareness.example/login"),
        ("https://elsewhere.example/enter", False, "https://elsewhere.example/enter"),
        (None, False, None),
    ],
)
def test_mails_lead_to_the_portal_or_to_the_program_in_its_place(
    public_url: str | None, *, portal: bool, leads_to: str | None
) -> None:
    assert leads_to == login_url(Settings(public_url=public_url, portal=portal))


BROWSERS = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
MISTYPED = ["/LOGIN", "/Login/", "/PORTAL/choose", "/logn", "/portal-", "/index.html", "//login", "/%6Cogin"]


@pytest.fixture
async def site() -> Site:
    return await new_site(memory_storage())


async def _seen(site: Site, path: str, *, accept: str | None, method: str = "GET") -> Page:
    return await site.browser().call(method, path, headers={"accept": accept}, raw_path=path.encode())


@pytest.mark.parametrize("path", MISTYPED)
async def test_who_mistypes_an_address_in_a_browser_reads_so(site: Site, path: str) -> None:
    page = await _seen(site, path, accept=BROWSERS)

    assert (404, "text/html; charset=utf-8") == (page.status, page.headers["content-type"])
    assert "There is no such page" in page.text


@pytest.mark.parametrize("path", MISTYPED)
@pytest.mark.parametrize(
    ("method", "accept"),
    [
        ("GET", None),
        ("GET", "*/*"),
        ("GET", "application/json"),
        ("GET", "application/json, text/html;q=0.9"),
        ("GET", f"{BROWSERS},{'x' * 1000}"),
        ("POST", BROWSERS),
        ("OPTIONS", BROWSERS),
    ],
)
async def test_a_program_that_mistypes_an_address_is_answered_by_the_api(
    site: Site, path: str, method: str, accept: str | None
) -> None:
    without = await new_site(memory_storage(), portal=False)
    pages = [await _seen(one, path, accept=accept, method=method) for one in (site, without)]
    told = [(page.status, page.headers["content-type"], without_id(page.body)) for page in pages]

    assert told[0] == told[1]
    assert (404, "application/json") == told[0][:2]


def without_id(body: str) -> str:
    """An error's body, less the id of its request."""
    return re.sub(r'"request_id":"[^"]*"', "", body)


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api", "/docs/nothing", "/health/Live", "/metrics/"])
async def test_below_the_apis_own_paths_browsers_get_its_answers_too(site: Site, path: str) -> None:
    page = await _seen(site, path, accept=BROWSERS)

    assert (True, "application/json") == (page.status in {401, 404}, page.headers["content-type"])


async def test_every_path_of_the_api_is_answered_by_it_whoever_asks(site: Site) -> None:
    api = create_app(site.ports)
    assert isinstance(api, Gateway)
    assert isinstance(api.app, Litestar)
    templates = {route.path for route in api.app.routes if not route.path.startswith(LITESTAR_OWN)}
    paths = {re.sub(r"\{[^}]*\}", "x", template) for template in templates}
    pages = {path: await _seen(site, path, accept=BROWSERS) for path in paths}

    assert {"/api/v1/ping", "/docs", "/health/live", "/metrics"} <= paths
    assert [] == [path for path, page in pages.items() if "There is no such page" in page.text]


async def _fail(site: Site, times: int, *, peer: str, forwarded: str) -> None:
    for number in range(times):
        browser = site.browser(client=peer)
        await browser.get("/login")
        fields = {"email": f"nobody{number}@acme.example", "password": "wrong"}
        await browser.post("/login", fields, headers={"x-forwarded-for": forwarded})


async def test_behind_a_proxy_failures_are_those_of_the_client_it_names() -> None:
    site = await new_site(memory_storage(), login_failures=FEW, trusted_proxies=("10.0.0.0/8",))
    await site.inside()
    await _fail(site, FEW, peer="10.0.0.1", forwarded="203.0.113.9")
    statuses = []
    for client in ("203.0.113.9", "203.0.113.10"):
        browser = site.browser(client="10.0.0.1")
        await browser.get("/login")
        page = await browser.post(
            "/login", {"email": ADA, "password": GOOD}, headers={"x-forwarded-for": client}
        )
        statuses.append(page.status)

    assert [429, 303] == statuses


async def test_who_is_no_proxy_of_ours_names_nobody_else() -> None:
    site = await new_site(memory_storage(), login_failures=FEW)
    await site.inside()
    await _fail(site, FEW, peer="198.51.100.4", forwarded="203.0.113.9")

    assert 429 == (await site.browser(client="198.51.100.4").log_in(ADA, GOOD)).status
    assert 303 == (await site.browser(client="203.0.113.9").log_in(ADA, GOOD)).status


async def test_an_ipv6_client_is_counted_by_its_network() -> None:
    site = await new_site(memory_storage(), login_failures=FEW)
    await site.inside()
    for number in range(FEW):
        await site.browser(client=f"2001:db8::{number:x}").log_in(f"nobody{number}@acme.example", "wrong")

    assert 429 == (await site.browser(client="2001:db8::ffff").log_in(ADA, GOOD)).status
    assert 303 == (await site.browser(client="2001:db8:0:1::1").log_in(ADA, GOOD)).status
