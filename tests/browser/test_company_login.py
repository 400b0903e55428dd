"""Logging in with the company's account, through an identity provider, in a real browser and with its policies on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import expect

from tests.browser.chromium import NARROW, WIDE, opened_window
from tests.browser.town import Town, texts_of
from tests.portal.oidc_provider import CLIENT, SECRET, FakeProvider, fake_provider

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with start_blocking_portal() as loop, loop.wrap_async_context_manager(fake_provider()) as fake:
        yield fake


@pytest.mark.parametrize(("language", "width"), [("en", WIDE), ("fr", NARROW)])
def test_the_companys_account_leads_to_ones_own_page(
    town: Town, provider: FakeProvider, tmp_path: Path, language: str, width: int
) -> None:
    texts = texts_of(language)
    email = f"zoe@{language}.example.com"
    api = _found_with_provider(town, provider, tmp_path, language)
    api.post("/api/v1/employees", json={"email": email, "nom": "Martin", "prenom": "Zoé"})
    provider.redirect = f"{town.url}/login/oidc"
    provider.person = {"email": email, "email_verified": True}
    with opened_window(town.browser, language=language, width=width) as window:
        page, faults = window.page, []
        page.goto(f"{town.url}/login")
        page.get_by_role("link", name=texts["company"]["link"]).click()
        faults += window.look(tmp_path / "1-company")
        focused = [window.focus.id]
        window.send(texts["company"]["button"])
        faults += window.look(tmp_path / "2-missing")
        focused.append(window.focus.id)
        # The browser goes on by itself; like this it stays, as where that is turned off.
        page.route(f"{provider.issuer}/**", lambda route: route.fulfill(status=204))
        page.get_by_label(texts["login"]["email"]).fill(email)
        window.send(texts["company"]["button"])
        faults += window.look(tmp_path / "3-leaving")
        page.unroute_all()
        page.get_by_role("link", name=texts["company"]["go_on"].format(host="127.0.0.1")).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(
            texts["home"]["greeting"].format(name="Zoé")
        )
        faults += window.look(tmp_path / "4-home")
        inside = window.path

    assert [] == faults
    assert ["email", "fault"] == focused
    assert "/portal" == inside
    assert [] == window.complaints
    assert {"localhost", "127.0.0.1"} == window.hosts


def _found_with_provider(town: Town, provider: FakeProvider, folder: Path, language: str) -> httpx.Client:
    api = town.found(language, name=f"Example {language}")
    company = api.get("/api/v1/ping").json()["entreprise_id"]
    secret = folder / "secret"
    secret.write_text(SECRET)
    must = town.installation.must
    must("company", "set", company, "--sso-domain", f"{language}.example.com")
    client = ("--client-id", CLIENT, "--client-secret-file", str(secret))
    must("company", "sso", "set", "--company", company, "--issuer", provider.issuer, *client)
    return api
