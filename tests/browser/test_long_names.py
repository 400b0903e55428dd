"""Names without a blank, as tools and directories have them: pages stay as wide as the window."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import NARROW, WIDE, opened_window
from tests.browser.town import GOOD, Person, Town, choose, texts_of

pytestmark = pytest.mark.slow

LEAST = 320
CAMPAIGNS = ("Microsoft365_MotDePasseExpire_Juin2026", "x" * 120)
COMPANY = "Wohnungsbaugenossenschaftsverband" * 2
FIRST_NAME = "Wolfeschlegelsteinhausenbergerdorff" * 2


def test_a_name_without_blanks_is_broken_and_not_the_page(town: Town, tmp_path: Path) -> None:
    texts = texts_of("fr")
    api = town.found("fr", color="#1a5a9c", name=COMPANY)
    person = town.invite(api, "long@example.com", first_name=FIRST_NAME)
    for name in CAMPAIGNS:
        _tell_of(person, name)
    with opened_window(town.browser, language="fr") as window:
        page, faults = window.page, []

        def look(name: str) -> None:
            for width in (LEAST, NARROW, WIDE):
                page.set_viewport_size({"width": width, "height": 800})
                faults.extend(window.look(tmp_path / f"{name}-{width}"))

        page.set_content(person.html)
        look("mail")
        town.log_in(window, person, person.password, texts=texts)
        look("choose")
        choose(window, GOOD, texts=texts)
        look("home")
        expect(page.locator(".outcomes h3")).to_have_count(len(CAMPAIGNS))

    assert [] == faults


def _tell_of(person: Person, name: str) -> None:
    """A campaign of that name, which is over."""
    at = datetime.now(UTC).isoformat()
    told = person.api.post(
        "/api/v1/campaigns/import",
        json={
            "campaign": {"external_id": name, "nom": name, "statut": "terminee", "date_debut": at},
            "evenements": [{"email": person.email, "type": "envoye", "survenu_at": at}],
        },
    )
    assert told.json()["ok"], told.text
