"""Logging in through a company's identity provider, against one on a real socket."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import attrs
import httpx
import pytest
import structlog.testing

from awareness_core.tenants import Company
from awareness_core.use_cases.companies import change_company
from awareness_core.use_cases.identity_providers import remove_identity_provider, set_identity_provider
from awareness_oidc import Limits
from awareness_web.metrics import LoginOutcome
from tests.contracts.gophish_server import Reply, bytes_of, dripping, endless, raw, silence
from tests.contracts.storages import memory_storage, storage_of
from tests.http.test_operating import sample
from tests.portal.browser import Browser, Page
from tests.portal.oidc_provider import CLIENT, SECRET, FakeProvider, fake_provider
from tests.portal.site import GOOD, Site, new_site

pytestmark = pytest.mark.anyio

GRACE = "grace@sso.example"
ERRAND = "__Host-awareness-errand"
SESSION = "__Host-awareness-session"
PUBLIC = "https://portal.example"


@attrs.frozen(kw_only=True)
class Joined:
    """A portal, and the provider of one of its companies."""

    site: Site
    provider: FakeProvider
    secret: Path

    async def connect(
        self, company: Company | None = None, provider: FakeProvider | None = None, *, is_checked: bool = True
    ) -> None:
        """Make the provider that of a company."""
        await set_identity_provider(
            self.site.ports,
            (company or self.site.acme).id,
            issuer=(provider or self.provider).issuer,
            client_id=CLIENT,
            client_secret_file=str(self.secret),
            is_checked=is_checked,
        )

    async def log_in(self, email: str = GRACE, *, browser: Browser | None = None, **claims: Any) -> Page:  # noqa: ANN401 (JSON)
        """All the way there and back, as whoever `claims` say; by default as `email`."""
        browser = browser or self.site.browser()
        self.provider.person = {"email": email, "email_verified": True, **claims.pop("told", {}), **claims}
        return await come_back(browser, await leave(browser, email))

    async def reason(self, email: str = GRACE, **claims: Any) -> tuple[int, str]:  # noqa: ANN401 (JSON)
        """How logging in so is refused, as the person and the log are told."""
        with structlog.testing.capture_logs() as lines:
            page = await self.log_in(email, **claims)
        (line,) = (line for line in lines if line["event"].startswith("sso_"))
        assert GRACE not in json.dumps(lines)
        assert SESSION not in "".join(page.set_cookies)
        return page.status, line["reason"]


async def leave(browser: Browser, email: str = GRACE) -> str:
    """Ask for the way out; where it leads."""
    await browser.get("/login/company")
    page = await browser.post("/login/company", {"email": email})
    assert 200 == page.status, page.text
    return page.headers["refresh"].removeprefix("0; url=")


async def come_back(browser: Browser, address: str, **changes: str | None) -> Page:
    """Go there, and where one is sent from there; `changes` are to what the provider sends along."""
    async with httpx.AsyncClient(verify=False, trust_env=False) as client:
        sent = await client.get(address)
    assert 302 == sent.status_code, sent.text
    found = urlsplit(sent.headers["location"])
    assert f"{PUBLIC}/login/oidc" == f"{found.scheme}://{found.netloc}{found.path}"
    told = {name: values[0] for name, values in parse_qs(found.query).items()} | changes
    query = urlencode({name: value for name, value in told.items() if value is not None})
    return await browser.get("/login/oidc", query=query.encode(), headers={"sec-fetch-site": "cross-site"})


@asynccontextmanager
async def joined_on(site: Site, folder: Path, *, is_checked: bool = True) -> AsyncIterator[Joined]:
    secret = folder / "client-secret"
    secret.write_text(f"{SECRET}\n")
    async with fake_provider(site.clock) as provider:
        joined = Joined(site=site, provider=provider, secret=secret)
        await joined.connect(is_checked=is_checked)
        yield joined


@pytest.fixture
async def joined(tmp_path: Path) -> AsyncIterator[Joined]:
    site = await new_site(memory_storage(), public_url=PUBLIC)
    async with joined_on(site, tmp_path) as joined:
        yield joined


@pytest.fixture
async def everywhere(stored: Site, tmp_path: Path) -> AsyncIterator[Joined]:
    """On each store."""
    async with joined_on(stored, tmp_path) as joined:
        yield joined


# The way in


async def test_somebody_whom_their_company_vouches_for_is_in(everywhere: Joined) -> None:
    site, browser = everywhere.site, everywhere.site.browser()
    person = await site.hire(GRACE, first_name="Grace")
    entered = await everywhere.log_in(browser=browser)
    home = await browser.get("/portal")
    first = await site.person(GRACE)
    site.wait(timedelta(hours=13))
    ended = await browser.get("/portal")
    again = await everywhere.log_in(browser=browser)
    later = await site.person(GRACE)

    assert (303, "/portal", {SESSION}) == (entered.status, entered.location, set(browser.cookies))
    assert "Hello Grace" in home.text
    assert "there is no password to change here" in home.text
    assert "/portal/password" not in home.body
    assert "/login" == ended.location
    assert "/portal" == again.location
    assert (person, False) == (first.id, first.has_password)
    assert None is not first.first_login_at
    assert first == later


async def test_the_page_on_the_way_names_who_is_asked_and_needs_no_click(joined: Joined) -> None:
    browser = joined.site.browser()
    await browser.get("/login/company")
    page = await browser.post("/login/company", {"email": f" {GRACE} "})
    found = urlsplit(page.headers["refresh"].removeprefix("0; url="))
    told = parse_qs(found.query)

    assert f"{found.scheme}://{found.netloc}{found.path}" == f"{joined.provider.issuer}/authorize"
    assert f"Continue to {found.netloc}" in page.text
    assert "form-action 'self'" in page.headers["content-security-policy"]
    assert (["openid email"], ["S256"], [GRACE], [f"{PUBLIC}/login/oidc"]) == (
        told["scope"],
        told["code_challenge_method"],
        told["login_hint"],
        told["redirect_uri"],
    )
    (cookie,) = (line for line in page.set_cookies if line.startswith(ERRAND))
    assert "Max-Age=600" in cookie
    assert [] == [
        name for name in ("state", "nonce", "code_challenge") if told[name][0] in browser.cookies[ERRAND]
    ]


async def test_the_form_with_a_password_leads_there_too_without_looking_at_the_password(
    joined: Joined,
) -> None:
    await joined.site.hire(GRACE)
    browser = joined.site.browser()
    shown = await browser.get("/login")
    pages = [await browser.log_in(GRACE, typed) for typed in ("", GOOD)]

    assert "Log in with your company’s account" in shown.text
    assert [200, 200] == [page.status for page in pages]
    assert all(page.headers["refresh"].startswith(f"0; url={joined.provider.issuer}") for page in pages)


async def test_whether_somebody_is_known_shows_in_nothing_before_they_have_logged_in(joined: Joined) -> None:
    await joined.site.hire(GRACE)
    await joined.site.hire("gone@sso.example")
    await joined.site.archive("gone@sso.example")
    pages = []
    for email in (GRACE, "nobody@sso.example", "gone@sso.example"):
        for path, fields in (("/login/company", {}), ("/login", {"password": "x"})):
            browser = joined.site.browser()
            await browser.get(path)
            page = await browser.post(path, {"email": email, **fields})
            body = re.sub(r"(state|nonce|login_hint|code_challenge)=[^&\"]*", "", page.body)
            pages.append((page.status, body, sorted(page.headers)))

    assert 1 == len({repr(page) for page in pages})


async def test_a_mailed_password_opens_the_door_to_people_of_another_company_at_the_domain(
    everywhere: Joined,
) -> None:
    site, browser = everywhere.site, everywhere.site.browser()
    mailed = await site.invited("alien@sso.example", company=site.globex)
    refused = await browser.log_in("alien@sso.example", "wrong")
    await browser.get("/login/company")
    elsewhere = await browser.post("/login/company", {"email": "ALIEN@sso.example"})
    entered = await browser.log_in("Alien@sso.example", mailed)
    chosen = await browser.choose(GOOD)
    again = await site.browser().log_in("alien@sso.example", GOOD)

    assert [422, 422] == [page.status for page in (refused, elsewhere)]
    assert "do not go together" in refused.text
    assert "do not log in this way" in elsewhere.text
    assert ["/portal/choose", "/portal", "/portal"] == [page.location for page in (entered, chosen, again)]


@pytest.mark.parametrize(
    ("email", "says"),
    [("", "Type your e-mail address."), ("ada@acme.example", "do not log in this way"), ("x", "not log in")],
)
async def test_an_address_without_a_provider_is_told_so(joined: Joined, email: str, says: str) -> None:
    browser = joined.site.browser()
    await browser.get("/login/company")
    page = await browser.post("/login/company", {"email": email})

    assert (422, True) == (page.status, says in page.text)
    assert ERRAND not in browser.cookies


async def test_where_no_company_has_a_provider_none_is_offered(site: Site) -> None:
    browser = site.browser()

    assert "company’s account" not in (await browser.get("/login")).text
    assert "/login" == (await browser.get("/login/company")).location


async def test_without_an_address_of_its_own_the_portal_sends_nobody_away(tmp_path: Path) -> None:
    async with joined_on(await new_site(memory_storage(), public_url=None), tmp_path) as joined:
        browser = joined.site.browser()
        shown = await browser.get("/login")
        wrong = await browser.log_in(GRACE, GOOD)
        back = await browser.get("/login/oidc", query=b"code=x&state=y")

    assert "company’s account" not in shown.text
    assert (422, 400) == (wrong.status, back.status)


async def test_a_form_of_another_page_sends_nobody_away(joined: Joined) -> None:
    browser = joined.site.browser()
    await browser.get("/login/company")
    page = await browser.post("/login/company", {"email": GRACE, "form_token": "0" * 64})

    assert (403, False) == (page.status, ERRAND in browser.cookies)


# What a session that began there opens


async def test_logging_out_everywhere_and_archiving_end_it_at_once(everywhere: Joined) -> None:
    site = everywhere.site
    await site.hire(GRACE)
    browsers = [site.browser() for _ in range(3)]
    for browser in browsers[:2]:
        await everywhere.log_in(browser=browser)
    await browsers[0].get("/portal")
    left = await browsers[0].post("/portal/log-out-everywhere")
    after_leaving = [(await browser.get("/portal")).location for browser in browsers]
    await everywhere.log_in(browser=browsers[2])
    assert 200 == (await browsers[2].get("/portal")).status
    await site.archive(GRACE)

    assert "/login?left" == left.location
    assert ["/login"] * 3 == after_leaving
    assert "/login" == (await browsers[2].get("/portal")).location
    assert (403, "unknown_person") == await everywhere.reason()


async def test_there_is_no_password_to_choose(joined: Joined) -> None:
    await joined.site.hire(GRACE)
    browser = joined.site.browser()
    await joined.log_in(browser=browser)
    await browser.get("/portal")
    sent = {"new": GOOD, "again": GOOD, "current": GOOD}
    pages = [await browser.get(path) for path in ("/portal/choose", "/portal/password")]
    pages += [await browser.post(path, sent) for path in ("/portal/choose", "/portal/password")]

    assert ["/portal"] * 4 == [page.location for page in pages]
    assert not (await joined.site.person(GRACE)).has_password


async def test_a_domain_that_is_sso_no_more_ends_the_session_and_the_person_awaits_access(
    joined: Joined,
) -> None:
    await joined.site.hire(GRACE)
    browser = joined.site.browser()
    await joined.log_in(browser=browser)
    await change_company(joined.site.ports, joined.site.acme, sso_domains=[])
    mailed = await joined.site.mailed((await joined.site.person(GRACE)).id)

    assert "/login" == (await browser.get("/portal")).location
    assert "/portal/choose" == (await joined.site.browser().log_in(GRACE, mailed)).location


async def test_a_session_that_was_refused_for_its_domain_never_comes_back(everywhere: Joined) -> None:
    site = everywhere.site
    await site.hire(GRACE)
    browsers = {"sso": site.browser(), "password": await site.inside()}
    await everywhere.log_in(browser=browsers["sso"])
    company = await change_company(site.ports, site.acme, sso_domains=["acme.example"])
    refused = [(await browser.get("/portal")).location for browser in browsers.values()]
    await change_company(site.ports, company, sso_domains=["sso.example"])
    later = [(await browser.get("/portal")).location for browser in browsers.values()]

    assert ["/login"] * 2 == refused == later


async def test_who_came_in_through_a_provider_is_at_the_door_again_once_it_is_removed(
    everywhere: Joined,
) -> None:
    await everywhere.site.hire(GRACE)
    browser, other = everywhere.site.browser(), await everywhere.site.inside()
    await everywhere.log_in(browser=browser)
    before = await browser.get("/portal")
    await remove_identity_provider(everywhere.site.ports, everywhere.site.acme.id)
    after = await browser.get("/portal")

    assert (200, "/login") == (before.status, after.location)
    assert 200 == (await other.get("/portal")).status


async def test_a_password_chosen_before_the_domain_became_sso_opens_nothing(joined: Joined) -> None:
    inside = await joined.site.inside()
    await change_company(joined.site.ports, joined.site.acme, sso_domains=["acme.example"])

    assert "/login" == (await inside.get("/portal")).location
    assert "refresh" in (await joined.site.browser().log_in("ada@acme.example", GOOD)).headers
    browser = joined.site.browser()
    assert "/portal" == (await joined.log_in("ada@acme.example", browser=browser)).location


async def test_it_never_goes_on_with_a_session_that_was_there(joined: Joined) -> None:
    await joined.site.hire(GRACE)
    first = await joined.site.inside()
    earlier = dict(first.cookies)
    await first.get("/portal")
    visitor = joined.site.browser()
    address = await leave(visitor)
    joined.provider.person = {"email": GRACE}
    first.cookies |= visitor.cookies
    page = await come_back(first, address)

    assert "/portal" == page.location
    assert earlier[SESSION] != first.cookies[SESSION]
    assert "/login" == (await joined.site.browser(cookies=earlier).get("/portal")).location


# Whom it does not let in


async def test_an_address_is_believed_of_that_company_alone(everywhere: Joined) -> None:
    """Globex' own provider says that somebody is a person of Acme, or of nobody's domain."""
    site = everywhere.site
    await change_company(site.ports, site.globex, sso_domains=["globex.example"])
    await everywhere.connect(site.globex)
    await site.hire(GRACE)
    await site.hire("hans@globex.example", company=site.globex)
    everywhere.provider.person = {"email": GRACE, "email_verified": True}
    browser = site.browser()
    page = await come_back(browser, await leave(browser, "hans@globex.example"))

    assert (403, "You could not be logged in") == (page.status, page.text[: page.text.find(" –")] or "")
    assert "/login" == (await browser.get("/portal")).location
    assert None is (await site.person(GRACE)).first_login_at


async def test_a_ticket_of_one_company_opens_nothing_of_another(joined: Joined) -> None:
    """The cookie is the browser's; with another company in it, the other company's provider is asked."""
    site = joined.site
    await change_company(site.ports, site.globex, sso_domains=["globex.example"])
    await site.hire(GRACE)
    async with fake_provider(site.clock) as other:
        other.person = {"email": GRACE}
        await joined.connect(site.globex, other)
        browser = site.browser()
        address = await leave(browser, "hans@globex.example")
        browser.cookies[ERRAND] = browser.cookies[ERRAND].replace(site.globex.id, site.acme.id)
        told = await come_back(browser, address)
        silent = site.browser()
        other.sends_iss = False
        address = await leave(silent, "hans@globex.example")
        silent.cookies[ERRAND] = silent.cookies[ERRAND].replace(site.globex.id, site.acme.id)
        joined.provider.metadata = {"authorization_response_iss_parameter_supported": False}
        untold = await come_back(silent, address)

    assert [403, 403] == [told.status, untold.status]
    assert not {SESSION} & {*browser.cookies, *silent.cookies}


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"email": "nobody@sso.example"}, "unknown_person"),
        ({"email": "ada@acme.example"}, "not_sso"),
        ({"email": "hans@globex.example"}, "unknown_person"),
        ({"email_verified": False}, "unverified_address"),
        ({"email_verified": "false"}, "unverified_address"),
        ({"email_verified": 0}, "unverified_address"),
        ({"email": "not an address"}, "no_address"),
        ({"email": f"{GRACE},ada@acme.example"}, "no_address"),
        ({"email": [GRACE]}, "no_address"),
        ({"email": ""}, "no_address"),
    ],
)
async def test_whoever_is_not_let_in_is_told_one_thing_and_the_log_why(
    joined: Joined, claims: dict[str, Any], reason: str
) -> None:
    for email in (GRACE, "ada@acme.example"):
        await joined.site.hire(email)
    await joined.site.hire("hans@globex.example", company=joined.site.globex)

    assert (403, reason) == await joined.reason(told=claims)


@pytest.mark.parametrize("spelt", ["GRACE@SSO.EXAMPLE", " grace@sso.example ", "Grace@sso.example"])
async def test_an_address_is_the_same_in_another_spelling(joined: Joined, spelt: str) -> None:
    await joined.site.hire(GRACE)

    assert "/portal" == (await joined.log_in(spelt)).location


async def test_a_provider_that_says_nothing_of_verification_is_believed(joined: Joined) -> None:
    await joined.site.hire(GRACE)

    assert "/portal" == (await joined.log_in(email_verified=None)).location


async def test_an_address_that_only_userinfo_tells_is_taken_from_there(joined: Joined) -> None:
    await joined.site.hire(GRACE)
    joined.provider.claims = {"email": None, "sub": "1"}
    joined.provider.userinfo = {"sub": "1", "email": GRACE}
    entered = await joined.log_in()
    joined.provider.userinfo = {"sub": "2", "email": GRACE}

    assert "/portal" == entered.location
    assert (403, "userinfo") == await joined.reason()
    joined.provider.userinfo = None
    assert (403, "userinfo") == await joined.reason()
    joined.provider.replies["/userinfo"] = raw(bytes_of(502, b"<html>Bad gateway</html>"))
    assert (503, "strange_answer") == await joined.reason()
    joined.provider.replies.clear()
    joined.provider.metadata = {"userinfo_endpoint": None}
    joined.site.wait(timedelta(hours=1))
    assert (403, "no_address") == await joined.reason()


async def test_failures_are_counted_by_client_and_end_in_waiting(tmp_path: Path) -> None:
    site = await new_site(memory_storage(), public_url=PUBLIC, login_failures=10)
    async with joined_on(site, tmp_path) as joined:
        await _fail_too_often(joined, 10)


async def _fail_too_often(joined: Joined, times: int) -> None:
    for _ in range(times):
        assert 403 == (await joined.log_in()).status
    browser = joined.site.browser()
    await browser.get("/login/company")
    page = await browser.post("/login/company", {"email": GRACE})
    elsewhere = joined.site.browser(client="192.0.2.77")

    assert (429, "900") == (page.status, page.headers["retry-after"])
    assert "Wait 15 minutes" in page.text or "15 minutes" in page.text
    assert (await leave(elsewhere)).startswith(joined.provider.issuer)


# The way back


async def test_it_leads_in_once(joined: Joined) -> None:
    await joined.site.hire(GRACE)
    browser = joined.site.browser()
    joined.provider.person = {"email": GRACE}
    address = await leave(browser)
    ticket = browser.cookies[ERRAND]
    async with httpx.AsyncClient(verify=False, trust_env=False) as client:
        location = (await client.get(address)).headers["location"]
    query = urlsplit(location).query.encode()
    first = await browser.get("/login/oidc", query=query)
    again = await browser.get("/login/oidc", query=query)
    copied = await joined.site.browser(cookies={ERRAND: ticket}).get("/login/oidc", query=query)

    assert ("/portal", 400, 403) == (first.location, again.status, copied.status)
    assert "used already" in again.text
    assert "does not answer" not in copied.text
    assert "You could not be logged in" in copied.text
    assert "Start again" in copied.text


async def test_who_comes_from_another_browser_or_with_another_state_is_sent_to_the_beginning(
    joined: Joined,
) -> None:
    await joined.site.hire(GRACE)
    joined.provider.person = {"email": GRACE}
    browser, other = joined.site.browser(), joined.site.browser()
    address, elsewhere = await leave(browser), await leave(other)
    pages = [
        await come_back(joined.site.browser(), address),
        await come_back(other, address),
        await come_back(joined.site.browser(cookies=dict(browser.cookies)), elsewhere),
    ]
    for state in ("", "x", "é", None):
        visitor = joined.site.browser()
        pages.append(await come_back(visitor, await leave(visitor), state=state))

    assert [400] * 7 == [page.status for page in pages]
    assert all("Please start again" in page.text for page in pages)


async def test_it_may_take_ten_minutes(joined: Joined) -> None:
    await joined.site.hire(GRACE)
    joined.provider.person = {"email": GRACE}
    browsers = [joined.site.browser(), joined.site.browser()]
    addresses = [await leave(browser) for browser in browsers]
    joined.site.wait(timedelta(seconds=599))
    in_time = await come_back(browsers[0], addresses[0])
    joined.site.wait(timedelta(seconds=1))
    late = await come_back(browsers[1], addresses[1])

    assert ("/portal", 400) == (in_time.location, late.status)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"code": None, "error": "access_denied"}, 403),
        ({"code": None, "error": "<script>"}, 403),
        ({"code": None}, 403),
        ({"code": "another"}, 403),
        ({"iss": "https://elsewhere.example"}, 403),
        ({"iss": None}, 403),
    ],
)
async def test_what_a_provider_sends_along_is_checked(
    joined: Joined, changes: dict[str, str | None], status: int
) -> None:
    await joined.site.hire(GRACE)
    joined.provider.person = {"email": GRACE}
    browser = joined.site.browser()
    with structlog.testing.capture_logs() as lines:
        page = await come_back(browser, await leave(browser), **changes)

    assert (status, False) == (page.status, SESSION in browser.cookies)
    assert "script" not in repr(lines) + page.body


@pytest.mark.parametrize(
    "query",
    [
        b"",
        b"code=1&code=2&state=x",
        b"state=%ff",
        b"\xff",
        b"&".join(b"a%d=" % number for number in range(50)),
        b"code=x&state=" + b"y" * 7000,
        b"code=%00&state=%00",
        b"=&=",
    ],
)
@pytest.mark.parametrize(
    "cookie", [None, "x", "...", "a.1.b", "a.9999999999999999.b", "a.-1.b", "é.1.b", "a.1." + "b" * 400]
)
async def test_rubbish_is_refused(joined: Joined, query: bytes, cookie: str | None) -> None:
    browser = joined.site.browser(cookies={} if cookie is None else {ERRAND: cookie})
    page = await browser.get("/login/oidc", query=query)

    assert 400 == page.status


# What a provider may do wrong


@pytest.mark.parametrize(
    "wrong",
    [
        {"claims": {"iss": "https://elsewhere.example"}},
        {"claims": {"iss": None}},
        {"claims": {"aud": "another client"}},
        {"claims": {"aud": "another client", "azp": CLIENT}},
        {"claims": {"aud": []}},
        {"claims": {"aud": None}},
        {"claims": {"aud": [CLIENT, "another"]}},
        {"claims": {"azp": "another"}},
        {"claims": {"nonce": "another"}},
        {"claims": {"nonce": None}},
        {"claims": {"exp": 1}},
        {"claims": {"exp": "soon"}},
        {"claims": {"exp": None}},
        {"claims": {"iat": None}},
        {"claims": {"iat": 9_999_999_999}},
        {"claims": {"nbf": 9_999_999_999}},
        {"claims": {"sub": None}},
        {"claims": {"at_hash": "x"}},
        {"claims": {"at_hash": 7}},
        {"claims": {"aud": {"a": 1}}},
        {"alg": "none"},
        {"alg": "HS256"},
        {"kid": "unknown"},
    ],
    ids=str,
)
async def test_a_token_that_proves_nothing_lets_nobody_in(joined: Joined, wrong: dict[str, Any]) -> None:
    await joined.site.hire(GRACE)
    for name, value in wrong.items():
        setattr(joined.provider, name, value)

    assert (403, "token") == await joined.reason()


@pytest.mark.parametrize("alg", ["none", "HS256"])
@pytest.mark.parametrize("kid", ["key 0", None])
async def test_a_token_that_nobody_signed_is_told_from_one_with_a_wrong_signature(
    joined: Joined, alg: str, kid: str | None
) -> None:
    joined.provider.alg, joined.provider.kid = alg, kid
    with structlog.testing.capture_logs() as lines:
        await joined.log_in()

    (line,) = (line for line in lines if line["event"] == "sso_failed")
    assert "signed in a way that is not taken" in line["error"]
    assert 1 == joined.provider.asked.count("/keys")


async def test_logins_are_counted_by_how_they_ended(joined: Joined) -> None:
    await joined.site.hire(GRACE)
    await joined.log_in()
    await joined.log_in("nobody@sso.example")
    await joined.site.browser().get("/login/oidc", query=b"code=x&state=y")
    joined.provider.replies["/token"] = raw(b"")
    await joined.log_in()
    figures = (await joined.site.browser().get("/metrics")).body

    counted = {
        outcome.value: sample(figures, "awareness_portal_logins_total", outcome=outcome.value)
        for outcome in LoginOutcome
    }
    assert {"company_account": 1.0, "company_refused": 2.0, "company_failed": 1.0} == {
        name: count for name, count in counted.items() if count
    }


async def test_a_token_signed_with_another_key_lets_nobody_in(joined: Joined) -> None:
    await joined.site.hire(GRACE)
    right = joined.provider.published
    joined.provider.rotate()
    joined.provider.published, joined.provider.kid = right, "key 0"
    forged = await joined.reason()
    joined.provider.kid = None

    assert (403, "token") == forged == await joined.reason()


@pytest.mark.parametrize("kid", ["key 1", None])
async def test_changed_keys_are_asked_for_once_and_remembered(joined: Joined, kid: str | None) -> None:
    await joined.site.hire(GRACE)
    await joined.log_in()
    joined.provider.rotate()
    joined.provider.kid = kid
    pages = [await joined.log_in(), await joined.log_in()]

    assert ["/portal", "/portal"] == [page.location for page in pages]
    asked = joined.provider.asked
    assert (2, 1) == (asked.count("/keys"), asked.count("/.well-known/openid-configuration"))


async def test_what_a_provider_says_of_itself_is_an_hour_old_at_most(joined: Joined) -> None:
    await joined.site.hire(GRACE)
    joined.site.wait(timedelta(hours=1))
    await joined.log_in()

    asked = joined.provider.asked
    assert (2, 2) == (asked.count("/keys"), asked.count("/.well-known/openid-configuration"))


HTML = raw(bytes_of(200, b"<!doctype html><title>Sign in to the wifi</title>"))
ANSWERS: dict[str, Reply] = {
    "a web page": HTML,
    "nothing": raw(b""),
    "an empty body": raw(bytes_of(200, b"", kind="application/json")),
    "a list": raw(bytes_of(200, b"[]", kind="application/json")),
    "deep JSON": raw(bytes_of(200, b"[" * 100_000, kind="application/json")),
    "bad UTF-8": raw(bytes_of(200, b'{"issuer": "\xff"}', kind="application/json")),
    "a redirect": raw(bytes_of(302, b"", more="Location: https://elsewhere.example/\r\n")),
    "an error": raw(bytes_of(500, b"oops")),
    "no HTTP": raw(b"220 mail.example ESMTP\r\n"),
    "half an answer": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"),
    "no end": endless(4 * 1024 * 1024),
}


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token", "/keys"])
@pytest.mark.parametrize("what", ANSWERS)
async def test_an_answer_that_is_none_is_told_to_the_person_as_an_outage(
    joined: Joined, path: str, what: str
) -> None:
    await joined.site.hire(GRACE)
    joined.site.wait(timedelta(hours=1))
    browser = joined.site.browser()
    joined.provider.person = {"email": GRACE}
    is_before = path == "/.well-known/openid-configuration"
    address = "" if is_before else await leave(browser)
    joined.provider.replies[path] = ANSWERS[what]
    with structlog.testing.capture_logs() as lines:
        if is_before:
            await browser.get("/login/company")
            page = await browser.post("/login/company", {"email": GRACE})
        else:
            page = await come_back(browser, address)

    assert (503, "30", False) == (page.status, page.headers["retry-after"], SESSION in browser.cookies)
    assert "Your company’s login does not answer" in page.text
    (line,) = (line for line in lines if line["event"] == "sso_failed")
    assert joined.provider.issuer in line["error"]
    assert SECRET not in repr(lines)


@pytest.mark.slow
@pytest.mark.parametrize("how", [silence, dripping(b" ", pause=0.01)])
async def test_one_that_is_slow_is_waited_for_no_longer_than_its_time_and_then_left_alone(
    tmp_path: Path, how: Reply
) -> None:
    impatient = Limits(connect=4.0, question=4.0, whole=5.0)
    site = await new_site(memory_storage(), public_url=PUBLIC, limits=impatient)
    async with joined_on(site, tmp_path, is_checked=False) as joined:
        joined.provider.replies["/.well-known/openid-configuration"] = how
        pages = []
        for _ in range(3):
            browser = site.browser()
            await browser.get("/login/company")
            pages.append(await browser.post("/login/company", {"email": GRACE}))
        asked = len(joined.provider.asked)
        joined.provider.replies.clear()
        site.wait(timedelta(seconds=10))

        assert ([503] * 3, 1) == ([page.status for page in pages], asked)
        assert (await leave(site.browser())).startswith(joined.provider.issuer)


async def test_nobody_listening_is_an_outage(joined: Joined) -> None:
    async with fake_provider() as gone:
        pass
    await joined.connect(provider=gone, is_checked=False)
    browser = joined.site.browser()
    await browser.get("/login/company")

    assert 503 == (await browser.post("/login/company", {"email": GRACE})).status


@pytest.mark.parametrize("content", [None, "", "another", "two\nlines", "x" * 2000])
async def test_a_secret_that_is_not_right_is_an_operators_business(
    joined: Joined, content: str | None
) -> None:
    await joined.site.hire(GRACE)
    if content is None:
        joined.secret.unlink()
    else:
        joined.secret.write_text(content)
    status, reason = await joined.reason()

    assert (status, reason) in {(503, "secret"), (403, "client")}
    joined.secret.write_text(SECRET)
    assert "/portal" == (await joined.log_in()).location


async def test_a_provider_that_wants_the_secret_in_the_form_gets_it_there(joined: Joined) -> None:
    await joined.site.hire(GRACE)
    joined.provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    joined.site.wait(timedelta(hours=1))

    assert "/portal" == (await joined.log_in()).location


async def test_no_token_code_or_secret_is_kept_or_logged(
    migrated: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with storage_of("sqlite", migrated, tmp_path) as storage:
        site = await new_site(storage, log_level="debug", public_url=PUBLIC)
        async with joined_on(site, tmp_path) as joined:
            await site.hire(GRACE)
            browser = site.browser()
            joined.provider.person = {"email": GRACE}
            address = await leave(browser)
            cookies = set(browser.cookies.values())
            await come_back(browser, address)
            await come_back(browser, address)
            told = {
                values[0] for name, values in parse_qs(urlsplit(address).query).items() if "_" not in name
            }
            secrets = {*cookies, *browser.cookies.values(), *joined.provider.tokens, *told, SECRET} - {"code"}
            said = capfd.readouterr()
    with closing(sqlite3.connect(tmp_path / "awareness.db")) as database:
        kept = "\n".join(database.iterdump())

    secrets -= {CLIENT, "openid email"}
    assert "/login/oidc" in said.out + said.err
    assert set() == {secret for secret in secrets if secret in kept + said.out + said.err}
    assert GRACE not in said.out + said.err
