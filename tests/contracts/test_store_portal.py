"""What every store keeps for people who log in: their passwords, their sessions, and who is at the door."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from awareness_core.chosen_passwords import ChosenPassword
from awareness_core.emails import EmailKey
from awareness_core.employees import (
    Employee,
    EmployeeChange,
    EmployeeId,
    EmployeeState,
    archive,
    forget_password,
)
from awareness_core.errors import ConstraintViolated
from awareness_core.sessions import Membership, Session, SessionDigest, digest_token
from awareness_core.tenants import Company
from tests.contracts.storages import ACME, GLOBEX, LATER, NOW, Storage, apply, campaign, hired, person

pytestmark = pytest.mark.anyio

ANNA, BOB = person(1), person(2)


def session(number: int, owner: Employee, *, expires_in: timedelta = timedelta(hours=12)) -> Session:
    return Session(
        digest=digest_token(f"token {number}"),
        employee_id=owner.id,
        must_choose=number % 2 == 0,
        is_sso=number % 3 == 0,
        created_at=NOW,
        seen_at=NOW,
        expires_at=NOW + expires_in,
    )


def chosen(owner: Employee, spelt: str = "$argon2id$1") -> ChosenPassword:
    return ChosenPassword(employee_id=owner.id, hash=spelt, changed_at=NOW)


async def _save(storage: Storage, *kept: Session | ChosenPassword, company: Company = ACME) -> None:
    async with storage.store.transaction(company.id) as transaction:
        for one in kept:
            if isinstance(one, Session):
                await transaction.save_session(one)
            else:
                await transaction.save_chosen_password(one)


async def _sessions(storage: Storage, *wanted: Session) -> list[Session | None]:
    async with storage.store.reading(ACME.id) as reading:
        return [await reading.session(one.digest) for one in wanted]


async def _password(storage: Storage, owner: Employee, company: Company = ACME) -> ChosenPassword | None:
    async with storage.store.reading(company.id) as reading:
        return await reading.chosen_password(owner.id)


async def test_the_active_holder_of_an_address_is_found_in_whatever_company(storage: Storage) -> None:
    theirs = person(1, email="Someone@Globex.example")
    await apply(storage, hired(ANNA, archive(BOB, now=NOW)))
    await apply(storage, hired(theirs), to=GLOBEX)

    found = [await storage.visitors.find_holder(one.email.key) for one in (ANNA, theirs, BOB)]

    assert [
        Membership(company_id=ACME.id, employee_id=ANNA.id),
        Membership(company_id=GLOBEX.id, employee_id=theirs.id),
        None,
    ] == found


@pytest.mark.parametrize("key", ["", "nobody@acme.example", "a\0b@c", "\ud800", "%", "x" * 10_000])
async def test_an_address_that_nobody_holds_finds_nobody(storage: Storage, key: str) -> None:
    await apply(storage, hired(ANNA))

    assert await storage.visitors.find_holder(EmailKey(key)) is None
    assert await storage.visitors.find_session(SessionDigest(key)) is None


async def test_a_session_is_kept_as_it_is_and_found_from_outside(storage: Storage) -> None:
    await apply(storage, hired(ANNA))
    await apply(storage, hired(person(2, email="b@globex.example")), to=GLOBEX)
    ours, theirs = session(1, ANNA), session(2, BOB)
    await _save(storage, ours)
    await _save(storage, theirs, company=GLOBEX)

    assert [ours, None] == await _sessions(storage, ours, theirs)
    assert [
        Membership(company_id=ACME.id, employee_id=ANNA.id),
        Membership(company_id=GLOBEX.id, employee_id=BOB.id),
        None,
    ] == [
        await storage.visitors.find_session(digest)
        for digest in (ours.digest, theirs.digest, digest_token("other"))
    ]


async def test_a_session_is_replaced_by_digest(storage: Storage) -> None:
    await apply(storage, hired(ANNA))
    later = attrs.evolve(session(1, ANNA), seen_at=LATER)
    await _save(storage, session(1, ANNA), later)

    assert [later] == await _sessions(storage, later)


async def test_sessions_end_one_by_one_or_all_of_some_people(storage: Storage) -> None:
    await apply(storage, hired(ANNA, BOB))
    kept = [session(1, ANNA), session(2, ANNA), session(3, ANNA), session(4, BOB)]
    await _save(storage, *kept)
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.end_session(kept[1].digest)
        await transaction.end_session(digest_token("no such"))
    after_one = await _sessions(storage, *kept)
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.end_sessions([ANNA.id, EmployeeId("nobody")])

    assert [kept[0], None, kept[2], kept[3]] == after_one
    assert [None, None, None, kept[3]] == await _sessions(storage, *kept)


async def test_sessions_that_began_at_the_provider_end_together_and_no_others(storage: Storage) -> None:
    await apply(storage, hired(ANNA, BOB))
    kept = [session(1, ANNA), session(2, BOB), session(3, ANNA), session(6, BOB)]
    await _save(storage, *kept)
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.end_sso_sessions()

    assert [True, False] == [kept[2].is_sso, kept[0].is_sso]
    assert [*kept[:2], None, None] == await _sessions(storage, *kept)
    assert await storage.visitors.find_session(kept[3].digest) is None


async def test_another_companys_sessions_cannot_be_ended(storage: Storage) -> None:
    await apply(storage, hired(ANNA))
    await _save(storage, session(1, ANNA))
    async with storage.store.transaction(GLOBEX.id) as transaction:
        await transaction.end_session(session(1, ANNA).digest)
        await transaction.end_sessions([ANNA.id])
        assert 0 == await transaction.purge_sessions(at=NOW + timedelta(days=99), at_most=10)

    assert [session(1, ANNA)] == await _sessions(storage, session(1, ANNA))


async def test_expired_sessions_are_purged_the_oldest_first_and_no_others(storage: Storage) -> None:
    await apply(storage, hired(ANNA))
    kept = [session(number, ANNA, expires_in=timedelta(hours=number)) for number in (3, 1, 2, 4)]
    await _save(storage, *kept)
    async with storage.store.transaction(ACME.id) as transaction:
        removed = await transaction.purge_sessions(at=NOW + timedelta(hours=3), at_most=2)

    assert 2 == removed
    assert [kept[0], None, None, kept[3]] == await _sessions(storage, *kept)
    async with storage.store.transaction(ACME.id) as transaction:
        assert 1 == await transaction.purge_sessions(at=NOW + timedelta(hours=3), at_most=2)


async def test_a_chosen_password_takes_the_place_of_an_earlier_one(storage: Storage) -> None:
    await apply(storage, hired(ANNA, BOB))
    await _save(storage, chosen(ANNA, "$one"), chosen(ANNA, "$two"), chosen(BOB))

    assert [chosen(ANNA, "$two"), chosen(BOB)] == [await _password(storage, one) for one in (ANNA, BOB)]
    assert await _password(storage, ANNA, GLOBEX) is None


async def test_archiving_destroys_what_one_could_log_in_with(storage: Storage) -> None:
    await apply(storage, hired(ANNA, BOB))
    kept = [session(1, ANNA), session(3, BOB)]
    await _save(storage, *kept, chosen(ANNA), chosen(BOB))
    gone = archive(ANNA, now=LATER)
    await apply(storage, [EmployeeChange(before=ANNA, after=gone)])
    back = attrs.evolve(gone, state=EmployeeState.ACTIVE, archived_at=None)
    await apply(storage, [EmployeeChange(before=gone, after=back)])

    assert [None, kept[1]] == await _sessions(storage, *kept)
    assert [None, chosen(BOB)] == [await _password(storage, one) for one in (ANNA, BOB)]
    assert await storage.visitors.find_session(kept[0].digest) is None


async def test_forgetting_a_password_destroys_what_one_could_log_in_with(storage: Storage) -> None:
    anna = attrs.evolve(ANNA, has_password=True, first_login_at=NOW)
    await apply(storage, hired(anna, BOB))
    kept = [session(1, ANNA), session(3, BOB)]
    await _save(storage, *kept, chosen(ANNA), chosen(BOB))
    await apply(storage, [EmployeeChange(before=anna, after=forget_password(anna, now=LATER))])

    assert [None, kept[1]] == await _sessions(storage, *kept)
    assert [None, chosen(BOB)] == [await _password(storage, one) for one in (ANNA, BOB)]


async def test_nothing_is_kept_for_somebody_who_does_not_exist(storage: Storage) -> None:
    await apply(storage, hired(person(1, email="b@globex.example")), to=GLOBEX)
    for one in (session(1, ANNA), chosen(ANNA)):
        with pytest.raises(ConstraintViolated):
            await _save(storage, one)

    assert [None] == await _sessions(storage, session(1, ANNA))
    assert await _password(storage, ANNA) is None


async def test_what_is_written_is_undone_with_its_transaction(storage: Storage) -> None:
    await apply(storage, hired(ANNA))
    await _save(storage, session(1, ANNA), chosen(ANNA))

    async def write_and_fail() -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.save_chosen_password(chosen(ANNA, "$other"))
            await transaction.end_sessions([ANNA.id])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await write_and_fail()

    assert [session(1, ANNA)] == await _sessions(storage, session(1, ANNA))
    assert chosen(ANNA) == await _password(storage, ANNA)


async def test_campaigns_are_found_by_id_each_once_and_no_other_companys(storage: Storage) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_campaigns([campaign(1), campaign(2), campaign(3)])
    wanted = [campaign(number).id for number in (3, 1, 9, 3)]
    async with storage.store.reading(ACME.id) as reading:
        found = await reading.campaigns_by_id(wanted)
    async with storage.store.reading(GLOBEX.id) as reading:
        theirs = await reading.campaigns_by_id(wanted)

    assert ([campaign(1), campaign(3)], []) == (sorted(found, key=lambda one: one.id), theirs)


async def test_whoever_is_erased_leaves_nothing_to_log_in_with(storage: Storage) -> None:
    await apply(storage, hired(ANNA, BOB))
    kept = [session(1, ANNA), session(3, BOB)]
    await _save(storage, *kept, chosen(ANNA), chosen(BOB))
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.remove_employees([ANNA.id])

    assert [None, kept[1]] == await _sessions(storage, *kept)
    assert [None, chosen(BOB)] == [await _password(storage, one) for one in (ANNA, BOB)]
    assert [None, None] == [
        await storage.visitors.find_session(kept[0].digest),
        await storage.visitors.find_holder(ANNA.email.key),
    ]
