"""A real browser, Chromium, that shows what the service serves and tells what it did to do so.

Looking at a page is axe-core's business (in light and dark), and a question of whether anything sticks out at the side.
A window also keeps whom it asked for what, and every complaint of the browser, refusals of its policy among them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import attrs
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, ConsoleMessage, Page, Response, expect, sync_playwright

WIDE: Final = 1200
NARROW: Final = 360
WIDTHS: Final = (WIDE, NARROW)

_SCHEMES: Final[tuple[Literal["dark", "light"], ...]] = ("dark", "light")

MISSING: Final = "Chromium is missing: `make browser` looks for it and tells what to install"

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_HEIGHT: Final = 800
_PATIENCE_MS: Final = 30_000
_FLAGS: Final = (
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-component-update",
    "--disable-background-networking",
    "--no-first-run",
    # Whatever a page asked of another host would fail, and be seen to have been asked.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
# A mail is shown inside a page of somebody else's, which has what these ask for.
_OF_WHOLE_PAGES: Final = ("landmark-one-main", "region")
# Style sheets are read from the page as it is: fetching them again is what the policy of the pages refuses.
_AXE: Final = """async (without) => {
  const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
  const { violations } = await axe.run(document, { preload: false, resultTypes: ["violations"], rules });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target}: ${failureSummary}`));
}"""
_STICKS_OUT: Final = """() => {
  const page = document.documentElement;
  const those = [...document.querySelectorAll("body *")].filter((element) => {
    const { left, right, width } = element.getBoundingClientRect();
    const hidden = getComputedStyle(element).overflow === "hidden";
    return width > 0 && right > 0 && !hidden
      && (left < 0 || Math.max(right, left + element.scrollWidth) > page.clientWidth + 1);
  });
  return those.map((element) => `sticks out: ${element.outerHTML.slice(0, 120)}`);
}"""
_FOCUS: Final = """() => {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const { right, bottom } = element.getBoundingClientRect();
  return {
    tag: element.localName,
    id: element.id,
    text: (element.labels?.[0] ?? element).innerText.trim(),
    isShown: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && right > 0 && bottom > 0,
  };
}"""


@attrs.frozen
class Focus:
    """What has the focus, by its label or its own text; `is_shown` when it can be seen that it has."""

    tag: str
    id: str
    text: str
    is_shown: bool


@attrs.frozen
class Window:
    """The window of one person, with cookies of its own."""

    page: Page
    asked: list[str] = attrs.field(factory=list)
    """Every URL that was asked for."""
    complaints: list[str] = attrs.field(factory=list)

    @property
    def path(self) -> str:
        """Where it is."""
        return urlsplit(self.page.url).path

    @property
    def hosts(self) -> set[str | None]:
        """Whom it asked."""
        return {urlsplit(url).hostname for url in self.asked}

    @property
    def focus(self) -> Focus:
        """What the keyboard is at."""
        found: dict[str, Any] = self.page.evaluate(_FOCUS)
        return Focus(found["tag"], found["id"], found["text"], found["isShown"])

    def press(self, key: str) -> Focus:
        """Press a key; what has the focus then."""
        self.page.keyboard.press(key)
        self.page.wait_for_load_state()
        return self.focus

    def walk(self) -> list[Focus]:
        """What the keyboard comes by, from where it is to the end."""
        passed = [self.focus]
        while (focus := self.press("Tab")).tag != "body" and focus != passed[0]:
            passed.append(focus)
        return [focus for focus in passed if focus.tag != "body"]

    def send(self, button: str) -> None:
        """Press the button of that name, and wait for what comes of it."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=button, exact=True).click()

    def look(self, picture: Path) -> list[str]:
        """What is wrong with the page as it is shown, in light and in dark: for those who see it, and who do not.

        `picture` names the pictures that are kept of it.
        """
        # The browser's debugger puts it there, whom the policy of the page does not concern.
        self.page.evaluate(AXE_SCRIPT)
        without = [] if self.page.url.startswith("http") else _OF_WHOLE_PAGES
        found = list(self.page.evaluate(_STICKS_OUT))
        for scheme in _SCHEMES:
            self.page.emulate_media(color_scheme=scheme)
            found += [f"{scheme}: {fault}" for fault in self.page.evaluate(_AXE, without)]
            self.page.screenshot(path=picture.with_name(f"{picture.name}-{scheme}.png"), full_page=True)
        return [f"{picture.name}: {fault}" for fault in found]


def find_chromium() -> str | None:
    """The program, wherever it is; `TEST_CHROMIUM` names another one."""
    named = os.environ.get("TEST_CHROMIUM")
    found = (shutil.which(name) for name in ([named] if named else _NAMES))
    return next((program for program in found if program is not None), None)


@contextmanager
def running_chromium(program: str) -> Iterator[Browser]:
    """A browser without a screen."""
    expect.set_options(timeout=_PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened_window(browser: Browser, *, language: str = "en", width: int = WIDE) -> Iterator[Window]:
    """A new window of somebody who reads that language."""
    context = browser.new_context(
        locale={"en": "en-GB", "fr": "fr-FR"}[language],
        viewport={"width": width, "height": _HEIGHT},
        reduced_motion="reduce",
    )
    window = Window(context.new_page())

    def complain(message: ConsoleMessage) -> None:
        # A page that says what is wrong with a form has a status that says so, too.
        if message.type in {"error", "warning"} and "status of 4" not in message.text:
            window.complaints.append(message.text)

    def judge(response: Response) -> None:
        if response.status >= 400 and response.request.resource_type != "document":
            window.complaints.append(f"{response.status} for {response.url}")

    window.page.on("request", lambda request: window.asked.append(request.url))
    window.page.on("console", complain)
    window.page.on("pageerror", lambda error: window.complaints.append(str(error)))
    window.page.on("response", judge)
    try:
        yield window
    finally:
        context.close()
