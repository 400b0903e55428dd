"""The look-out for invitations that a crash left: all are mailed once, and nothing that goes wrong stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import attrs
import pytest

from awareness_core.errors import StoreUnavailable
from awareness_core.outbox import LEASE, decided
from awareness_core.ports import Delivery, InvitationLetter
from awareness_core.tenants import Company, CompanyId
from awareness_core.use_cases.deliver_pending import AT_ONCE
from awareness_memory import ManualClock, MemoryMailer, MemoryPorts, MemoryStore, SeededEntropy, memory_ports
from awareness_server.delivering import TURNS_AT_ONCE, delivering
from tests.contracts.polling import until
from tests.contracts.storages import ACME, GLOBEX, NOW, hired, person

pytestmark = pytest.mark.anyio

OFTEN = 0.01


async def left_behind(*, people: int = 3, companies: Sequence[Company] = (ACME, GLOBEX)) -> MemoryPorts:
    """Companies with people of whom nobody knows whether they were mailed."""
    world = memory_ports(clock=ManualClock(NOW), entropy=SeededEntropy(1))
    for number, company in enumerate(companies):
        await world.companies.add_company(company)
        staff = [person(100 * number + place) for place in range(1, people + 1)]
        async with world.store.transaction(company.id) as transaction:
            await transaction.apply(changes=hired(*staff))
            await transaction.save_pending([decided(one.id, holder="gone", now=NOW - LEASE) for one in staff])
    return world


async def test_everyone_is_mailed_once_whoever_looks() -> None:
    world = await left_behind()
    async with delivering(world, look_every=OFTEN), delivering(world, look_every=OFTEN):

        async def all_are_mailed() -> bool:
            due = await world.companies.companies_with_due_invitations(at=NOW + timedelta(days=9))
            return not due

        await until(all_are_mailed)

    assert 6 == len(world.mailer.letters) == len({letter.email for letter in world.mailer.letters})


class Flaky(MemoryStore):
    """Away, once; and asked in vain about a company that is gone, ever after."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__()
        self.store = store
        self.asked = 0

    async def companies_with_due_invitations(self, *, at: datetime) -> Sequence[CompanyId]:
        """As told."""
        self.asked += 1
        if self.asked == 1:
            raise StoreUnavailable("away")
        return [CompanyId("gone"), *await self.store.companies_with_due_invitations(at=at)]


async def test_an_outage_and_a_company_that_is_gone_stop_nothing() -> None:
    world = await left_behind()
    async with delivering(attrs.evolve(world, companies=Flaky(world.store)), look_every=OFTEN):

        async def all_are_mailed() -> bool:
            return len(world.mailer.letters) == 6

        await until(all_are_mailed)


class Failing(MemoryMailer):
    """Fails for one company's letters in a way nobody foresaw."""

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """As the memory mailer's, for others."""
        if letters[0].company_name == ACME.name:
            raise ZeroDivisionError
        return await super().send_invitations(letters)


async def test_one_companys_trouble_is_not_anothers() -> None:
    world = await left_behind()
    mailer = Failing()
    async with delivering(attrs.evolve(world, mailer=mailer), look_every=OFTEN):

        async def the_others_are_mailed() -> bool:
            return len(mailer.letters) == 3

        await until(the_others_are_mailed)

    assert {GLOBEX.name} == {letter.company_name for letter in mailer.letters}


class Held(MemoryMailer):
    """Takes the letters of one company, and never answers; counts the calls under way."""

    def __init__(self, company: Company) -> None:
        super().__init__()
        self._company = company
        self.under_way = self.most_at_once = 0

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """As the memory mailer's, for others."""
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            await asyncio.sleep(0)
            if letters[0].company_name == self._company.name:
                await asyncio.Event().wait()
            return await super().send_invitations(letters)
        finally:
            self.under_way -= 1


async def test_few_companies_are_mailed_for_at_once_and_a_slow_one_keeps_no_other_from_its_turns() -> None:
    others = [
        attrs.evolve(ACME, id=CompanyId(f"{number:02}"), name=f"Company {number}") for number in range(9)
    ]
    world, mailer = await left_behind(people=AT_ONCE + 1, companies=[ACME, *others]), Held(ACME)

    async def look() -> None:
        async with delivering(attrs.evolve(world, mailer=mailer)):
            await until(the_others_are_mailed)
            raise ZeroDivisionError

    async def the_others_are_mailed() -> bool:
        return len(mailer.letters) == len(others) * (AT_ONCE + 1)

    with pytest.raises(ZeroDivisionError):
        await look()

    assert TURNS_AT_ONCE == mailer.most_at_once
    assert 0 == mailer.under_way


async def test_whoever_is_owed_most_waits_for_the_others_after_each_turn() -> None:
    companies = [
        attrs.evolve(ACME, id=CompanyId(f"{number:02}"), name=f"Company {number}")
        for number in range(TURNS_AT_ONCE + 1)
    ]
    world = await left_behind(people=3 * AT_ONCE, companies=companies)
    async with delivering(world):

        async def all_are_mailed() -> bool:
            return len(world.mailer.letters) == 3 * AT_ONCE * len(companies)

        await until(all_are_mailed)

    turns = [letter.company_name for letter in world.mailer.letters[::AT_ONCE]]
    once_round = {company.name for company in companies}
    assert [once_round] * 3 == [
        set(turns[start : start + len(companies)]) for start in range(0, len(turns), len(companies))
    ]


class Slow(MemoryMailer):
    """Takes letters, and answers when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.has_begun, self.may_answer = asyncio.Event(), asyncio.Event()

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """As told."""
        taken = await super().send_invitations(letters)
        self.has_begun.set()
        await self.may_answer.wait()
        return taken


async def test_at_the_end_what_is_under_way_is_finished_and_no_more_begun() -> None:
    world, mailer = await left_behind(people=AT_ONCE + 1), Slow()
    world = attrs.evolve(world, mailer=mailer)

    async def look_once() -> None:
        async with delivering(world):
            await mailer.has_begun.wait()

    ending = asyncio.create_task(look_once())
    await mailer.has_begun.wait()
    for _ in range(100):
        # All that can happen without an answer.
        await asyncio.sleep(0)
    has_waited = not ending.done()
    mailer.may_answer.set()
    await ending

    assert has_waited
    assert 2 * AT_ONCE == len(mailer.letters)
    for company in (ACME, GLOBEX):
        async with world.store.reading(company.id) as reading:
            left = await reading.due_invitations(at=datetime.max.replace(tzinfo=NOW.tzinfo), limit=99)
        assert [("gone", NOW)] == [(one.holder, one.due_at) for one in left]


async def test_no_more_is_begun_once_the_process_is_told_to_stop() -> None:
    world, told = await left_behind(people=AT_ONCE + 1), asyncio.Event()

    class Told(MemoryMailer):
        async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
            told.set()
            return await super().send_invitations(letters)

    mailer = Told()
    async with delivering(attrs.evolve(world, mailer=mailer), look_every=OFTEN, is_stopping=told.is_set):
        await told.wait()
        for _ in range(500):
            # All that another turn would need.
            await asyncio.sleep(0)

    assert 2 * AT_ONCE == len(mailer.letters)


async def test_who_loses_patience_at_the_end_breaks_off_what_is_under_way() -> None:
    world, mailer = await left_behind(), Slow()

    async def look_once() -> None:
        async with delivering(attrs.evolve(world, mailer=mailer)):
            await mailer.has_begun.wait()

    ending = asyncio.create_task(look_once())
    await mailer.has_begun.wait()
    await asyncio.sleep(0)
    ending.cancel()

    with pytest.raises(asyncio.CancelledError):
        await ending
