"""Whatever colour a company has, people see it and can read what stands on it; strangers see none."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from awareness_core.colors import readable_on
from tests.browser.chromium import WIDTHS, opened_window
from tests.browser.town import GOOD, Town, choose, texts_of

pytestmark = pytest.mark.slow

AWKWARD = ["#ffff00", "#000000", "#ffffff"]
LONG = "Société coopérative des transports maritimes et fluviaux réunis"


@pytest.mark.parametrize("color", AWKWARD)
def test_pages_show_the_companys_colour_once_it_is_known_and_stay_readable(
    town: Town, tmp_path: Path, color: str
) -> None:
    texts = texts_of("fr")
    person = town.invite(town.found("fr", color=color, name=LONG), f"p{color[1:]}@example.com")
    with opened_window(town.browser, language="fr") as window:
        page, bars, faults = window.page, [], []

        def look(name: str) -> None:
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                faults.extend(window.look(tmp_path / f"{name}-{width}"))

        page.set_content(person.html)
        look("mail")
        page.goto(f"{town.url}/login")
        bars.append(page.locator(".bar").evaluate(_COLORS))
        expect(page.locator(".company")).to_have_count(0)
        town.log_in(window, person, person.password, texts=texts)
        look("choose")
        bars.append(page.locator(".bar").evaluate(_COLORS))
        choose(window, GOOD, texts=texts)
        look("home")
        bars.append(page.locator(".bar").evaluate(_COLORS))
        expect(page.locator(".company")).to_contain_text(LONG)
        passed = window.walk()

    own = [_rgb(color), _rgb(readable_on(color))]
    assert [] == faults
    assert [False, True, True] == [bar == own for bar in bars]
    assert all(focus.is_shown for focus in passed)
    assert [] == window.complaints
    assert {"localhost"} == window.hosts


_COLORS = "(bar) => [getComputedStyle(bar).backgroundColor, getComputedStyle(bar).color]"


def _rgb(color: str) -> str:
    red, green, blue = bytes.fromhex(color[1:])
    return f"rgb({red}, {green}, {blue})"
