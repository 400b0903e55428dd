"""What was mailed is written down although the store is away for a moment, and nobody waits for ever."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.errors import ConstraintViolated, StoreUnavailable
from awareness_core.invitations import InvitationStatus
from awareness_core.outbox import LEASE, PendingInvitation
from awareness_core.persistence import LONGEST_PAUSE, PATIENCE, persist
from awareness_core.ports import Delivery, InvitationLetter
from awareness_core.use_cases.deliver_pending import PendingDelivered, deliver_pending
from awareness_core.use_cases.invite import invite
from awareness_memory import ManualClock, MemoryMailer
from tests.core.strategies import NOW, PERSON
from tests.core.worlds import OURS, World, people_of, run, settled_world

seconds = st.integers(0, 60).map(lambda count: timedelta(seconds=count))


@attrs.define
class Outage:
    """A write that fails until the store is back, and takes its time to fail."""

    clock: ManualClock
    length: timedelta
    takes: timedelta = timedelta(0)
    written: int = 0

    async def write(self) -> None:
        """As told."""
        if self.clock.now() < NOW + self.length:
            self.clock.advance(self.takes)
            raise StoreUnavailable("away")
        self.written += 1


@given(seconds)
def test_an_outage_is_outlasted_if_it_is_short(length: timedelta) -> None:
    outage = Outage(ManualClock(NOW), length)
    if length <= PATIENCE - LONGEST_PAUSE:
        run(persist(outage.clock, outage.write))

        assert 1 == outage.written
        assert outage.clock.now() <= NOW + length + LONGEST_PAUSE
    elif length > PATIENCE:
        with pytest.raises(StoreUnavailable):
            run(persist(outage.clock, outage.write))

        assert 0 == outage.written


@given(seconds)
def test_nobody_waits_longer_than_that_and_one_attempt(takes: timedelta) -> None:
    outage = Outage(ManualClock(NOW), timedelta(days=1), takes)
    with pytest.raises(StoreUnavailable):
        run(persist(outage.clock, outage.write))

    assert outage.clock.now() <= NOW + PATIENCE + 2 * takes
    assert PATIENCE < LEASE


def test_what_does_not_heal_by_itself_is_not_tried_again() -> None:
    asked = []

    async def write() -> None:
        asked.append(1)
        raise ConstraintViolated("no")

    with pytest.raises(ConstraintViolated):
        run(persist(ManualClock(NOW), write))

    assert [1] == asked


class LosingTheStore(MemoryMailer):
    """Mails, and the store is away from then on until the clock was waited for."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """As the memory mailer's."""
        self._world.store.is_away = True
        return await super().send_invitations(letters)


class BringingItBack(ManualClock):
    """After so many waits the world's store is there again."""

    def __init__(self, waits: int) -> None:
        super().__init__(NOW)
        self.waits = waits
        self.world: World | None = None

    async def wait(self, duration: timedelta) -> None:
        """As told."""
        await super().wait(duration)
        self.waits -= 1
        if self.waits == 0 and self.world is not None:
            self.world.store.is_away = False


async def _world_that_loses_its_store(waits: int) -> World:
    clock = BringingItBack(waits)
    world = attrs.evolve(await settled_world([PERSON]), clock=clock)
    clock.world = world
    return attrs.evolve(world, mailer=LosingTheStore(world))


async def _pending(world: World) -> Sequence[PendingInvitation]:
    async with world.store.reading(OURS) as reading:
        return await reading.due_invitations(at=NOW + timedelta(days=2), limit=9)


@pytest.mark.parametrize("waits", [1, 5])
def test_the_answer_to_an_invitation_is_what_happened_although_the_store_was_away(waits: int) -> None:
    async def story() -> None:
        world = await _world_that_loses_its_store(waits)

        report = await invite(world, OURS)

        assert [InvitationStatus.INVITED] == [result.status for result in report.results]
        assert [NOW] == [person.invitation.last_sent_at for person in await people_of(world)]
        assert [] == await _pending(world)

    run(story())


def test_what_a_crash_left_is_settled_although_the_store_was_away() -> None:
    async def story() -> None:
        world = await _world_that_loses_its_store(99)
        with pytest.raises(StoreUnavailable):
            await invite(world, OURS)
        world.store.is_away = False
        world.clock.advance(LEASE)
        assert isinstance(world.clock, BringingItBack)
        world.clock.waits = 3

        outcome = await deliver_pending(world, OURS)

        assert PendingDelivered(mailed=1) == outcome
        assert [] == await _pending(world)

    run(story())
