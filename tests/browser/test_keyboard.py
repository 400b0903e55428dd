"""The way in without a mouse, or without seeing it: one comes by everything, is told where one is and what is wrong."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import WIDTHS, Focus, Window, opened_window
from tests.browser.town import COMMON, GOOD, Town, choose, texts_of

pytestmark = pytest.mark.slow

TEXTS = texts_of("en")


def type_in(window: Window, *fields: str) -> None:
    """Fill in one field after the other, from the one with the focus on, and send the form."""
    for number, text in enumerate(fields):
        if number:
            window.press("Tab")
        window.page.keyboard.type(text)
    with window.page.expect_navigation():
        window.page.keyboard.press("Enter")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_way_in_takes_a_keyboard_and_nothing_else(town: Town, width: int) -> None:
    person = town.invite(town.found("en"), f"keys.{width}@example.com")
    with opened_window(town.browser, width=width) as window:
        window.page.goto(f"{town.url}/login")
        focused = [window.focus.id]
        type_in(window, person.email, "wrong")
        focused.append(window.focus.id)
        window.press("Tab")
        # The link in what is wrong leads to the field.
        focused.append(window.press("Enter").id)
        type_in(window, person.password)
        ways = [window.path]
        while window.focus.id != "new":
            window.press("Tab")
        type_in(window, COMMON, COMMON)
        focused.append(window.focus.id)
        window.press("Tab")
        focused.append(window.press("Enter").id)
        type_in(window, GOOD, GOOD)
        ways.append(window.path)
        while window.focus.text != TEXTS["home"]["log_out"]:
            window.press("Tab")
        type_in(window, "")
        ways.append(window.path)

    assert ["email", "fault", "password", "faults", "new"] == focused
    assert ["/portal/choose", "/portal", "/login"] == ways


def test_one_comes_by_everything_in_reading_order_and_sees_where_one_is(town: Town) -> None:
    site, login, chosen, home = (TEXTS[section] for section in ("site", "login", "choose", "home"))
    person = town.invite(town.found("en"), "order@example.com")
    with opened_window(town.browser) as window:
        window.page.goto(f"{town.url}/login")
        on_login = window.walk()
        town.log_in(window, person, person.password, texts=TEXTS)
        on_choose = window.walk()
        choose(window, GOOD, texts=TEXTS)
        on_home = window.walk()

    assert [] == [focus for focus in (*on_login, *on_choose, *on_home) if not focus.is_shown]
    assert [login["email"], login["password"], login["button"], login["help_title"]] == _texts(on_login)
    assert [
        site["skip"],
        chosen["account"],
        chosen["new"],
        chosen["again"],
        chosen["button"],
        home["log_out"],
    ] == _texts(on_choose)
    assert [site["skip"], home["log_out"], home["change"], home["log_out_everywhere"]] == _texts(on_home)


def test_what_is_wrong_is_told_at_once_and_again_at_the_field_it_is_about(town: Town) -> None:
    login, chosen = TEXTS["login"], TEXTS["choose"]
    person = town.invite(town.found("en"), "told@example.com")
    with opened_window(town.browser) as window:
        page = window.page
        town.log_in(window, person, "wrong", texts=TEXTS)
        expect(page.get_by_role("alert")).to_be_focused()
        expect(page.get_by_label(login["email"])).to_have_accessible_description(login["wrong"])
        expect(page.get_by_label(login["password"], exact=True)).to_have_accessible_description(
            f"{login['password_hint']} {login['wrong']}"
        )
        town.log_in(window, person, person.password, texts=TEXTS)
        choose(window, "short", texts=TEXTS)
        expect(page.get_by_role("alert")).to_be_focused()
        new = page.get_by_label(chosen["new"])
        expect(new).to_have_attribute("aria-invalid", "true")
        hint, told = chosen["new_hint"].format(least=12), chosen["too_short"].format(least=12)
        expect(new).to_have_accessible_description(f"{hint} {TEXTS['site']['summary_title']} {told}")
        new.fill(GOOD)
        window.send(chosen["button"])
        expect(page.get_by_label(chosen["again"])).to_have_accessible_description(
            f"{TEXTS['site']['summary_title']} {chosen['mismatch']}"
        )
        expect(page.get_by_label(chosen["new"])).not_to_have_attribute("aria-invalid", "true")

    assert [] == window.complaints


def _texts(walked: list[Focus]) -> list[str]:
    return [focus.text for focus in walked]
