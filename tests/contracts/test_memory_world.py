"""What the memory adapter has beside its store: clocks, randomness, a mailer, and the bundle of all ports."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import attrs
import pytest

from awareness_core.employees import EmployeeId
from awareness_core.ports import Delivery, InvitationLetter, Ports
from awareness_core.tenants import CompanyId, Language
from awareness_memory import (
    ManualClock,
    MemoryMailer,
    MemoryStore,
    SeededEntropy,
    SystemClock,
    SystemEntropy,
    memory_ports,
)
from tests.contracts.storages import ACME, NOW, everyone, hired, memory_storage, person

pytestmark = pytest.mark.anyio


def letter(email: str) -> InvitationLetter:
    return InvitationLetter(
        employee_id=EmployeeId("0001"),
        company_name="Acme",
        language=Language.ENGLISH,
        email=email,
        first_name="Anna",
        last_name="Martin",
        password="xxxxx-xxxxx-xxxxx-xxxxx",
        decided_at=NOW,
        created_at=NOW,
        expires_at=NOW + timedelta(days=7),
    )


def test_the_system_clock_is_in_utc_and_whole_milliseconds() -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    now = SystemClock().now()

    assert before <= now <= datetime.now(UTC)
    assert UTC == now.tzinfo
    assert 0 == now.microsecond % 1000


def test_a_manual_clock_stands_still_until_it_is_moved() -> None:
    clock = ManualClock(datetime(2026, 3, 31, 10, 0, 0, 123_999, tzinfo=timezone(timedelta(hours=2))))

    seen = [clock.now(), clock.now()]
    clock.advance(timedelta(minutes=15))
    seen.append(clock.now())
    clock.set(NOW)
    seen.append(clock.now())

    assert [NOW, NOW, NOW + timedelta(minutes=15), NOW] == seen
    assert UTC == seen[0].tzinfo


def test_a_manual_clock_refuses_a_time_without_its_offset() -> None:
    with pytest.raises(ValueError, match="offset"):
        ManualClock(datetime(2026, 3, 31))  # noqa: DTZ001


def test_randomness_is_as_long_as_asked_and_never_the_same() -> None:
    for entropy in (SystemEntropy(), SeededEntropy(1)):
        taken = [entropy.take(16) for _ in range(100)]

        assert {16} == set(map(len, taken))
        assert 100 == len(set(taken))
    assert b"" == SeededEntropy(1).take(0)


def test_seeded_randomness_is_the_same_from_the_same_seed_only() -> None:
    def taken(seed: int) -> list[bytes]:
        entropy = SeededEntropy(seed)
        return [entropy.take(count) for count in (8, 16, 8)]

    assert taken(1) == taken(1)
    assert taken(1) != taken(2)


async def test_the_mailer_keeps_what_it_accepts_and_refuses_what_it_is_told_to() -> None:
    mailer = MemoryMailer()
    mailer.refuse("full@acme.example")
    mailer.refuse("nobody@acme.example", permanent=True)
    letters = [letter(f"{name}@acme.example") for name in ("anna", "full", "nobody", "bob")]

    outcomes = await mailer.send_invitations(letters)

    assert [(True, False), (False, False), (False, True), (True, False)] == [
        (outcome.accepted, outcome.permanent) for outcome in outcomes
    ]
    assert [letters[0], letters[3]] == mailer.letters
    mailer.accept("full@acme.example")
    assert [Delivery(accepted=True)] == await mailer.send_invitations([letters[1]])


async def test_the_mailer_sends_nothing_inside_a_transaction() -> None:
    storage, mailer = memory_storage(), MemoryMailer()
    await storage.companies.add_company(ACME)

    async with storage.store.transaction(ACME.id):
        with pytest.raises(RuntimeError, match="network"):
            await mailer.send_invitations([letter("anna@acme.example")])

    assert [] == mailer.letters


def test_no_password_shows_in_a_printed_letter() -> None:
    assert "xxxxx" not in repr(letter("anna@acme.example"))


def test_memory_ports_are_a_whole_and_separate_world() -> None:
    clock = ManualClock(NOW)
    first, second = memory_ports(clock=clock, entropy=SeededEntropy(1)), memory_ports()

    asyncio.run(first.companies.add_company(ACME))

    assert isinstance(first, Ports)
    assert clock is first.clock
    assert [ACME] == asyncio.run(first.store.list_companies())
    assert [] == asyncio.run(second.store.list_companies())


def test_a_memory_store_outlives_event_loops_with_waiting_writers() -> None:
    storage = memory_storage()

    async def hire(number: int) -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await asyncio.sleep(0)
            await transaction.apply(changes=hired(person(number)))

    async def write(*numbers: int) -> None:
        await asyncio.gather(*(hire(number) for number in numbers))

    asyncio.run(storage.companies.add_company(ACME))
    asyncio.run(write(1, 2, 3))
    asyncio.run(write(4, 5, 6))

    assert [person(number) for number in range(1, 7)] == asyncio.run(everyone(storage))


async def test_companies_write_side_by_side_until_addresses_change_hands() -> None:
    store = MemoryStore()
    other = attrs.evolve(ACME, id=CompanyId("other"), name="Other")
    for company in (ACME, other):
        await store.add_company(company)
    both_are_inside = asyncio.Barrier(2)

    async def write(company_id: CompanyId) -> None:
        async with store.transaction(company_id) as transaction:
            await both_are_inside.wait()
            await transaction.apply(changes=hired(person(1, email=f"a@{company_id}.example")))

    async with asyncio.timeout(2):
        await asyncio.gather(write(ACME.id), write(other.id))
