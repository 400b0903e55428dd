"""What operators are told of the portal in `/metrics`: how it goes, and of whom nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from awareness_web.metrics import ChoiceOutcome, LoginOutcome
from tests.architecture.source_tree import ROOT
from tests.contracts.storages import memory_storage
from tests.http.test_operating import sample
from tests.portal.site import ADA, BETTER, GOOD, Site, new_site

pytestmark = pytest.mark.anyio

LOGINS = "awareness_portal_logins_total"
CHOICES = "awareness_portal_password_choices_total"
REQUESTS = "awareness_portal_requests_total"


async def told(site: Site) -> str:
    return (await site.browser().get("/metrics")).body


async def test_what_has_not_happened_yet_is_none(site: Site) -> None:
    figures = await told(site)

    assert [0.0] * 7 == [sample(figures, LOGINS, outcome=outcome.value) for outcome in LoginOutcome]
    assert [0.0] * 4 == [sample(figures, CHOICES, outcome=outcome.value) for outcome in ChoiceOutcome]


async def test_logins_and_choices_are_told_by_how_they_ended(site: Site) -> None:
    browser = site.browser()
    mailed = await site.invited()
    await browser.log_in(ADA, "wrong")
    await browser.log_in("nobody@acme.example", mailed)
    await browser.log_in(ADA, "")
    await browser.log_in(ADA, mailed)
    await browser.choose("password1234")
    await browser.choose(GOOD)
    await site.browser().log_in(ADA, GOOD)
    await browser.get("/portal/password")
    for current, new, again in ((BETTER, BETTER, BETTER), (GOOD, BETTER, GOOD), (GOOD, BETTER, BETTER)):
        await browser.post("/portal/password", {"current": current, "new": new, "again": again})
    await browser.get("/portal/password")
    guess = {"current": "x", "new": GOOD, "again": GOOD}
    guessed = [await browser.post("/portal/password", guess) for _ in range(20)]
    await site.browser().log_in(ADA, BETTER)
    figures = await told(site)

    assert ["current"] == guessed[-1].faults
    logins = {outcome.value: sample(figures, LOGINS, outcome=outcome.value) for outcome in LoginOutcome}
    assert {"temporary_password": 1.0, "own_password": 1.0, "refused": 2.0, "throttled": 1.0} == {
        name: count for name, count in logins.items() if count
    }
    choices = {outcome.value: sample(figures, CHOICES, outcome=outcome.value) for outcome in ChoiceOutcome}
    assert (1.0, 1.0) == (choices["first"], choices["changed"])
    # One that is common, one that is not the password now, one that was not typed twice; then up to the twentieth.
    assert 3.0 + 14 == choices["refused"]
    assert 6.0 == choices["throttled"]


async def test_requests_are_told_by_page_and_no_person(site: Site) -> None:
    browser = await site.inside()
    await browser.get("/portal")
    await browser.get("/portal/ada@acme.example")
    await browser.get("/portal/static/company.css", query=b"1a5a9c")
    await browser.call("BREW", "/portal")
    figures = await told(site)

    assert 1.0 == sample(figures, REQUESTS, method="GET", route="/portal", status="200")
    assert 1.0 == sample(figures, REQUESTS, method="POST", route="/login", status="303")
    assert 1.0 == sample(figures, REQUESTS, method="GET", route="(none)", status="404")
    assert 1.0 == sample(figures, REQUESTS, method="other", route="/portal", status="405")
    assert 1.0 == sample(figures, "awareness_portal_request_seconds_count", method="GET", route="/portal")
    assert not {"ada", "acme", "BREW", "1a5a9c"} & set(re.split(r"\W", figures))


async def test_without_the_portal_there_are_no_figures_of_it() -> None:
    assert "awareness_portal" not in await told(await new_site(memory_storage(), portal=False))


@pytest.mark.slow
def test_processes_that_share_a_folder_tell_the_sum(tmp_path: Path) -> None:
    script = (
        "import asyncio\n"
        "from tests.contracts.storages import memory_storage\n"
        "from tests.portal.site import new_site\n"
        "async def main():\n"
        "    site = await new_site(memory_storage())\n"
        "    await site.browser().log_in('nobody@acme.example', 'wrong')\n"
        "    print((await site.browser().get('/metrics')).body)\n"
        "asyncio.run(main())\n"
    )
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    figures = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]

    assert [1.0, 2.0] == [sample(one, LOGINS, outcome="refused") for one in figures]
