"""Somebody erased whom GoPhish still tells of, by every poll and every notice, in every store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest

from awareness_core.use_cases.erase import erase
from awareness_core.use_cases.receive_notice import NoticeOutcome
from tests.contracts.gophish_server import FakeGophish, fake_gophish
from tests.contracts.storages import ACME, Storage, apply, hired, person
from tests.contracts.test_gophish_sync import NEW_CLICK, Site, site_on

pytestmark = pytest.mark.anyio


@pytest.fixture
async def gophish() -> AsyncIterator[FakeGophish]:
    async with fake_gophish() as fake:
        yield fake


@pytest.fixture
async def site(storage: Storage, gophish: FakeGophish, tmp_path: Path) -> Site:
    return await site_on(storage, gophish, tmp_path)


async def test_polls_and_notices_bring_nobody_back_and_change_no_figure(site: Site, storage: Storage) -> None:
    clicker = person(1, email=str(NEW_CLICK["email"]))
    await apply(storage, hired(clicker))
    await site.poll()
    before = await site.everything()
    await erase(site.ports, ACME.id, clicker.id)
    erased = await site.everything()

    assert (4, 0, []) == await site.poll(everything=True)
    site.gophish.happens(8, NEW_CLICK)
    assert NoticeOutcome.IGNORED is await site.tell({**NEW_CLICK, "campaign_id": 8})
    assert (4, 0, []) == await site.poll(everything=True)

    assert erased == await site.everything()
    assert _figures(before) == _figures(erased)
    assert any(one.is_erased for known in erased.values() if known is not None for one in known[1])


def _figures(found: object) -> object:
    assert isinstance(found, dict)
    return {
        number: None
        if known is None
        else (known[0], sorted(repr(attrs.astuple(one.progress)[:6]) for one in known[1]))
        for number, known in found.items()
    }
