"""Choosing a password: what is refused and how that is said, and what ends with it."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from awareness_core.employees import Access, access
from awareness_passwords import Argon2Hasher
from tests.portal.browser import Browser
from tests.portal.site import ADA, BETTER, GOOD, Site

pytestmark = pytest.mark.anyio


async def _choosing(site: Site) -> Browser:
    browser = site.browser()
    await browser.log_in(ADA, await site.invited())
    await browser.get("/portal/choose")
    return browser


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "too short: at least 12"),
        ("short", "too short: at least 12"),
        ("x" * 257, "too long: at most 256"),
        ("Password2024!", "guessed first: common words"),
        ("Azertyuiop 1789", "guessed first: common words"),
        ("aaaaaaaaaaaaaaaa", "guessed first: common words"),
        ("my name is Lovelace", "contains your name"),
        ("gladly at acme all day", "contains your name"),
        ("sept chevaux\nsous la pluie", "a character that cannot be used"),
    ],
)
async def test_a_weak_password_is_refused_with_its_reason_and_nothing_changes(
    site: Site, typed: str, said: str
) -> None:
    browser = await _choosing(site)
    page = await browser.post("/portal/choose", {"new": typed, "again": typed})

    assert (422, True) == (page.status, said in page.text)
    assert "new" in page.faults
    assert 'aria-invalid="true" aria-describedby="new-hint faults"' in page.body
    assert page.body.count("<title>Error: ") == 1
    assert not typed or f'value="{typed}"' not in page.body
    assert Access.AWAITING_ACCESS is access(await site.person(), site.acme)
    assert "/portal" == (await browser.choose(GOOD)).location


async def test_the_temporary_password_is_not_to_be_kept(site: Site) -> None:
    browser = site.browser()
    mailed = await site.invited()
    await browser.log_in(ADA, mailed)
    page = await browser.choose(mailed.upper())

    assert (422, True) == (page.status, "That is the temporary password" in page.text)


async def test_two_different_passwords_are_neither(site: Site) -> None:
    browser = await _choosing(site)
    page = await browser.post("/portal/choose", {"new": GOOD, "again": BETTER})

    assert (422, ["again"]) == (page.status, page.faults)
    assert Access.AWAITING_ACCESS is access(await site.person(), site.acme)


@pytest.mark.parametrize(("typed", "again", "faults"), [("a", "b", ["new", "again"]), ("", "", ["new"])])
async def test_a_short_password_is_told_as_too_short_and_whether_both_are_the_same(
    site: Site, typed: str, again: str, faults: list[str]
) -> None:
    browser = await _choosing(site)
    page = await browser.post("/portal/choose", {"new": typed, "again": again})

    assert (422, faults) == (page.status, page.faults)
    assert "too short" in page.text


async def test_the_password_that_one_has_is_no_new_one(site: Site) -> None:
    browser = await site.inside()
    await browser.get("/portal/password")
    page = await browser.post("/portal/password", {"current": GOOD, "new": GOOD, "again": GOOD})

    assert (422, ["new"]) == (page.status, page.faults)
    assert "That is the password that you have" in page.text


async def test_before_choosing_there_is_nothing_else_to_do(site: Site) -> None:
    browser = await _choosing(site)
    places = [await browser.get(path) for path in ("/", "/login", "/portal", "/portal/password")]
    changed = await browser.post("/portal/password", {"current": "x", "new": GOOD, "again": GOOD})

    assert ["/portal", *["/portal/choose"] * 3] == [page.location for page in places]
    assert "/portal/choose" == changed.location
    assert Access.AWAITING_ACCESS is access(await site.person(), site.acme)


async def test_choosing_takes_half_an_hour_at_most(site: Site) -> None:
    browser = await _choosing(site)
    site.wait(timedelta(minutes=30))

    assert "/login" == (await browser.post("/portal/choose", {"new": GOOD, "again": GOOD})).location


async def test_an_archived_person_chooses_nothing_any_more(stored: Site) -> None:
    browser = await _choosing(stored)
    await stored.archive()
    page = await browser.post("/portal/choose", {"new": GOOD, "again": GOOD})

    assert "/login" == page.location
    async with stored.ports.store.reading(stored.acme.id) as reading:
        assert await reading.chosen_password((await stored.person()).id) is None


async def test_the_session_of_the_temporary_password_does_not_go_on(site: Site) -> None:
    browser = await _choosing(site)
    before = dict(browser.cookies)
    await browser.choose(GOOD)

    assert before != browser.cookies
    assert "/login" == (await site.browser(cookies=before).get("/portal")).location


async def test_another_password_takes_its_place_and_ends_the_other_sessions(stored: Site) -> None:
    browser = await stored.inside()
    other = stored.browser()
    await other.log_in(ADA, GOOD)
    first_login = (await stored.person()).first_login_at
    stored.wait(timedelta(minutes=5))
    await browser.get("/portal/password")
    page = await browser.post("/portal/password", {"current": GOOD, "new": BETTER, "again": BETTER})

    assert "/portal" == page.location
    assert [200, 303] == [(await one.get("/portal")).status for one in (browser, other)]
    assert ["/portal", None] == [
        (await stored.browser().log_in(ADA, password)).location for password in (BETTER, GOOD)
    ]
    assert first_login == (await stored.person()).first_login_at


async def test_changing_takes_the_password_that_one_has(site: Site) -> None:
    browser = await site.inside()
    await browser.get("/portal/password")
    pages = [
        await browser.post("/portal/password", {"current": current, "new": BETTER, "again": BETTER})
        for current in ("", "wrong", "x" * 5000)
    ]

    assert [(422, ["current"])] * 3 == [(page.status, page.faults) for page in pages]
    assert "/portal" == (await site.browser().log_in(ADA, GOOD)).location


async def test_a_session_left_open_is_no_way_to_guess_the_password(site: Site) -> None:
    browser = await site.inside()
    await browser.get("/portal/password")
    for _ in range(20):
        page = await browser.post("/portal/password", {"current": "wrong", "new": BETTER, "again": BETTER})
    page = await browser.post("/portal/password", {"current": GOOD, "new": BETTER, "again": BETTER})

    assert (429, True) == (page.status, "Too many attempts" in page.text)
    assert 0 < int(page.headers["retry-after"]) <= 900
    site.wait(timedelta(minutes=15))
    page = await browser.post("/portal/password", {"current": GOOD, "new": BETTER, "again": BETTER})
    assert "/portal" == page.location


async def test_a_password_that_was_hashed_otherwise_is_hashed_anew_at_the_next_login(stored: Site) -> None:
    await stored.inside()
    ada = await stored.person()
    old = Argon2Hasher(memory_kib=16, passes=2)
    async with stored.ports.store.reading(stored.acme.id) as reading:
        before = await reading.chosen_password(ada.id)
    assert before is not None
    outdated = attrs.evolve(before, hash=await old.hash(GOOD))
    async with stored.ports.store.transaction(stored.acme.id) as transaction:
        await transaction.save_chosen_password(outdated)
    refused = await stored.browser().log_in(ADA, "wrong")
    async with stored.ports.store.reading(stored.acme.id) as reading:
        assert outdated == await reading.chosen_password(ada.id)

    assert [422, 303] == [refused.status, (await stored.browser().log_in(ADA, GOOD)).status]
    async with stored.ports.store.reading(stored.acme.id) as reading:
        after = await reading.chosen_password(ada.id)
    assert after is not None
    assert not stored.ports.hasher.is_outdated(after.hash)
    assert before.changed_at == after.changed_at
    assert 303 == (await stored.browser().log_in(ADA, GOOD)).status
