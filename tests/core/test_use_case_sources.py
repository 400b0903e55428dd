"""What may happen to a source while it is polled: a poll takes minutes, and no transaction is open meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import attrs
import pytest

from awareness_core.campaigns import CampaignState, CampaignTelling
from awareness_core.errors import Conflict, NotFound, StoreUnavailable
from awareness_core.source_ports import Notice, ToldCampaign
from awareness_core.sources import (
    LEASE,
    CampaignGlance,
    Source,
    SourceId,
    SourceKind,
    SourceState,
    campaign_external_id,
)
from awareness_core.use_cases.add_source import add_source, renew_webhook_secret
from awareness_core.use_cases.sync_source import SyncedSource, sync_source
from tests.core.tellings import targeted
from tests.core.worlds import OURS, World, refusal_or_answer, run, settled_world

Meanwhile = Callable[[], Awaitable[object]]


@attrs.define
class _Tool:
    """A tool with two campaigns, of one recipient each. Lets something happen, once, before it tells of the first."""

    meanwhile: Meanwhile | None = None
    asked: list[str] = attrs.field(factory=list)

    async def api_key(self, source: Source) -> str:
        return f"the key in {source.api_key_file}"

    async def glances(self, source: Source) -> Sequence[CampaignGlance]:
        return [
            CampaignGlance(
                told_id=number,
                digest="seen",
                is_over=True,
                telling=CampaignTelling(
                    external_id=campaign_external_id(source, number),
                    name=number,
                    state=CampaignState.COMPLETED,
                ),
            )
            for number in ("1", "2")
        ]

    async def results(self, source: Source, glance: CampaignGlance) -> ToldCampaign:
        self.asked.append(glance.told_id)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return ToldCampaign(campaign=glance.telling, lines=[targeted(0)])

    def read_notice(self, body: bytes) -> Notice:
        return Notice()


@attrs.frozen(kw_only=True)
class _Site:
    world: World
    tool: _Tool
    source: Source

    async def poll(self) -> SyncedSource:
        return await sync_source(self.world, self.source)

    async def remove(self) -> None:
        await self.world.sources.remove_source(self.source.id)

    async def claim(self, holder: str) -> bool:
        now = self.world.clock.now()
        return await self.world.sources.claim_source(self.source.id, holder=holder, at=now, until=now + LEASE)

    async def take_over(self) -> None:
        """As another process does once the lease of the first has ended."""
        self.world.clock.advance(LEASE)
        assert await self.claim("another")

    async def lose_the_store(self) -> None:
        self.world.store.is_away = True

    async def state(self) -> tuple[SourceState, str | None]:
        known = await self.world.sources.find_source(self.source.id)
        assert known is not None
        return known.state_at(self.world.clock.now()), known.error


async def _connected() -> _Site:
    tool = _Tool()
    world = attrs.evolve(await settled_world(), tools={SourceKind.GOPHISH: tool})
    added = await add_source(
        world,
        OURS,
        kind=SourceKind.GOPHISH,
        name="tool",
        url="https://tool.example",
        api_key_file="/run/key",
    )
    return _Site(world=world, tool=tool, source=added.source)


@pytest.mark.parametrize("happens", [_Site.remove, _Site.take_over])
def test_a_source_that_is_no_longer_ones_own_is_polled_no_further(
    happens: Callable[[_Site], Awaitable[None]],
) -> None:
    async def story() -> tuple[object, list[str]]:
        site = await _connected()
        site.tool.meanwhile = lambda: happens(site)
        return await refusal_or_answer(site.poll()), site.tool.asked

    refusal, asked = run(story())

    assert isinstance(refusal, Conflict)
    assert "The source 'tool' was removed, or taken over, while it was polled." == str(refusal)
    assert ["1"] == asked


def test_whoever_took_a_source_over_keeps_it_when_the_slow_poll_ends() -> None:
    async def story() -> tuple[object, bool]:
        site = await _connected()
        site.tool.meanwhile = site.take_over
        await refusal_or_answer(site.poll())
        return await site.state(), await site.claim("a third")

    assert ((SourceState.POLLING, None), False) == run(story())


def test_what_broke_a_poll_off_is_on_record_and_the_next_one_begins_at_once() -> None:
    async def story() -> tuple[object, object, tuple[int, bool], object]:
        site = await _connected()
        site.tool.meanwhile = site.lose_the_store
        refusal = await refusal_or_answer(site.poll())
        state = await site.state()
        site.world.store.is_away = False
        outcome = await site.poll()
        return type(refusal), state, (outcome.read, outcome.is_ok), await site.state()

    refusal, state, outcome, state_after = run(story())

    assert (StoreUnavailable, (SourceState.FAILING, "The store is away.")) == (refusal, state)
    assert ((2, True), (SourceState.OK, None)) == (outcome, state_after)


def test_a_source_that_is_not_there_any_more_gets_no_other_secret() -> None:
    async def story() -> None:
        site = await _connected()
        for source in (site.source, attrs.evolve(site.source, id=SourceId("nobody's"))):
            await site.remove()
            with pytest.raises(NotFound, match=r"^No such source\.$"):
                await renew_webhook_secret(site.world, source)

    run(story())
