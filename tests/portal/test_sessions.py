"""Sessions: what ends them, and that nothing else keeps or begins one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from tests.contracts.storages import storage_of
from tests.portal.browser import Browser
from tests.portal.site import ADA, BETTER, GOOD, Site, new_site

pytestmark = pytest.mark.anyio

SESSION = "__Host-awareness-session"


async def _is_inside(browser: Browser) -> bool:
    return (await browser.get("/portal")).status == 200


async def test_logging_out_ends_the_session_also_for_a_cookie_that_was_kept(stored: Site) -> None:
    browser = await stored.inside()
    await browser.get("/portal")
    copied = stored.browser(cookies=dict(browser.cookies))
    assert await _is_inside(copied)
    left = await browser.post("/portal/log-out")
    shown = await browser.get("/login", query=b"left")

    assert ("/login?left", False) == (left.location, SESSION in browser.cookies)
    assert "You are logged out." in shown.text
    assert not await _is_inside(copied)


async def test_logging_out_leaves_other_sessions_alone_and_everywhere_ends_all(stored: Site) -> None:
    browsers = [await stored.inside(), stored.browser(), stored.browser()]
    for browser in browsers[1:]:
        await browser.log_in(ADA, GOOD)
    stranger = await stored.inside("bob@acme.example")
    await browsers[0].get("/portal")
    await browsers[0].post("/portal/log-out")
    after_one = [await _is_inside(browser) for browser in browsers]
    await browsers[1].get("/portal")
    await browsers[1].post("/portal/log-out-everywhere")

    assert [False, True, True] == after_one
    assert [False] * 3 == [await _is_inside(browser) for browser in browsers]
    assert await _is_inside(stranger)


async def test_archiving_ends_every_session_at_once_and_coming_back_opens_none(stored: Site) -> None:
    browser = await stored.inside()
    await stored.archive()
    assert not await _is_inside(browser)
    await stored.hire(active=True)

    assert not await _is_inside(browser)
    assert 422 == (await stored.browser().log_in(ADA, GOOD)).status
    stored.wait(timedelta(minutes=15))
    mailed = await stored.mailed((await stored.person()).id)
    assert "/portal/choose" == (await stored.browser().log_in(ADA, mailed)).location


async def test_a_session_ends_when_nobody_uses_it_for_an_hour(stored: Site) -> None:
    browser = await stored.inside()
    for _ in range(5):
        stored.wait(timedelta(minutes=59))
        assert await _is_inside(browser)
    stored.wait(timedelta(minutes=60))

    assert not await _is_inside(browser)


async def test_a_session_ends_after_half_a_day_however_much_it_is_used(site: Site) -> None:
    browser = await site.inside()
    for _ in range(23):
        site.wait(timedelta(minutes=30))
        assert await _is_inside(browser)
    site.wait(timedelta(minutes=30))

    assert not await _is_inside(browser)


async def test_both_ends_are_settings(migrated: Path, tmp_path: Path) -> None:
    async with storage_of("memory", migrated, tmp_path) as storage:
        site = await new_site(storage, session_idle_minutes=10, session_hours=1)
        idle, busy = await site.inside(), await site.inside("bob@acme.example")
        for _ in range(6):
            assert await _is_inside(busy)
            site.wait(timedelta(minutes=9, seconds=59))
        inside = [await _is_inside(idle), await _is_inside(busy)]
        site.wait(timedelta(seconds=6))

        assert [False, True] == inside
        assert not await _is_inside(busy)


async def test_a_login_never_goes_on_with_a_session_that_was_there(site: Site) -> None:
    await site.inside()
    planted = site.browser(cookies={SESSION: "A" * 43})
    page = await planted.log_in(ADA, GOOD)

    assert "/portal" == page.location
    assert "A" * 43 != planted.cookies[SESSION]
    assert not await _is_inside(site.browser(cookies={SESSION: "A" * 43}))


async def test_logging_in_again_ends_the_session_of_this_browser(site: Site) -> None:
    first = await site.inside()
    earlier = dict(first.cookies)
    await site.inside("bob@acme.example", password=BETTER)
    visitor = site.browser()
    await visitor.get("/login")
    first.cookies |= visitor.cookies
    page = await first.post(
        "/login", {"form_token": visitor.form_token, "email": "bob@acme.example", "password": BETTER}
    )

    assert "/portal" == page.location
    assert not await _is_inside(site.browser(cookies=earlier))


@pytest.mark.parametrize(
    "value", ["", "x", "A" * 43, "A" * 5000, "\xff\xfe", "'; DROP TABLE sessions; --", "%00"]
)
async def test_a_cookie_that_is_no_session_opens_nothing(stored: Site, value: str) -> None:
    await stored.inside()

    assert "/login" == (await stored.browser(cookies={SESSION: value}).get("/portal")).location


async def test_nothing_that_opens_a_door_is_in_the_database_or_in_a_log(
    migrated: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with storage_of("sqlite", migrated, tmp_path) as storage:
        site = await new_site(storage, log_level="debug")
        mailed = await site.invited()
        browser = site.browser()
        await browser.log_in(ADA, mailed)
        tokens = set(browser.cookies.values())
        await browser.choose(GOOD)
        await browser.get("/portal")
        tokens |= {*browser.cookies.values(), browser.form_token}
        await site.browser().log_in(ADA, BETTER)
        said = capfd.readouterr()
    with closing(sqlite3.connect(tmp_path / "awareness.db")) as database:
        kept = "\n".join(database.iterdump())

    secrets = {GOOD, BETTER, mailed, mailed.replace("-", ""), *tokens}
    assert "$argon2id$" in kept
    assert set() == {secret for secret in secrets if secret in kept + said.out + said.err}
    assert ADA not in said.out + said.err
