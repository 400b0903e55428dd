"""Carried out once: what is written and its answer are committed together, and mail never goes out twice."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from datetime import timedelta
from typing import cast

import attrs
import pytest

from awareness_core.employees import Employee
from awareness_core.errors import (
    AwarenessError,
    Conflict,
    ConstraintViolated,
    IdempotencyKeyReused,
    NotFound,
    StillRunning,
    StoreUnavailable,
)
from awareness_core.ports import Delivery, EmployeeQuery, InvitationLetter, Ports, Transaction
from awareness_core.receipts import LEASE, LIFETIME, MAILING_LEASE, PURGED_AT_ONCE, Receipt, ReceiptId
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.erase import erase
from awareness_core.use_cases.invite import invite
from awareness_core.use_cases.once import AnsweredBefore, kept_answer, once
from awareness_core.use_cases.provision import provision
from awareness_memory import MemoryMailer
from tests.core.strategies import NOW, PERSON
from tests.core.test_use_case_provision import RECORD
from tests.core.worlds import (
    NOBODYS,
    OURS,
    THEIRS,
    WatchedStore,
    World,
    meanwhile,
    passwords_of,
    people_of,
    refusal_or_answer,
    run,
    settled_world,
)

NAME = ReceiptId("one")
Work = Callable[[Ports], Awaitable[object]]


async def _asked() -> bytes:
    return b"asked"


async def _asked_something_else() -> bytes:
    return b"something else"


async def _hire(ports: Ports) -> None:
    await provision(ports, OURS, [RECORD])


async def _hire_and_invite(ports: Ports) -> None:
    report = await provision(ports, OURS, [RECORD])
    await invite(ports, OURS, selection=[item.id for item in report.items if item.id is not None])


async def _carry_out(
    world: World,
    work: Work = _hire,
    *,
    name: ReceiptId = NAME,
    fingerprint: Callable[[], Awaitable[bytes]] = _asked,
    ports: Ports | None = None,
) -> list[bytes]:
    """The answer, as a caller gets it: newly made, or the earlier one."""
    try:
        async with once(ports or world, OURS, name, fingerprint) as attempt:
            await work(attempt.ports)
            await attempt.settle([b"an", b"swer"])
    except AnsweredBefore:
        return [b"again", *[part async for part in kept_answer(world, OURS, name)]]
    return [b"new"]


def test_the_second_time_the_answer_is_the_first_ones_and_nothing_is_done() -> None:
    async def story() -> tuple[list[bytes], list[bytes], int, list[str]]:
        world = await settled_world()
        first = await _carry_out(world)
        world.store.writes.clear()
        return first, await _carry_out(world), len(await people_of(world)), world.store.writes

    assert ([b"new"], [b"again", b"an", b"swer"], 1, []) == run(story())


def test_the_same_name_for_something_else_is_refused_and_nothing_is_done() -> None:
    async def story() -> tuple[object, list[str]]:
        world = await settled_world()
        await _carry_out(world)
        world.store.writes.clear()
        return await _refusal(_carry_out(world, fingerprint=_asked_something_else)), world.store.writes

    assert (IdempotencyKeyReused, []) == run(story())


def test_after_a_day_it_is_carried_out_again() -> None:
    async def story() -> list[bytes]:
        world = await settled_world()
        await _carry_out(world)
        world.clock.advance(LIFETIME)
        return await _carry_out(world)

    assert [b"new"] == run(story())


def test_what_is_written_and_its_answer_are_committed_together() -> None:
    """A power cut at any moment leaves both or neither: nobody sees one without the other, or what was not settled."""

    async def story() -> list[tuple[int, str]]:
        world = await settled_world()
        seen = []

        async def look() -> None:
            seen.append((len(await people_of(world)), await _kept_stage(world)))

        async def hire_and_look(ports: Ports) -> None:
            await _hire(ports)
            await meanwhile(look())

        await _carry_out(world, hire_and_look)
        await look()
        return seen

    assert [(0, "claimed"), (1, "answered")] == run(story())


def test_what_raises_has_written_nothing_and_may_be_sent_again_at_once() -> None:
    async def story() -> tuple[object, int, list[bytes]]:
        world = await settled_world()

        async def hire_and_fail(ports: Ports) -> None:
            await _hire(ports)
            raise StoreUnavailable("gone")

        refusal = await _refusal(_carry_out(world, hire_and_fail))
        people = len(await people_of(world))
        return refusal, people, await _carry_out(world)

    assert (StoreUnavailable, 0, [b"new"]) == run(story())


def test_a_store_that_is_away_afterwards_does_not_hide_why_it_was_refused() -> None:
    async def story() -> object:
        world = await settled_world()

        async def hire_and_lose_the_store(ports: Ports) -> None:
            await _hire(ports)
            world.store.is_away = True
            raise NotFound("No such thing.")

        return await _refusal(_carry_out(world, hire_and_lose_the_store))

    assert NotFound is run(story())


def test_what_ends_without_an_answer_has_written_nothing_and_may_be_sent_again_at_once() -> None:
    async def story() -> tuple[int, list[bytes]]:
        world = await settled_world()
        async with once(world, OURS, NAME, _asked) as attempt:
            await _hire(attempt.ports)
        return len(await people_of(world)), await _carry_out(world)

    assert (0, [b"new"]) == run(story())


def test_what_is_cancelled_has_written_nothing_and_may_be_sent_again_when_its_lease_ends() -> None:
    async def story() -> tuple[int, object, list[bytes]]:
        world = await settled_world()
        await _interrupted(world, _hire)
        people, refusal = len(await people_of(world)), await _refusal(_carry_out(world))
        world.clock.advance(LEASE)
        return people, refusal, await _carry_out(world)

    assert (0, StillRunning, [b"new"]) == run(story())


def test_of_two_at_once_one_is_carried_out_and_the_other_refused() -> None:
    async def story() -> tuple[object, list[bytes], int]:
        world = await settled_world()
        refused: list[object] = []

        async def hire_while_another_asks(ports: Ports) -> None:
            await _hire(ports)
            await meanwhile(_note(refused, _carry_out(world)))

        answer = await _carry_out(world, hire_while_another_asks)
        return refused, answer, len(await people_of(world))

    assert ([StillRunning], [b"new"], 1) == run(story())


def test_many_at_once_have_one_effect_and_the_others_its_answer_or_a_refusal() -> None:
    async def story() -> tuple[set[object], int]:
        world = await settled_world()
        outcomes: list[object] = []

        async def ask() -> None:
            try:
                outcomes.append(tuple(await _carry_out(world)))
            except AwarenessError as refusal:
                outcomes.append(type(refusal))

        await asyncio.gather(*(ask() for _ in range(20)))
        assert 1 == outcomes.count((b"new",))
        return set(outcomes) - {(b"new",), (b"again", b"an", b"swer"), StillRunning}, len(
            await people_of(world)
        )

    assert (set(), 1) == run(story())


def test_whoever_lost_the_receipt_before_beginning_writes_nothing() -> None:
    """The lease of an attempt that waits long for its turn may end; then another begins, and the first must not."""

    async def story() -> tuple[object, list[object], int, list[bytes]]:
        world = await settled_world()
        overtaken: list[object] = []

        async def begin_late(ports: Ports) -> None:
            async with ports.store.reading(OURS):
                world.clock.advance(LEASE)
                await meanwhile(_note(overtaken, _carry_out(world)))
            await _hire(ports)

        refusal = await _refusal(_carry_out(world, begin_late))
        return refusal, overtaken, len(await people_of(world)), await _carry_out(world)

    assert (Conflict, [[b"new"]], 1, [b"again", b"an", b"swer"]) == run(story())


def test_a_reading_and_a_glance_see_what_this_request_wrote_so_far() -> None:
    async def story() -> list[int]:
        world = await settled_world()
        seen = []

        async def hire_and_look(ports: Ports) -> None:
            seen.append((await ports.store.glance(OURS).list_employees(EmployeeQuery())).total)
            await _hire(ports)
            async with ports.store.reading(OURS) as reading:
                seen.append((await reading.list_employees(EmployeeQuery())).total)
            seen.append((await ports.store.glance(OURS).list_employees(EmployeeQuery())).total)

        await _carry_out(world, hire_and_look)
        return seen

    assert [0, 1, 1] == run(story())


def test_a_write_that_meets_a_faster_writer_is_decided_anew() -> None:
    async def story() -> tuple[list[bytes], int]:
        world = await settled_world()

        async def refuse_once() -> None:
            world.store.before_apply = None
            raise ConstraintViolated("another writer was faster")

        world.store.before_apply = refuse_once
        return await _carry_out(world), len(await people_of(world))

    assert ([b"new"], 1) == run(story())


def test_a_later_block_that_raises_undoes_the_earlier_ones_and_nothing_is_answered() -> None:
    async def story() -> tuple[object, object, int]:
        world = await settled_world()
        again: list[object] = []

        async def hire_then_fail_quietly(ports: Ports) -> None:
            await _hire(ports)
            with contextlib.suppress(ConstraintViolated):
                async with ports.store.transaction(OURS):
                    raise ConstraintViolated("another writer was faster")
            await _note(again, _hire(ports))

        refusal = await _refusal(_carry_out(world, hire_then_fail_quietly))
        return refusal, again, len(await people_of(world))

    assert (Conflict, [Conflict], 0) == run(story())


def test_mail_goes_out_after_all_that_was_written_is_committed_and_only_once() -> None:
    async def story() -> tuple[list[object], list[list[bytes]], int]:
        world = await settled_world()
        seen: list[object] = []

        async def look(letters: Sequence[InvitationLetter]) -> None:
            stage = await _kept_stage(world)
            passwords = [len(await passwords_of(world, person)) for person in await people_of(world)]
            seen.append((len(letters), passwords, stage))

        mailer = _LookingMailer(look)
        ports = attrs.evolve(world, mailer=mailer)
        answers = [await _carry_out(world, _hire_and_invite, ports=ports) for _ in range(2)]
        return seen, answers, len(mailer.letters)

    assert ([(1, [1], "under_way")], [[b"new"], [b"again", b"an", b"swer"]], 1) == run(story())


def test_what_was_interrupted_while_mail_was_out_is_told_and_never_mailed_again() -> None:
    async def story() -> tuple[list[object], int, list[int]]:
        world = await settled_world()
        await _interrupted(world, _hire_and_invite)
        outcomes: list[object] = []
        for wait in (timedelta(0), MAILING_LEASE, LIFETIME / 2):
            world.clock.advance(wait)
            await _note(outcomes, _carry_out(world, _hire_and_invite))
        passwords = [len(await passwords_of(world, person)) for person in await people_of(world)]
        return outcomes, len(world.mailer.letters), passwords

    assert ([StillRunning, Conflict, Conflict], 1, [1]) == run(story())


@pytest.mark.parametrize("lost", [1, 2, 5])
@pytest.mark.parametrize("at", ["read", "write", "end"])
def test_what_came_of_mail_and_the_answer_are_kept_although_the_store_was_away(at: str, lost: int) -> None:
    """Transactions are lost half-way or at their end, as when the database is restarted meanwhile."""

    async def story() -> tuple[list[list[bytes]], list[object], int, str]:
        world = await settled_world()
        store = _LosingStore(world.store, at)

        async def lose_transactions(_: Sequence[InvitationLetter]) -> None:
            store.to_lose = lost

        mailer = _LookingMailer(lose_transactions)
        ports = attrs.evolve(world, mailer=mailer, store=store)
        answers = [await _carry_out(world, _hire_and_invite, ports=ports) for _ in range(2)]
        (hired,) = await people_of(world)
        async with world.store.reading(OURS) as reading:
            pending = await reading.due_invitations(at=NOW + LIFETIME, limit=9)
        told: list[object] = [hired.invitation.last_sent_at, list(pending)]
        return answers, told, len(mailer.letters), await _kept_stage(world)

    assert ([[b"new"], [b"again", b"an", b"swer"]], [NOW, []], 1, "answered") == run(story())


def test_what_came_of_mail_is_kept_although_the_answer_cannot_be() -> None:
    async def story() -> tuple[list[object], object, int]:
        world = await settled_world()
        mailer = MemoryMailer()
        ports = attrs.evolve(world, mailer=mailer)

        async def invite_and_lose_the_store(ports: Ports) -> None:
            await _hire_and_invite(ports)
            world.store.is_away = True

        outcomes: list[object] = []
        await _note(outcomes, _carry_out(world, invite_and_lose_the_store, ports=ports))
        world.store.is_away = False
        world.clock.advance(MAILING_LEASE)
        await _note(outcomes, _carry_out(world, _hire_and_invite, ports=ports))
        (hired,) = await people_of(world)
        return outcomes, hired.invitation.last_sent_at, len(mailer.letters)

    assert ([StoreUnavailable, Conflict], NOW, 1) == run(story())


def test_a_request_that_writes_nothing_is_answered_as_before_too() -> None:
    async def story() -> list[list[bytes]]:
        world = await settled_world()

        async def preview(ports: Ports) -> None:
            await provision(ports, OURS, [RECORD], dry_run=True)

        return [await _carry_out(world, preview) for _ in range(2)]

    assert [[b"new"], [b"again", b"an", b"swer"]] == run(story())


def test_an_attempt_is_about_one_company_and_its_transactions_do_not_nest() -> None:
    async def story() -> list[object]:
        world = await settled_world()
        async with once(world, OURS, NAME, _asked) as attempt:
            with pytest.raises(RuntimeError, match="one company"):
                await provision(attempt.ports, THEIRS, [RECORD])
            async with attempt.ports.store.transaction(OURS):
                with pytest.raises(RuntimeError, match="was opened while"):
                    await provision(attempt.ports, OURS, [RECORD])
                with pytest.raises(RuntimeError, match="network call"):
                    await attempt.ports.mailer.send_invitations([])
            await attempt.ports.store.check()
        return await people_of(world)  # type: ignore[return-value]

    assert [] == run(story())


def test_an_attempt_that_is_over_begins_nothing_any_more() -> None:
    async def story() -> tuple[list[Employee], str]:
        world = await settled_world()
        async with once(world, OURS, NAME, _asked) as attempt:
            pass
        with pytest.raises(RuntimeError, match="that is over was carried out"):
            await _hire(attempt.ports)
        return await people_of(world), await _kept_stage(world)

    assert ([], "nothing") == run(story())


def test_an_unknown_company_is_not_found() -> None:
    async def story() -> object:
        world = await settled_world()

        async def nothing() -> None:
            async with once(world, NOBODYS, NAME, _asked) as attempt:
                await attempt.settle([])

        return await _refusal(nothing())

    assert NotFound is run(story())


def test_old_receipts_are_removed_by_new_ones_some_at_a_time() -> None:
    async def story() -> list[int]:
        world = await settled_world()
        names = [ReceiptId(f"old {number}") for number in range(PURGED_AT_ONCE + 5)]
        for name in names:
            await _carry_out(world, name=name)
        world.clock.advance(LIFETIME)
        left = []
        for number in range(2):
            await _carry_out(world, name=ReceiptId(f"new {number}"))
            async with world.store.reading(OURS) as reading:
                left.append(sum([await reading.receipt(name) is not None for name in names]))
        return left

    assert [5, 0] == run(story())


def test_an_answer_is_destroyed_when_somebody_is_erased_and_the_request_not_carried_out_again() -> None:
    async def story() -> tuple[object, int, list[bytes]]:
        world = await settled_world()
        await _carry_out(world)
        (hired,) = await people_of(world)
        await erase(world, OURS, hired.id)
        kept = [part async for part in kept_answer(world, OURS, NAME)]
        return await _refusal(_carry_out(world)), len(await people_of(world)), kept

    assert (Conflict, 0, []) == run(story())


def test_a_request_under_way_when_somebody_is_erased_ends_well_and_its_answer_is_not_kept() -> None:
    """It may have read of them before: in a dry run nothing else stands between reading and answering."""

    async def story() -> tuple[list[bytes], object, list[bytes]]:
        world = await settled_world([PERSON])

        async def preview_and_erase(ports: Ports) -> None:
            await provision(ports, OURS, [RECORD], dry_run=True)
            await meanwhile(erase(world, OURS, PERSON.id))

        answer = await _carry_out(world, preview_and_erase)
        kept = [part async for part in kept_answer(world, OURS, NAME)]
        return answer, await _refusal(_carry_out(world)), kept

    assert ([b"new"], Conflict, []) == run(story())


def test_an_answer_is_not_kept_when_somebody_was_erased_while_mail_was_out() -> None:
    async def story() -> tuple[list[bytes], object, list[bytes], object]:
        world = await settled_world([PERSON])

        async def erase_one(_: Sequence[InvitationLetter]) -> None:
            await meanwhile(erase(world, OURS, PERSON.id))

        ports = attrs.evolve(world, mailer=_LookingMailer(erase_one))
        answer = await _carry_out(world, _hire_and_invite, ports=ports)
        kept = [part async for part in kept_answer(world, OURS, NAME)]
        (hired,) = await people_of(world)
        return answer, await _refusal(_carry_out(world)), kept, hired.invitation.last_sent_at

    assert ([b"new"], Conflict, [], NOW) == run(story())


class _LosingStore(WatchedStore):
    """Another store, of which so many transactions are lost when they read or keep a receipt, or when they end."""

    def __init__(self, store: WatchedStore, at: str) -> None:
        super().__init__()
        self._store = store
        self._at = at
        self.reading = store.reading  # type: ignore[method-assign]
        self.to_lose = 0

    @contextlib.asynccontextmanager
    async def transaction(self, company_id: CompanyId) -> AsyncIterator[Transaction]:
        """As the other's, if it is not lost."""
        async with self._store.transaction(company_id) as transaction:
            yield cast("Transaction", _Losing(self, transaction, self._at))
            if self._at == "end":
                self.lose()

    def lose(self) -> None:
        """Raise as often as told."""
        if self.to_lose:
            self.to_lose -= 1
            raise StoreUnavailable("The store went away.")


@attrs.define
class _Losing:
    store: _LosingStore
    transaction: Transaction
    at: str
    is_lost: bool = False

    async def receipt(self, receipt_id: ReceiptId) -> Receipt | None:
        self._lose("read")
        return await self.transaction.receipt(receipt_id)

    async def save_receipt(self, receipt: Receipt, *, answer: Iterable[bytes] = ()) -> None:
        self._lose("write")
        await self.transaction.save_receipt(receipt, answer=answer)

    def __getattr__(self, name: str) -> object:
        return getattr(self.transaction, name)

    def _lose(self, at: str) -> None:
        if self.is_lost:
            raise StoreUnavailable("The transaction failed before.")
        if at == self.at:
            self.is_lost = self.store.to_lose > 0
            self.store.lose()


class _LookingMailer(MemoryMailer):
    """The memory mailer, which first lets a test look at the world as it is while mail is on its way."""

    def __init__(self, look: Callable[[Sequence[InvitationLetter]], Awaitable[None]]) -> None:
        super().__init__()
        self._look = look

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        await self._look(letters)
        return await super().send_invitations(letters)


async def _interrupted(world: World, work: Work) -> None:
    """Carry out `work`, and stop before there is an answer, as a process that is stopped does."""

    async def stop(ports: Ports) -> None:
        await work(ports)
        raise asyncio.CancelledError

    with contextlib.suppress(asyncio.CancelledError):
        await _carry_out(world, stop)


async def _kept_stage(world: World) -> str:
    async with world.store.reading(OURS) as reading:
        kept = await reading.receipt(NAME)
    return "nothing" if kept is None else kept.stage.value


async def _refusal(request: Coroutine[None, None, object]) -> object:
    """The class of the refusal, or what was answered."""
    answer = await refusal_or_answer(request)
    return type(answer) if isinstance(answer, AwarenessError) else answer


async def _note(outcomes: list[object], request: Coroutine[None, None, object]) -> None:
    outcomes.append(await _refusal(request))
