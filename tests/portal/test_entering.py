"""The way in: with the mailed password to the choice of one's own, with one's own to one's page, else nowhere."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from awareness_core.employees import Access, EmployeeChange, access
from awareness_core.invitations import Reason
from awareness_core.use_cases.invite import invite
from awareness_core.use_cases.record_first_login import record_first_login
from tests.contracts.storages import memory_storage
from tests.portal.browser import Page
from tests.portal.site import ADA, BETTER, GOOD, Site, new_site

pytestmark = pytest.mark.anyio

WRONG = "This address and this password do not go together, or you cannot log in here."


async def test_a_mailed_password_opens_the_door_and_a_chosen_one_keeps_it_open(stored: Site) -> None:
    browser = stored.browser()
    mailed = await stored.invited()
    entered = await browser.log_in(ADA, mailed)
    asked = await browser.get("/portal")
    chosen = await browser.choose(GOOD)
    home = await browser.get("/portal")

    assert [(303, "/portal/choose"), (303, "/portal/choose"), (303, "/portal")] == [
        (page.status, page.location) for page in (entered, asked, chosen)
    ]
    assert (200, True) == (home.status, "Hello Ada" in home.text)
    ada = await stored.person()
    assert Access.LOGGED_IN is access(ada, stored.acme)
    assert stored.clock.now() == ada.first_login_at
    async with stored.ports.store.reading(stored.acme.id) as reading:
        assert [] == await reading.temporary_passwords(ada.id)
    again = await invite(stored.ports, stored.acme.id, selection=[ada.id], force=True)
    assert [Reason.ALREADY_LOGGED_IN] == [result.code for result in again.results]


async def test_one_comes_back_with_the_chosen_password_and_not_with_the_mailed_one(stored: Site) -> None:
    browser = stored.browser()
    mailed = await stored.invited()
    await browser.log_in(ADA, mailed)
    await browser.choose(GOOD)
    other = stored.browser()

    refused = await other.log_in(ADA, mailed)
    let_in = await other.log_in("  Ada@ACME.example ", GOOD)

    assert (422, True) == (refused.status, WRONG in refused.text)
    assert "/portal" == let_in.location
    assert "Hello Ada" in (await other.get("/portal")).text


async def test_a_password_is_the_same_however_a_keyboard_composes_it(site: Site) -> None:
    composed, apart = "d\u00e9j\u00e0 vu \u00e0 la f\u00eate", "de\u0301ja\u0300 vu a\u0300 la fe\u0302te"
    await site.inside(password=composed)

    assert "/portal" == (await site.browser().log_in(ADA, apart)).location


async def test_the_mailed_password_is_not_used_up_until_another_one_is_chosen(stored: Site) -> None:
    first = await stored.invited()
    stored.wait(timedelta(hours=1))
    second = await stored.mailed((await stored.person()).id)
    browsers = [stored.browser() for _ in range(3)]
    for browser, mailed in zip(browsers, (first, second, first), strict=True):
        assert "/portal/choose" == (await browser.log_in(ADA, mailed)).location
        await browser.get("/portal/choose")
    assert Access.AWAITING_ACCESS is access(await stored.person(), stored.acme)

    await browsers[1].choose(GOOD)

    left = [
        await browser.post("/portal/choose", {"new": BETTER, "again": BETTER}) for browser in browsers[::2]
    ]
    assert ["/login", "/login"] == [page.location for page in left]
    assert "/portal" == (await stored.browser().log_in(ADA, GOOD)).location
    assert [422] * 2 == [(await stored.browser().log_in(ADA, mailed)).status for mailed in (first, second)]


@pytest.mark.parametrize("path", ["/login", "/login/company"])
async def test_a_form_that_another_tab_was_faster_with_leads_where_that_one_led(
    site: Site, path: str
) -> None:
    browser = await site.inside()
    sent = {"email": ADA, "password": "wrong", "form_token": "0" * 64}
    inside = await browser.post(path, sent)
    forged = await browser.post(path, sent, headers={"sec-fetch-site": "cross-site"})
    still = await browser.get("/portal")
    browser.cookies["__Host-awareness-session"] = "none"
    outside = await browser.post(path, sent)

    assert (303, "/portal", []) == (inside.status, inside.location, inside.set_cookies)
    assert [403, 200, 403] == [page.status for page in (forged, still, outside)]


async def test_a_form_of_somebody_who_has_yet_to_choose_leads_to_choosing(site: Site) -> None:
    browser = site.browser()
    await browser.log_in(ADA, await site.invited())
    page = await browser.post("/login", {"email": ADA, "password": "x", "form_token": "0" * 64})

    assert (303, "/portal/choose") == (page.status, page.location)


async def test_an_expired_password_opens_nothing(site: Site) -> None:
    mailed = await site.invited()
    site.wait(site.acme.invitation_lifetime)

    assert 422 == (await site.browser().log_in(ADA, mailed)).status


async def test_one_may_retype_the_mailed_password_as_people_do(site: Site) -> None:
    mailed = await site.invited()

    assert (
        "/portal/choose"
        == (await site.browser().log_in(ADA, f" {mailed.upper().replace('-', ' ')}")).location
    )


async def test_whoever_may_not_come_in_is_told_one_thing(site: Site) -> None:
    await site.inside()
    await site.inside("gone@acme.example")
    await site.archive("gone@acme.example")
    await site.hire("sso@sso.example")
    mailed = await site.invited("new@acme.example")
    await site.invited("left@acme.example")
    await site.archive("left@acme.example")
    own = await site.hire("own@acme.example")
    await record_first_login(site.ports, site.acme.id, own)
    pairs = [
        (ADA, "wrong"),
        (ADA, mailed),
        (ADA, "x" * 5000),
        (ADA, "\ud7ff\U0010ffff\u0000"),
        ("nobody@acme.example", GOOD),
        ("nobody", GOOD),
        ("x" * 5000, GOOD),
        ("gone@acme.example", GOOD),
        ("sso@sso.example", GOOD),
        ("left@acme.example", site.mailer.letters[-1].password),
        ("own@acme.example", GOOD),
        ("new@acme.example", GOOD),
    ]

    pages = [await site.browser(client=f"192.0.2.{n}").log_in(*pair) for n, pair in enumerate(pairs)]

    assert {(422, WRONG, False)} == {
        (page.status, WRONG if WRONG in page.text else "", "session" in "".join(page.set_cookies))
        for page in pages
    }
    # But for the address that was typed and the form's own token, they are the same page.
    assert 1 == len({_without_its_own(page, email) for page, (email, _) in zip(pages, pairs, strict=True)})


async def test_a_person_who_moved_to_single_sign_on_is_out(site: Site) -> None:
    browser = await site.inside()
    ada = await site.person()
    async with site.ports.store.transaction(site.acme.id) as transaction:
        moved = attrs.evolve(ada, email=attrs.evolve(ada.email, domain="sso.example"))
        await transaction.apply(changes=[EmployeeChange(before=ada, after=moved)])

    assert "/login" == (await browser.get("/portal")).location
    assert 422 == (await site.browser().log_in(ADA, GOOD)).status


async def test_each_company_has_its_own_people_and_language(stored: Site) -> None:
    here = await stored.inside()
    there = await stored.inside("blaise@globex.example", company=stored.globex, first_name="Blaise")

    assert "Hello Ada" in (await here.get("/portal")).text
    assert "Bonjour Blaise" in (await there.get("/portal")).text
    assert '<html lang="fr">' in (await there.get("/portal")).body


@pytest.mark.parametrize(
    ("asked", "heard"),
    [
        ("fr", "fr"),
        ("de,fr;q=0.5,en;q=0.4", "fr"),
        ("en-GB,fr;q=0.9", "en"),
        ("de", "en"),
        ("", "en"),
        (";;=,", "en"),
        ("fr;q=x", "en"),
        ("fr;q=0", "en"),
    ],
)
async def test_who_is_not_known_yet_is_spoken_to_as_their_browser_asks(
    site: Site, asked: str, heard: str
) -> None:
    assert f'<html lang="{heard}">' in (await site.browser(language=asked).get("/login")).body


async def test_a_form_without_address_or_password_asks_for_them(site: Site) -> None:
    pages = [await site.browser().log_in(*pair) for pair in (("", ""), (" ", "x"), (ADA, ""))]

    assert [(422, ["email"]), (422, ["email"]), (422, ["password"])] == [
        (page.status, page.faults) for page in pages
    ]


async def test_too_many_attempts_on_one_account_wait_whoever_makes_them(site: Site) -> None:
    await site.inside()
    tries = [await site.browser(client=f"198.51.100.{n}").log_in(ADA, "wrong") for n in range(20)]
    right = await site.browser(client="203.0.113.1").log_in(ADA, GOOD)

    # The first login was one of the twenty.
    assert [422] * 19 + [429] == [page.status for page in tries]
    assert (429, True) == (right.status, "Too many attempts. Please wait 15 minutes" in right.text)
    assert 0 < int(right.headers["retry-after"]) <= 900
    site.wait(timedelta(minutes=15))
    assert "/portal" == (await site.browser(client="203.0.113.1").log_in(ADA, GOOD)).location


async def test_too_many_failures_from_one_address_wait_whomever_they_are_for() -> None:
    site = await new_site(memory_storage(), login_failures=10)
    await site.inside()
    for n in range(10):
        await site.browser(client="198.51.100.7").log_in(f"nobody{n}@acme.example", "wrong")

    assert 429 == (await site.browser(client="198.51.100.7").log_in(ADA, GOOD)).status
    assert "/portal" == (await site.browser(client="198.51.100.8").log_in(ADA, GOOD)).location


@pytest.mark.parametrize("path", ["/login/", "/login/company/", "/portal/", "/portal/choose/"])
async def test_a_slash_too_many_leads_to_the_page_that_was_meant(site: Site, path: str) -> None:
    browser = site.browser()

    assert path.removesuffix("/") == (await browser.get(path)).location
    assert 404 == (await browser.get(f"{path}/")).status


async def test_whoever_was_away_for_too_long_reads_once_that_their_session_has_ended(site: Site) -> None:
    browser = await site.inside()
    site.wait(timedelta(hours=1))
    sent = await browser.get("/portal")
    told, again, new = (
        await browser.get("/login"),
        await browser.get("/login"),
        await site.browser().get("/login"),
    )

    assert "/login" == sent.location
    assert [True, False, False] == ["Your session has ended" in page.text for page in (told, again, new)]


async def test_an_office_where_many_mistype_their_passwords_keeps_nobody_out(site: Site) -> None:
    mailed = await site.invited()
    browser = site.browser()
    for n in range(299):
        await browser.log_in(f"person{n % 40}@acme.example", "wrong")
    entered = await browser.log_in(ADA, mailed)
    await site.browser().log_in("person@acme.example", "wrong")

    assert "/portal/choose" == entered.location
    assert 429 == (await site.browser().log_in(ADA, mailed)).status


async def test_good_logins_of_a_whole_office_are_no_failures() -> None:
    site = await new_site(memory_storage(), login_failures=10)
    await site.inside()
    for n in range(12):
        await site.inside(f"person{n}@acme.example")

    assert "/portal" == (await site.browser().log_in(ADA, GOOD)).location


def _without_its_own(page: Page, email: str) -> str:
    return page.body.replace(page.form_token, "").replace(f'value="{email[:254]}"', 'value=""')
