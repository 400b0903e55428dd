"""What people see of themselves: their own, in a kind tone, once it is over."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from awareness_core.campaigns import CampaignState
from awareness_core.colors import readable_on
from awareness_core.recipients import Progress
from awareness_core.use_cases.companies import change_company
from tests.portal.site import ADA, GOOD, NOW, Site

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)
SENT = Progress(sent_at=NOW)
REPORTED = Progress(sent_at=NOW, reported_at=NOW + DAY)
SUBMITTED = Progress(sent_at=NOW, opened_at=NOW, clicked_at=NOW, submitted_at=NOW + 2 * DAY)


async def test_without_a_simulation_there_is_nothing_to_show_and_that_is_said(site: Site) -> None:
    page = await (await site.inside()).get("/portal")

    assert "Nothing to show yet" in page.text
    assert "How it went" not in page.text


async def test_everybody_sees_what_became_of_their_own_mails(stored: Site) -> None:
    browser = await stored.inside()
    stranger = await stored.inside("bob@acme.example")
    await stored.tell(1, REPORTED, name="Parcel", state=CampaignState.COMPLETED)
    await stored.tell(2, SUBMITTED, name="Invoice", state=CampaignState.COMPLETED)
    page = await browser.get("/portal")
    others = await stranger.get("/portal")

    assert "You reported 1 of 2 simulated phishing mails." in page.text
    assert "Exactly right" in page.text
    assert "Sent 31 March 2026 Reported 1 April 2026" in page.text
    assert "Data entered 2 April 2026" in page.text
    assert "Nothing to show yet" in others.text
    assert "Parcel" not in others.text


async def test_a_simulation_under_way_is_not_given_away(site: Site) -> None:
    browser = await site.inside()
    await site.tell(1, REPORTED, name="Parcel", state=CampaignState.RUNNING, ends_at=NOW + DAY)
    before = await browser.get("/portal")
    site.wait(DAY)
    browser = site.browser()
    await browser.log_in(ADA, "sept chevaux sous la pluie")

    assert "Parcel" not in before.text
    assert "Parcel" in (await browser.get("/portal")).text


async def test_a_name_from_a_directory_is_text_and_never_markup(site: Site) -> None:
    browser = await site.inside(
        first_name="<script>alert(1)</script>{{ 7 * 7 }}", last_name="\"'><img src=x>"
    )
    await site.tell(1, SENT, name="<b>{config}</b>{0}", state=CampaignState.COMPLETED)
    page = await browser.get("/portal")

    assert "<script" not in page.body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 * 7 }}" in page.body
    assert "&lt;b&gt;{config}&lt;/b&gt;{0}" in page.body
    assert "<img src=x" not in page.body


@pytest.mark.parametrize("color", ["#ffff00", "#000000"])
async def test_the_companys_name_and_colour_are_shown_to_its_own_people_alone(site: Site, color: str) -> None:
    site.acme = await change_company(site.ports, site.acme, color=color)
    browser = site.browser()
    mailed = await site.invited()
    strange = await browser.get("/login")
    await browser.log_in(ADA, mailed)
    choosing = await browser.get("/portal/choose")
    await browser.choose(GOOD)
    shown = [choosing, await browser.get("/portal"), await browser.get("/portal/password")]

    assert ("Acme" in strange.body, color[1:] in strange.body) == (False, False)
    for page in shown:
        assert '<span class="company">Acme</span>' in page.body
        (sheet,) = re.findall(r'href="(/portal/static/company\.css)\?(\w+)"', page.body)
        assert color[1:] == sheet[1]
    answer = await browser.get("/portal/static/company.css", query=color[1:].encode())
    assert f":root {{ --company: {color}; --on-company: {readable_on(color)}; }}\n" == answer.body
    assert ("text/css; charset=utf-8", "public, max-age=3600") == (
        answer.headers["content-type"],
        answer.headers["cache-control"],
    )


async def test_a_company_without_a_colour_has_the_portals(site: Site) -> None:
    page = await (await site.inside()).get("/portal")

    assert "company.css" not in page.body


@pytest.mark.parametrize("query", [b"", b"red", b"12345", b"1a5a9c;}", b"1a5a9c&x", b"\xff", b"%231a5a9c"])
async def test_what_is_no_colour_is_no_style_sheet(site: Site, query: bytes) -> None:
    page = await site.browser().get("/portal/static/company.css", query=query)

    assert (404, True) == (page.status, page.body.startswith("<!doctype html>"))


async def test_the_latest_dozen_are_shown(site: Site) -> None:
    browser = await site.inside()
    for number in range(30):
        at = NOW - (30 - number) * DAY
        await site.tell(number, Progress(sent_at=at), name=f"Lure {number}.", state=CampaignState.COMPLETED)
    page = await browser.get("/portal")

    assert "You reported 0 of 30" in page.text
    assert "These are the latest 12." in page.text
    assert [number for number in range(30) if f"Lure {number}." in page.text] == list(range(18, 30))
    assert page.text.index("Lure 29.") < page.text.index("Lure 18.")
