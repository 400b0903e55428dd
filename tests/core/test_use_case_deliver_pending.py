"""Invitations that somebody was stopped in the middle of: mailed by another, never to who does not want them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.emails import parse_email
from awareness_core.employees import Employee, EmployeeRecord
from awareness_core.errors import NotFound
from awareness_core.outbox import (
    FIRST_WAIT,
    GIVE_UP_AFTER,
    LEASE,
    LONGEST_WAIT,
    PendingInvitation,
    claimed,
    decided,
    lease,
    passed_over,
    postponed,
)
from awareness_core.passwords import opens
from awareness_core.ports import Delivery, InvitationLetter
from awareness_core.use_cases.deactivate import deactivate
from awareness_core.use_cases.deliver_pending import AT_ONCE, PendingDelivered, deliver_pending
from awareness_core.use_cases.invite import invite
from awareness_core.use_cases.provision import provision
from awareness_core.use_cases.record_first_login import record_first_login
from awareness_memory import MemoryMailer
from tests.core.strategies import COMPANY, NOW, PERSON, numbered_id
from tests.core.worlds import NOBODYS, OURS, THEIRS, World, passwords_of, people_of, run, settled_world

MINUTE = timedelta(minutes=1)


class Killed(BaseException):
    """The process ended here."""


class DyingMailer(MemoryMailer):
    """The memory mailer of a process that is killed after so many letters were accepted."""

    def __init__(self, accepted: int) -> None:
        super().__init__()
        self._accepted = accepted

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """Never returns."""
        await super().send_invitations(letters[: self._accepted])
        raise Killed


def many(count: int) -> list[Employee]:
    return [
        attrs.evolve(PERSON, id=numbered_id(number), email=parse_email(f"p{number}@x.example"))
        for number in range(1, count + 1)
    ]


async def interrupted(world: World, *, accepted: int = 0) -> list[InvitationLetter]:
    """Invite everyone from a process that dies; what was mailed before."""
    mailer = DyingMailer(accepted)
    with pytest.raises(Killed):
        await invite(attrs.evolve(world, mailer=mailer), OURS)
    return mailer.letters


async def pending_of(world: World) -> Sequence[PendingInvitation]:
    async with world.store.reading(OURS) as reading:
        return await reading.due_invitations(at=datetime.max.replace(tzinfo=NOW.tzinfo), limit=1000)


@given(count=st.integers(1, 5), accepted=st.integers(0, 5))
def test_what_a_crash_broke_off_is_mailed_and_every_mailed_password_opens(count: int, accepted: int) -> None:
    async def story() -> None:
        world = await settled_world(many(count))
        before = await interrupted(world, accepted=accepted)
        assert PendingDelivered() == await deliver_pending(world, OURS)
        assert [] == await world.companies.companies_with_due_invitations(at=world.clock.now())

        world.clock.advance(LEASE)
        assert [OURS] == await world.companies.companies_with_due_invitations(at=world.clock.now())
        assert PendingDelivered(mailed=count) == await deliver_pending(world, OURS)

        assert [] == await pending_of(world)
        assert count == len(world.mailer.letters)
        for person in await people_of(world):
            assert NOW + LEASE == person.invitation.last_sent_at
            letters = [one for one in (*before, *world.mailer.letters) if one.employee_id == person.id]
            kept = await passwords_of(world, person)
            for letter in letters:
                assert any(opens(letter.password, one, now=world.clock.now()) for one in kept)
            # One invitation, so that a mail program may show its mails as one.
            assert {NOW} == {letter.decided_at for letter in letters}

    run(story())


def test_whoever_is_told_as_failed_is_not_mailed_behind_the_callers_back() -> None:
    async def story() -> Sequence[PendingInvitation]:
        world = await settled_world([PERSON])
        world.mailer.refuse("a@x.example")
        await invite(world, OURS)
        return await pending_of(world)

    assert [] == run(story())


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda world: deactivate(world, OURS, PERSON.id),
        lambda world: record_first_login(world, OURS, PERSON.id),
    ],
)
def test_nobody_is_mailed_who_left_or_got_in_meanwhile(meanwhile: Callable[[World], object]) -> None:
    async def story() -> tuple[PendingDelivered, int]:
        world = await settled_world([PERSON])
        await interrupted(world)
        await meanwhile(world)  # type: ignore[misc]
        world.clock.advance(LEASE)
        return await deliver_pending(world, OURS), len(world.mailer.letters)

    assert (PendingDelivered(), 0) == run(story())


def test_nobody_is_mailed_whose_company_says_by_now_that_they_need_no_password() -> None:
    async def story() -> tuple[PendingDelivered, Sequence[PendingInvitation]]:
        world = await settled_world(
            [PERSON], company=attrs.evolve(COMPANY, sso_domains=frozenset({"x.example"}))
        )
        async with world.store.transaction(OURS) as transaction:
            await transaction.save_pending([decided(PERSON.id, holder="gone", now=NOW - LEASE)])
        return await deliver_pending(world, OURS), await pending_of(world)

    assert (PendingDelivered(dropped=1), []) == run(story())


def test_a_refusal_for_now_is_tried_again_for_a_day_and_one_for_good_is_not() -> None:
    async def story() -> tuple[list[PendingDelivered], list[timedelta]]:
        world = await settled_world(many(2))
        world.mailer.refuse("p1@x.example")
        world.mailer.refuse("p2@x.example", permanent=True)
        await interrupted(world)
        outcomes, waits = [], []
        world.clock.advance(LEASE)
        while await pending_of(world):
            outcomes.append(await deliver_pending(world, OURS))
            for pending in await pending_of(world):
                waits.append(pending.due_at - world.clock.now())
                world.clock.set(pending.due_at)
        return outcomes, waits

    outcomes, waits = run(story())

    assert PendingDelivered(postponed=1, refused=1) == outcomes[0]
    assert {PendingDelivered(postponed=1)} == {*outcomes[1:-1]}
    assert PendingDelivered(dropped=1) == outcomes[-1]
    assert [2 * MINUTE, 4 * MINUTE, 8 * MINUTE, 16 * MINUTE, 32 * MINUTE] == waits[:5]
    assert {LONGEST_WAIT} == {*waits[5:]}
    assert GIVE_UP_AFTER - LONGEST_WAIT < sum(waits[:-1], LEASE) <= GIVE_UP_AFTER


class HurriedMailer(MemoryMailer):
    """The memory mailer that gives up the rest of a call when so many letters were refused."""

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """As the memory mailer's, up to the second refusal."""
        deliveries: list[Delivery] = []
        for letter in letters:
            if sum(not one.accepted for one in deliveries) < 2:
                deliveries.extend(await super().send_invitations([letter]))
            else:
                deliveries.append(Delivery(accepted=False, tried=False))
        return deliveries


@given(refused=st.integers(0, 8), attempts=st.integers(1, 12))
@example(refused=2, attempts=12)
def test_addresses_that_fail_keep_none_of_the_rest_from_their_turn(refused: int, attempts: int) -> None:
    async def story() -> set[str]:
        world = await settled_world(many(AT_ONCE))
        mailer = HurriedMailer()
        for number in range(1, refused + 1):
            mailer.refuse(f"p{number}@x.example")
        pending = [
            attrs.evolve(decided(one.id, holder="h", now=NOW), attempts=attempts, due_at=NOW)
            for one in many(AT_ONCE)
        ]
        async with world.store.transaction(OURS) as transaction:
            await transaction.save_pending(pending)
        for _ in range(1 + refused):
            await deliver_pending(attrs.evolve(world, mailer=mailer), OURS)
            waiting = await pending_of(world)
            world.clock.set(waiting[0].due_at if waiting else NOW)
        return {letter.email for letter in mailer.letters}

    assert {f"p{number}@x.example" for number in range(refused + 1, AT_ONCE + 1)} == run(story())


def test_a_server_that_is_away_is_asked_less_and_less_often() -> None:
    class AwayMailer(MemoryMailer):
        async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
            return [Delivery(accepted=False, tried=False)] * len(letters)

    async def story() -> list[set[timedelta]]:
        world = await settled_world(many(2))
        await interrupted(world)
        world.clock.advance(LEASE)
        waits = []
        for _ in range(3):
            await deliver_pending(attrs.evolve(world, mailer=AwayMailer()), OURS)
            found = await pending_of(world)
            waits.append({pending.due_at - world.clock.now() for pending in found})
            world.clock.set(found[0].due_at)
        return waits

    assert [{2 * MINUTE}, {4 * MINUTE}, {8 * MINUTE}] == run(story())


def test_a_server_that_is_back_gets_the_letter_after_all() -> None:
    async def story() -> PendingDelivered:
        world = await settled_world([PERSON])
        world.mailer.refuse("a@x.example")
        await interrupted(world)
        world.clock.advance(LEASE)
        await deliver_pending(world, OURS)
        world.mailer.accept("a@x.example")
        world.clock.advance(2 * FIRST_WAIT)
        return await deliver_pending(world, OURS)

    assert PendingDelivered(mailed=1) == run(story())


def test_two_who_deliver_at_once_take_different_ones() -> None:
    class Meanwhile(MemoryMailer):
        async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
            others.append(await deliver_pending(worlds[0], OURS))
            return await super().send_invitations(letters)

    others: list[PendingDelivered] = []
    worlds: list[World] = []

    async def story() -> PendingDelivered:
        world = await settled_world(many(AT_ONCE + 2))
        worlds.append(world)
        await interrupted(world)
        world.clock.advance(LEASE)
        return await deliver_pending(attrs.evolve(world, mailer=Meanwhile()), OURS)

    assert PendingDelivered(mailed=AT_ONCE) == run(story())
    assert [PendingDelivered(mailed=2)] == others


def test_a_second_crash_repeats_no_more_than_was_under_way() -> None:
    async def story() -> int:
        world = await settled_world(many(3 * AT_ONCE))
        await interrupted(world)
        world.clock.advance(LEASE)
        await deliver_pending(world, OURS)
        with pytest.raises(Killed):
            await deliver_pending(attrs.evolve(world, mailer=DyingMailer(AT_ONCE)), OURS)
        world.clock.advance(LEASE)
        while (await deliver_pending(world, OURS)).mailed:
            pass
        return AT_ONCE + len(world.mailer.letters)

    assert 3 * AT_ONCE + AT_ONCE == run(story())
    assert AT_ONCE == 20


def test_whoever_dies_of_each_mail_does_not_flood_anybody() -> None:
    async def story() -> list[datetime]:
        world = await settled_world([PERSON])
        mailer = DyingMailer(1)
        with pytest.raises(Killed):
            await invite(attrs.evolve(world, mailer=mailer), OURS)
        while found := await pending_of(world):
            world.clock.set(found[0].due_at)
            with contextlib.suppress(Killed):
                await deliver_pending(attrs.evolve(world, mailer=mailer), OURS)
        return [letter.created_at for letter in mailer.letters]

    times = run(story())

    waits = [later - earlier for earlier, later in pairwise(times)]
    assert [5, 5, 5, 8, 16, 32, 60, 60] == [wait // MINUTE for wait in waits[:8]]
    assert 29 == len(times)


def test_whoever_is_invited_anew_in_the_middle_is_left_to_who_does_that() -> None:
    class Meanwhile(MemoryMailer):
        async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
            async with worlds[0].store.transaction(OURS) as transaction:
                await transaction.save_pending([anew])
            return [Delivery(accepted=False)]

    anew = decided(PERSON.id, holder="another", now=NOW + LEASE)
    worlds: list[World] = []

    async def story() -> Sequence[PendingInvitation]:
        world = await settled_world([PERSON])
        worlds.append(world)
        await interrupted(world)
        world.clock.advance(LEASE)
        await deliver_pending(attrs.evolve(world, mailer=Meanwhile()), OURS)
        return await pending_of(world)

    assert [anew] == run(story())


@pytest.mark.parametrize("moves_at", ["before", "meanwhile"])
@pytest.mark.parametrize(
    "outcome",
    [
        Delivery(accepted=True),
        Delivery(accepted=False),
        Delivery(accepted=False, permanent=True),
    ],
)
def test_whose_address_changes_is_mailed_at_the_new_one(moves_at: str, outcome: Delivery) -> None:
    someone = attrs.evolve(PERSON, external_id="e1")
    record = EmployeeRecord(email=parse_email("b@x.example"), last_name="b", first_name="a", external_id="e1")
    sent: list[str] = []
    worlds: list[World] = []

    class Meanwhile(MemoryMailer):
        async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
            sent.extend(letter.email for letter in letters)
            await provision(worlds[0], OURS, [record])
            return [outcome for _ in letters]

    async def story() -> tuple[list[str], bool, Sequence[PendingInvitation]]:
        world = await settled_world([someone])
        worlds.append(world)
        await interrupted(world)
        world.clock.advance(LEASE)
        if moves_at == "before":
            await provision(world, OURS, [record])
        else:
            await deliver_pending(attrs.evolve(world, mailer=Meanwhile()), OURS)
        await deliver_pending(world, OURS)
        (kept,) = await passwords_of(world)
        (letter,) = world.mailer.letters
        sent.append(letter.email)
        return sent, opens(letter.password, kept, now=world.clock.now()), await pending_of(world)

    expected = ["b@x.example"] if moves_at == "before" else ["a@x.example", "b@x.example"]
    assert (expected, True, []) == run(story())


def test_another_companys_are_left_alone() -> None:
    async def story() -> tuple[PendingDelivered, int]:
        world = await settled_world([PERSON])
        await interrupted(world)
        world.clock.advance(LEASE)
        with pytest.raises(NotFound):
            await deliver_pending(world, NOBODYS)
        return await deliver_pending(world, THEIRS), len(await pending_of(world))

    assert (PendingDelivered(), 1) == run(story())


@given(attempts=st.integers(1, 30))
def test_whoever_was_not_tried_comes_before_whoever_was(attempts: int) -> None:
    pending = attrs.evolve(decided(PERSON.id, holder="h", now=NOW), attempts=attempts)

    first = passed_over(pending, now=NOW)
    again = claimed(pending, holder="g", now=NOW)

    assert again is not None
    assert first.due_at < postponed(again, now=NOW).due_at
    assert first.holder is None


@given(attempts=st.integers(1, 30))
def test_waits_grow_to_an_hour(attempts: int) -> None:
    pending = attrs.evolve(decided(PERSON.id, holder="h", now=NOW), attempts=attempts)

    waiting = postponed(pending, now=NOW)

    assert min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_WAIT) == waiting.due_at - NOW
    assert waiting.holder is None
    taken = claimed(waiting, holder="g", now=NOW)
    assert attrs.evolve(waiting, attempts=attempts + 1, holder="g", due_at=NOW + lease(attempts + 1)) == taken
    assert max(LEASE, min(FIRST_WAIT * 2**attempts, LONGEST_WAIT)) == lease(attempts + 1)
