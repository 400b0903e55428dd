"""From the mail to one's own page and out again, in a real browser: usable by all, and nobody else is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import NARROW, WIDE, WIDTHS, opened_window
from tests.browser.town import COMMON, GOOD, Person, Town, choose, texts_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_mail_leads_to_ones_own_page(town: Town, tmp_path: Path, language: str, width: int) -> None:
    texts = texts_of(language)
    person = town.invite(town.found(language), f"{language}.{width}@example.com")
    _tell_of_campaigns(person)
    with (
        opened_window(town.browser, language=language, width=width) as window,
        opened_window(town.browser, language=language, width=width) as elsewhere,
    ):
        page, faults = window.page, []

        def look(name: str) -> None:
            faults.extend(window.look(tmp_path / name))

        page.set_content(person.html)
        look("1-mail")
        mailed = page.locator(".groups").inner_text().replace("\n", "")
        page.get_by_role("link", name=texts["login"]["button"], exact=True).click()
        expect(page).to_have_title(f"{texts['login']['title']} – {texts['site']['name']}")
        look("2-login")
        town.log_in(window, person, "wrong", texts=texts)
        look("3-wrong")
        expect(page.get_by_role("alert")).to_have_text(texts["login"]["wrong"])
        town.log_in(window, person, mailed, texts=texts)
        look("4-choose")
        page.goto(f"{town.url}/portal")
        ways = [window.path]
        choose(window, COMMON, texts=texts)
        look("5-common")
        expect(page.get_by_role("alert")).to_contain_text(texts["choose"]["common"])
        before = person.access
        choose(window, GOOD, texts=texts)
        ways.append(window.path)
        look("6-home")
        expect(page.get_by_role("heading", level=1)).to_have_text(
            texts["home"]["greeting"].format(name=person.first_name)
        )
        expect(page.locator(".outcomes .badge")).to_have_text(
            [texts["outcomes"][outcome]["badge"] for outcome in ("reported", "clicked")]
        )
        town.log_in(elsewhere, person, GOOD, texts=texts)
        ways.append(elsewhere.path)
        page.get_by_role("link", name=texts["home"]["change"]).click()
        look("7-change")
        page.goto(f"{town.url}/portal")
        window.send(texts["home"]["log_out_everywhere"])
        look("8-out")
        expect(page.get_by_role("status")).to_have_text(texts["login"]["left"])
        elsewhere.page.reload()
        ways.append(elsewhere.path)

    assert [] == faults
    assert person.password == mailed
    assert ["/portal/choose", "/portal", "/portal", "/login"] == ways
    assert ("en_attente", "connecte") == (before, person.access)
    assert [("skipped", "already_logged_in")] == _invited_again(person)
    assert [] == window.complaints + elsewhere.complaints
    assert {"localhost"} == window.hosts


@pytest.mark.parametrize(("language", "width"), [("en", WIDE), ("fr", NARROW)])
def test_a_page_that_refuses_is_one_that_all_can_read(
    town: Town, tmp_path: Path, language: str, width: int
) -> None:
    texts = texts_of(language)
    person = town.invite(town.found(language), f"refused.{language}.{width}@example.com")
    with opened_window(town.browser, language=language, width=width) as window:
        window.page.goto(f"{town.url}/portal/nowhere")
        faults = window.look(tmp_path / "nowhere")
        town.log_in(window, person, person.password, texts=texts)
        window.page.evaluate("document.querySelectorAll('[name=form_token]').forEach((one) => one.remove())")
        choose(window, GOOD, texts=texts)
        faults += window.look(tmp_path / "foreign")
        expect(window.page.get_by_role("heading")).to_have_text(texts["refusal"]["foreign_form"]["title"])
        window.page.context.clear_cookies()
        # With the one that opened, these are the twenty that an account has.
        town.guess(person, 19)
        town.log_in(window, person, "wrong", texts=texts)
        faults += window.look(tmp_path / "throttled")
        expect(window.page.get_by_role("alert")).to_contain_text(
            texts["login"]["throttled"].partition("{")[0]
        )

    assert [] == faults
    assert [] == window.complaints
    assert {"localhost"} == window.hosts


def _tell_of_campaigns(person: Person) -> None:
    """Two that are over; the later one was reported, in the other one a link was followed."""
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(days=40)
    for number, (name, kind) in enumerate((("Colis en attente", "clique"), ("Facture", "signale"))):
        began = start + timedelta(days=7 * number)
        events: list[dict[str, Any]] = [
            {"email": person.email, "type": told, "survenu_at": (began + timedelta(hours=after)).isoformat()}
            for after, told in ((0, "envoye"), (3, kind))
        ]
        campaign = {
            "external_id": f"{person.id}-{number}",
            "nom": name,
            "statut": "terminee",
            "date_debut": began.isoformat(),
        }
        told = person.api.post("/api/v1/campaigns/import", json={"campaign": campaign, "evenements": events})
        assert told.json()["ok"], told.text


def _invited_again(person: Person) -> list[tuple[str, str]]:
    body = {"employee_ids": [person.id], "force": True}
    answer = person.api.post("/api/v1/employees/invite-bulk", json=body).json()
    return [(line["status"], line["code"]) for line in answer["results"]]
