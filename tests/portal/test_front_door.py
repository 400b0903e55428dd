"""What the entry point adds: whose failures are counted behind proxies, and where mails lead."""

from __future__ import annotations

import pytest

from awareness_server.settings import Settings
from awareness_server.wiring import login_url
from tests.contracts.storages import memory_storage
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
