"""`awareness company sso` and logging in so, with the installed program and a provider on a real socket."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contracts.gophish_server import bytes_of, raw
from tests.end_to_end.installed import Installation, employee
from tests.end_to_end.visitor import Visitor
from tests.portal.oidc_provider import CLIENT, SECRET, FakeProvider, fake_provider

RETURN = "https://awareness.example.com/login/oidc"
DESCRIPTION = "/.well-known/openid-configuration"


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """One in a thread of its own, as the program runs in a process of its own."""
    ready, done = threading.Event(), asyncio.Event()
    found: list[tuple[FakeProvider, asyncio.AbstractEventLoop]] = []

    async def serve() -> None:
        async with fake_provider() as fake:
            found.append((fake, asyncio.get_running_loop()))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=asyncio.run, args=[serve()])
    thread.start()
    ready.wait()
    fake, loop = found[0]
    fake.redirect = RETURN
    yield fake
    loop.call_soon_threadsafe(done.set)
    thread.join()


@pytest.fixture
def acme(tmp_path: Path) -> Installation:
    installation = Installation(tmp_path, public_url="https://awareness.example.com")
    assert 0 == installation.run("migrate").code
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    return installation


def options(provider: FakeProvider, **changes: str) -> list[str]:
    named = {
        "company": "Example",
        "issuer": provider.issuer,
        "client-id": CLIENT,
        "client-secret-file": "secret",
        **changes,
    }
    return [word for name, value in named.items() for word in (f"--{name}", value)]


def test_somebody_of_a_company_logs_in_with_its_account(acme: Installation, provider: FakeProvider) -> None:
    company, key = acme.company_with_key("write:employees", "read:employees")
    acme.must("company", "set", company, "--sso-domain", "example.com")
    acme.must("company", "sso", "set", *options(provider))
    with acme.serving() as server, server.client(key) as api:
        created = api.post("/api/v1/employees", json=employee(1, send_invitation=True)).json()
        person = created["employee"]["id"]
        visitor = Visitor(server.url)
        visitor.get("/login/company")
        sent = visitor.post("/login/company", {"email": created["employee"]["email"]})
        provider.person = {"email": created["employee"]["email"], "email_verified": True}
        back = httpx.get(sent.headers["refresh"].removeprefix("0; url=")).headers["location"]
        entered = visitor.get(f"/login/oidc?{back.partition('?')[2]}")
        home = visitor.get("/portal")
        after = api.get(f"/api/v1/employees/{person}").json()["employee"]
        acme.must("company", "sso", "remove", "--company", company)
        out = visitor.get("/portal")
        metrics = server.get("/metrics").text
        ended = server.stop()

    assert "sso" == created["invitation"]["code"]
    assert back.startswith(f"{RETURN}?")
    assert (303, "/portal", 200) == (entered.status_code, entered.headers["location"], home.status_code)
    assert (303, "/login") == (out.status_code, out.headers["location"])
    assert ("sso", True) == (after["acces"], after["premiere_connexion_at"] is not None)
    said = ended.out + ended.err + metrics
    assert [] == [word for word in (SECRET, *provider.tokens, after["email"]) if word in said]


def test_a_provider_is_set_shown_and_removed(acme: Installation, provider: FakeProvider) -> None:
    company, _ = acme.company_with_key("read:employees")
    made = acme.run("company", "sso", "set", *options(provider))
    shown = acme.must("company", "sso", "show", "--company", company)
    removed = [acme.must("company", "sso", "remove", "--company", company)["removed"] for _ in range(2)]
    none = acme.run("company", "sso", "show", "--company", company)

    assert 0 == made.code, made.err
    assert RETURN in made.err
    assert "--sso-domain" in made.err
    assert SECRET not in made.out + made.err
    created_at = shown.pop("created_at")
    assert created_at.endswith("Z")
    assert {
        "company_id": company,
        "issuer": provider.issuer,
        "client_id": CLIENT,
        "client_secret_file": str(acme.folder / "secret"),
        "return_address": RETURN,
    } == shown
    assert [True, False] == removed
    assert (1, True) == (none.code, "has no identity provider" in none.err)


def test_what_cannot_work_is_told_before_anything_is_stored(
    acme: Installation, provider: FakeProvider
) -> None:
    acme.company_with_key("read:employees")
    (acme.folder / "empty").touch()

    def told(**changes: str) -> tuple[int, str]:
        ended = acme.run("company", "sso", "set", *options(provider, **changes))
        return ended.code, ended.err

    wrong: dict[str, dict[str, Any]] = {
        "http is for localhost alone": {"issuer": "http://login.example.com"},
        "No such file": {"client-secret-file": "nowhere"},
        "the client's secret alone": {"client-secret-file": "empty"},
        "is that of another issuer": {"issuer": f"{provider.issuer}/"},
    }
    for message, changes in wrong.items():
        code, error = told(**changes)
        assert (2, True) == (code, message in error), error
    away = told(issuer="http://127.0.0.1:1")
    provider.replies[DESCRIPTION] = raw(bytes_of(200, b"<html>Log in</html>"))
    assert "it is a web page" in told()[1]
    provider.replies.clear()
    descriptions: dict[str, dict[str, Any]] = {
        "authorization_endpoint that is not https": {"authorization_endpoint": "javascript:alert(1)"},
        "does not offer the authorization code flow": {"response_types_supported": ["id_token"]},
        "does not offer PKCE with S256": {"code_challenge_methods_supported": ["plain"]},
        "neither as basic nor as post": {"token_endpoint_auth_methods_supported": ["private_key_jwt"]},
        "no description of an OpenID provider": {"token_endpoint": None},
    }
    for message, metadata in descriptions.items():
        provider.metadata = metadata
        assert message in told()[1]
    stored = acme.run("company", "sso", "show", "--company", "Example").code
    unchecked = acme.run("company", "sso", "set", *options(provider), "--no-check").code

    assert (69, True) == (away[0], "cannot be reached: Connection refused" in away[1])
    assert (1, 0) == (stored, unchecked)


def test_doctor_looks_at_each_provider(acme: Installation, provider: FakeProvider) -> None:
    def found(**env: str) -> list[tuple[str, str]]:
        checks = acme.run("doctor", "--json", env=env).json["checks"]
        return [(check["state"], check["detail"]) for check in checks if check["name"] == "sso"]

    company, _ = acme.company_with_key("read:employees")
    before = found()
    assert 0 == acme.run("company", "sso", "set", *options(provider)).code
    without_domain = found()
    acme.must("company", "set", company, "--sso-domain", "example.com")
    well = found()
    without_portal = found(AWARENESS_PORTAL="false")
    provider.replies[DESCRIPTION] = raw(bytes_of(200, b"<html>Log in</html>"))
    strange = found()

    assert [] == before
    assert [("warn", True)] == [(state, "no SSO domain" in detail) for state, detail in without_domain]
    assert [("ok", f"'Example': {provider.issuer} describes itself as it must")] == well
    assert [("warn", True)] == [(state, "can come back" in detail) for state, detail in without_portal]
    assert [("warn", True)] == [(state, "it is a web page" in detail) for state, detail in strange]


def test_without_an_address_of_ones_own_nothing_is_set(tmp_path: Path, provider: FakeProvider) -> None:
    installation = Installation(tmp_path)
    installation.must("migrate")
    ended = installation.run("company", "sso", "set", *options(provider))

    assert (78, True) == (ended.code, "set public_url" in ended.err)
