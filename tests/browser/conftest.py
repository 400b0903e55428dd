"""The browser, and what it looks at, once for each file of tests.

Playwright keeps an event loop in the thread that drives it, so nothing in this folder is a coroutine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import MISSING, find_chromium, running_chromium
from tests.browser.town import Town, running_town


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Skipped where it is missing, but never in CI."""
    program = find_chromium()
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    with running_chromium(program) as browser:
        yield browser


@pytest.fixture(scope="module")
def town(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """A service that runs, and its mail server."""
    with running_town(tmp_path_factory.mktemp("town"), chromium) as running:
        yield running
