"""What every `Store` answers a sync of a whole directory: who is unchanged, who is on the roster."""

from __future__ import annotations

import contextlib

import attrs
import pytest

from awareness_core.employees import Employee, EmployeeChange, EmployeeState, archive
from awareness_core.records import UnchangedPerson, fingerprint_of
from awareness_core.tenants import Company
from tests.contracts.storages import ACME, GLOBEX, LATER, NOW, Seen, Storage, hired, password, person, seen

pytestmark = pytest.mark.anyio

ONE, TWO, THREE = (fingerprint_of(spelling) for spelling in (b"one", b"two", b"three"))


async def _write(storage: Storage, *changes: EmployeeChange, company: Company = ACME) -> None:
    async with storage.store.transaction(company.id) as transaction:
        await transaction.apply(changes=changes)


async def _unchanged(
    storage: Storage, *glances: Seen, company: Company = ACME
) -> list[UnchangedPerson | None]:
    async with storage.store.reading(company.id) as reading:
        return list(await reading.unchanged_people(glances))


def _brief(employee: Employee) -> UnchangedPerson:
    return UnchangedPerson(
        id=employee.id,
        external_id=employee.external_id,
        email=employee.email.text,
        email_key=employee.email.key,
    )


async def test_a_person_is_found_by_external_id_or_else_by_address_and_the_fingerprint_of_the_write(
    storage: Storage,
) -> None:
    first, second = person(1, email="A.B@acme.example", external_id="e1"), person(2)
    await _write(
        storage,
        EmployeeChange(before=None, after=first, fingerprint=ONE),
        EmployeeChange(before=None, after=second, fingerprint=TWO),
    )

    found = await _unchanged(
        storage,
        Seen(TWO, None, str(second.email)),
        Seen(THREE, "e1", "A.B@acme.example"),
        Seen(ONE, None, "A.B@acme.example"),
        Seen(THREE, "unknown", ""),
        Seen(ONE, "e1", "A.B@acme.example"),
        Seen(ONE, "e1", "A.B@acme.example"),
        Seen(THREE, "\0", ""),
    )

    assert found == [_brief(second), None, _brief(first), None, _brief(first), _brief(first), None]


async def test_nobody_is_found_by_nothing(storage: Storage) -> None:
    assert await _unchanged(storage) == []


async def test_any_other_write_forgets_the_fingerprint(storage: Storage) -> None:
    before = person(1)
    await _write(storage, EmployeeChange(before=None, after=before, fingerprint=ONE))

    after = attrs.evolve(before, last_name="Other")
    await _write(storage, EmployeeChange(before=before, after=after))
    forgotten = await _unchanged(storage, seen(before, ONE))
    await _write(storage, EmployeeChange(before=after, after=archive(after, now=LATER), fingerprint=None))

    assert forgotten == [None]
    assert await _unchanged(storage, seen(before, ONE)) == [None]


async def test_a_newer_fingerprint_takes_the_place_of_the_older(storage: Storage) -> None:
    before = person(1)
    after = attrs.evolve(before, last_name="Other")
    await _write(storage, EmployeeChange(before=None, after=before, fingerprint=ONE))
    await _write(storage, EmployeeChange(before=before, after=after, fingerprint=TWO))

    assert await _unchanged(storage, seen(after, ONE), seen(after, TWO)) == [None, _brief(after)]


async def test_an_invitation_leaves_the_fingerprint(storage: Storage) -> None:
    invited = person(1)
    await _write(storage, EmployeeChange(before=None, after=invited, fingerprint=ONE))
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.record_attempts([password(invited)])
        await transaction.record_deliveries([password(invited)])

    assert await _unchanged(storage, seen(invited, ONE)) == [_brief(invited)]


async def test_a_fingerprint_is_seen_by_its_company_alone(storage: Storage) -> None:
    await _write(storage, EmployeeChange(before=None, after=person(1), fingerprint=ONE))

    assert await _unchanged(storage, seen(person(1), ONE), company=GLOBEX) == [None]


async def test_what_was_rolled_back_has_no_fingerprint(storage: Storage) -> None:
    with contextlib.suppress(ZeroDivisionError):
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=[EmployeeChange(before=None, after=person(1), fingerprint=ONE)])
            raise ZeroDivisionError

    assert await _unchanged(storage, seen(person(1), ONE)) == [None]


async def test_the_roster_lists_active_people_with_an_external_id_in_brief(storage: Storage) -> None:
    listed = [person(number, external_id=f"e{number}") for number in range(1, 6)]
    gone = person(7, external_id="e7", state=EmployeeState.ARCHIVED, archived_at=NOW)
    await _write(storage, *hired(*listed, person(6), gone))
    await _write(storage, *hired(person(8, email="x@globex.example", external_id="e8")), company=GLOBEX)

    async with storage.store.reading(ACME.id) as reading:
        entries = [entry async for entries in reading.roster() for entry in entries]
        count = await reading.count_rostered_employees()

    assert {(entry.id, entry.external_id, entry.email_key) for entry in entries} == {
        (one.id, one.external_id, one.email.key) for one in listed
    }
    assert count == len(entries) == len(listed)


@pytest.mark.slow
async def test_a_roster_of_many_thousands_comes_whole(storage: Storage) -> None:
    many = [person(number, external_id=f"e{number}") for number in range(12_001)]
    await _write(storage, *hired(*many))

    async with storage.store.reading(ACME.id) as reading:
        ids = [entry.id async for entries in reading.roster() for entry in entries]

    assert sorted(ids) == sorted(one.id for one in many)
