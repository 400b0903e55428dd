"""What every `Store` keeps of pending invitations: whose they are, in which order they are due, when they end."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from awareness_core.employees import EmployeeChange, EmployeeId, archive
from awareness_core.errors import ConstraintViolated
from awareness_core.outbox import LEASE, MailBacklog, PendingInvitation, decided
from awareness_core.ports import Transaction
from tests.contracts.storages import ACME, GLOBEX, NOW, Storage, apply, hired, person

pytestmark = pytest.mark.anyio

PEOPLE = [person(number) for number in range(1, 6)]
THEIRS = person(9, email="somebody@globex.example")
ONE, TWO, THREE, FOUR, FIVE = (decided(one.id, holder="a", now=NOW) for one in PEOPLE)
LATE = NOW + LEASE


async def _save(storage: Storage, *invitations: PendingInvitation) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_pending(invitations)


async def _due(storage: Storage, *, limit: int = 9) -> list[PendingInvitation]:
    async with storage.store.reading(ACME.id) as reading:
        return list(await reading.due_invitations(at=LATE, limit=limit))


async def test_they_are_due_in_order_and_not_before(storage: Storage) -> None:
    await apply(storage, hired(*PEOPLE))
    sooner = attrs.evolve(FOUR, due_at=NOW, holder=None, attempts=7)
    later = attrs.evolve(ONE, due_at=LATE + timedelta(milliseconds=1))

    await _save(storage, later, THREE, TWO, sooner)

    assert [sooner, TWO, THREE] == await _due(storage)
    assert [sooner, TWO] == await _due(storage, limit=2)
    assert [ACME.id] == await storage.companies.companies_with_due_invitations(at=NOW)
    assert [] == await storage.companies.companies_with_due_invitations(at=NOW - LEASE)


async def test_the_backlog_is_that_of_all_companies(storage: Storage) -> None:
    assert MailBacklog() == await storage.companies.mail_backlog()
    await apply(storage, hired(*PEOPLE))
    await apply(storage, hired(THEIRS), to=GLOBEX)

    await _save(storage, THREE, attrs.evolve(TWO, due_at=NOW))
    async with storage.store.transaction(GLOBEX.id) as transaction:
        await transaction.save_pending([decided(THEIRS.id, holder="b", now=NOW - 2 * LEASE)])

    assert MailBacklog(pending=3, first_due_at=NOW - LEASE) == await storage.companies.mail_backlog()


async def test_one_employee_has_one_and_the_newest_stays(storage: Storage) -> None:
    await apply(storage, hired(*PEOPLE))
    anew = attrs.evolve(ONE, decided_at=NOW + LEASE, holder="b")

    await _save(storage, ONE, TWO)
    await _save(storage, anew)

    assert [anew, TWO] == await _due(storage)
    async with storage.store.reading(ACME.id) as reading:
        assert [anew] == await reading.held_invitations("b")
        assert [TWO] == await reading.held_invitations("a")


async def test_a_holder_forgets_its_own_and_anybody_all(storage: Storage) -> None:
    await apply(storage, hired(*PEOPLE))
    theirs = attrs.evolve(TWO, holder="b")
    waiting = attrs.evolve(THREE, holder=None)
    await _save(storage, ONE, theirs, waiting, FOUR)

    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.forget_pending([ONE.employee_id, TWO.employee_id, THREE.employee_id], holder="a")
    assert [theirs, waiting, FOUR] == await _due(storage)
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.forget_pending([TWO.employee_id, THREE.employee_id, EmployeeId("nobody")])

    assert [FOUR] == await _due(storage)


async def test_who_leaves_or_loses_their_passwords_is_not_mailed(storage: Storage) -> None:
    await apply(storage, hired(*PEOPLE))
    await _save(storage, ONE, TWO, THREE)

    gone = archive(PEOPLE[0], now=NOW)
    await apply(storage, [EmployeeChange(before=PEOPLE[0], after=gone)])
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.forget_passwords([TWO.employee_id])

    assert [THREE] == await _due(storage)


async def test_they_are_for_employees_of_the_company_and_all_or_none(storage: Storage) -> None:
    await apply(storage, hired(*PEOPLE))
    unknown = decided(EmployeeId("nobody"), holder="a", now=NOW)

    for company in (ACME, GLOBEX):
        with pytest.raises(ConstraintViolated):
            async with storage.store.transaction(company.id) as transaction:
                await transaction.save_pending([ONE, unknown])

    assert [] == await _due(storage)


async def test_a_block_that_raises_leaves_none(storage: Storage) -> None:
    await apply(storage, hired(*PEOPLE))

    async def break_off(transaction: Transaction) -> None:
        await transaction.save_pending([ONE])
        assert [ONE] == await transaction.due_invitations(at=LATE, limit=1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        async with storage.store.transaction(ACME.id) as transaction:
            await break_off(transaction)

    assert [] == await _due(storage)
