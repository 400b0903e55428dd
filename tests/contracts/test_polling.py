"""The schedule that polls sources: what is due, once, and nothing that goes wrong stops it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import structlog

from awareness_core.sources import SourceState
from awareness_core.use_cases.receive_notice import NoticeOutcome
from awareness_server.polling import polling
from tests.contracts.gophish_server import FakeGophish, bytes_of, fake_gophish, raw
from tests.contracts.polling import until
from tests.contracts.storages import ACME, memory_storage
from tests.contracts.test_gophish_sync import NEW_CLICK, Site, site_on

pytestmark = pytest.mark.anyio

OFTEN = timedelta(minutes=5)


@pytest.fixture
async def gophish() -> AsyncIterator[FakeGophish]:
    async with fake_gophish() as fake:
        yield fake


@pytest.fixture
async def site(gophish: FakeGophish, tmp_path: Path) -> Site:
    storage = memory_storage()
    await storage.companies.add_company(ACME)
    return await site_on(storage, gophish, tmp_path)


async def is_ok(site: Site) -> bool:
    return (await site.state())[0] is SourceState.OK


async def test_a_source_that_was_never_polled_is_polled_at_once_and_then_at_its_time(site: Site) -> None:
    async with polling(site.ports, every=OFTEN, look_every=0.01):
        await until(lambda: is_ok(site))
        asked = len(site.gophish.asked)
        site.clock.advance(OFTEN)

        async def was_asked_again() -> bool:
            return len(site.gophish.asked) > asked

        await until(was_asked_again)

    assert 1 == site.gophish.paths[asked:].count("/api/campaigns/summary")


async def test_a_notice_brings_the_poll_that_it_asked_for_forward(site: Site) -> None:
    async with polling(site.ports, every=OFTEN, look_every=0.01):
        await until(lambda: is_ok(site))
        site.gophish.results[11] = {"id": 11, "results": [], "timeline": [{**NEW_CLICK, "campaign_id": 11}]}
        site.gophish.summary["campaigns"].append({"id": 11, "name": "New", "status": "In progress"})
        site.clock.advance(timedelta(seconds=20))
        await site.tell({**NEW_CLICK, "campaign_id": 11})

        async def is_there() -> bool:
            return await site.campaign(11) is not None

        await until(is_there)


async def test_the_log_tells_where_lines_were_left_out_and_of_nobody(site: Site) -> None:
    whole = site.gophish.results[8]
    clara = {**NEW_CLICK, "email": "clara", "message": "Danced"}
    site.gophish.results[8] = {
        **whole,
        "timeline": [clara, *whole["timeline"], {**clara, "message": "Email Sent"}],
    }
    with structlog.testing.capture_logs() as lines:
        async with polling(site.ports, every=OFTEN, look_every=0.01):
            await until(lambda: is_ok(site))

    (told,) = [line for line in lines if line["event"] == "source_lines_left_out"]
    last = len(whole["timeline"]) + 1
    assert [
        "campaign 8 timeline[0].message: unknown_value",
        f"campaign 8 timeline[{last}].email: invalid_email",
    ] == told["places"]
    assert (2, "warning") == (told["lines"], told["log_level"])
    assert "clara" not in repr(lines)


async def test_several_workers_poll_a_source_once(site: Site) -> None:
    async with (
        polling(site.ports, every=OFTEN, look_every=0.01),
        polling(site.ports, every=OFTEN, look_every=0.01),
        polling(site.ports, every=OFTEN, look_every=0.01),
    ):
        await until(lambda: is_ok(site))

    assert 1 == site.gophish.paths.count("/api/campaigns/summary")


async def test_what_goes_wrong_is_tried_again_at_its_time(site: Site) -> None:
    site.gophish.replies["*"] = raw(bytes_of(502, b""))
    async with polling(site.ports, every=OFTEN, look_every=0.01):

        async def is_failing() -> bool:
            return (await site.state())[0] is SourceState.FAILING

        await until(is_failing)
        site.gophish.replies.clear()
        site.clock.advance(OFTEN)
        await until(lambda: is_ok(site))

    assert {7, 8, 9, 10} == (await site.everything()).keys()


async def test_stopping_lets_go_of_a_poll_that_hangs(site: Site) -> None:
    held = asyncio.Event()

    async def wait(_writer: asyncio.StreamWriter) -> None:
        held.set()
        await asyncio.Event().wait()

    site.gophish.replies["*"] = wait
    async with polling(site.ports, every=OFTEN, look_every=0.01):
        await held.wait()

    site.gophish.replies.clear()
    assert (4, 17, []) == await site.poll()


async def test_an_interval_of_zero_polls_nothing_by_itself(site: Site) -> None:
    async with polling(site.ports, every=timedelta(0), look_every=0.001):
        for _ in range(1000):
            await asyncio.sleep(0)

    assert [] == site.gophish.asked


async def test_an_interval_of_zero_polls_what_a_notice_asked_for(site: Site) -> None:
    assert NoticeOutcome.AWAITED is await site.tell(NEW_CLICK)
    # What is asked for at the very moment at which a poll ends is asked for anew.
    site.clock.advance(timedelta(minutes=1))
    async with polling(site.ports, every=timedelta(0), look_every=0.01):
        await until(lambda: is_ok(site))

        site.clock.advance(timedelta(days=1))
        asked = len(site.gophish.asked)
        for _ in range(1000):
            await asyncio.sleep(0)

    assert {7, 8, 9, 10} == (await site.everything()).keys()
    assert asked == len(site.gophish.asked)
