"""What every `Store` does with people: how they are found, who holds an address, what may swap hands."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from awareness_core.emails import EmailKey, parse_email
from awareness_core.employees import (
    Employee,
    EmployeeChange,
    EmployeeId,
    EmployeeState,
    InvitationHistory,
    archive,
    log_in_first,
)
from awareness_core.errors import ConstraintViolated
from awareness_core.sectors import Sector, SectorId
from awareness_core.tenants import Company
from tests.contracts.storages import (
    ACME,
    GLOBEX,
    LATER,
    NOW,
    Storage,
    apply,
    changed,
    everyone,
    hired,
    password,
    person,
)

pytestmark = pytest.mark.anyio


def archived(number: int, *, email: str | None = None, external_id: str | None = None) -> Employee:
    return person(number, email=email, external_id=external_id, state=EmployeeState.ARCHIVED, archived_at=NOW)


async def _matching(storage: Storage, external_ids: list[str], emails: list[str]) -> list[Employee]:
    keys = [parse_email(email).key for email in emails]
    async with storage.store.reading(ACME.id) as reading:
        found = await reading.matching_employees(external_ids=external_ids, email_keys=keys)
    return sorted(found, key=lambda employee: employee.id)


async def _held_elsewhere(storage: Storage, *emails: str) -> frozenset[EmailKey]:
    async with storage.store.reading(ACME.id) as reading:
        return await reading.addresses_held_by_other_companies([parse_email(email).key for email in emails])


async def test_people_come_back_as_they_were_stored(storage: Storage) -> None:
    plain = person(1)
    full = person(
        2,
        email="Zoë.Straße@münchen.example",
        external_id="ID \u00e9 ' \" \\ % _ 🙂",
        last_name="O'Neil; DROP TABLE employees --",
        first_name="Ægir",
        job_title="Comptable",
        phone="+33 1",
        address="1 rue de l'Été",
        sector_id=SectorId(3),
        first_login_at=NOW - timedelta(days=400),
        has_password=True,
        invitation=InvitationHistory(
            last_attempt_at=NOW, last_sent_at=NOW - timedelta(milliseconds=1), live_until=LATER
        ),
        updated_at=LATER,
    )
    gone = archived(3)

    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.apply(
            changes=hired(plain, full, gone), sectors=[Sector(id=SectorId(3), name="R&D")]
        )

    found = await everyone(storage)
    assert [plain, full, gone] == found
    assert [False, True, False] == [employee.has_password for employee in found]
    assert {bool} == {type(employee.has_password) for employee in found}


@pytest.mark.parametrize(
    "moment",
    [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC),
    ],
)
async def test_every_moment_is_kept_to_the_millisecond(storage: Storage, moment: datetime) -> None:
    anna = person(1, first_login_at=moment)

    await apply(storage, hired(anna))

    assert [anna] == await everyone(storage)


async def test_matching_finds_by_external_id_and_by_address_archived_people_too(storage: Storage) -> None:
    anna = person(1, external_id="E1")
    bob = person(2, external_id="E2")
    gone = archived(3, email="shared@acme.example")
    gone_too = archived(4, email="shared@acme.example")
    holder = person(5, email="shared@acme.example")
    await apply(storage, hired(anna, bob, gone, gone_too, holder, person(6)))

    assert [anna] == await _matching(storage, ["E1"], [])
    assert [bob] == await _matching(storage, [], ["person2@ACME.example"])
    assert [gone, gone_too, holder] == await _matching(storage, [], ["shared@acme.example"])
    assert [anna, bob] == await _matching(
        storage, ["E1", "e1", "E9"], ["person1@acme.example", "Person2@acme.example"]
    )
    assert [] == await _matching(storage, [], [])


async def test_matching_compares_external_ids_exactly(storage: Storage) -> None:
    await apply(storage, hired(person(1, external_id="é1")))

    assert [] == await _matching(storage, ["É1", "e1", "é1 ", "\ud800", "é1\0"], [])


async def test_a_hundred_thousand_keys_are_no_trouble(storage: Storage) -> None:
    people = [person(number, external_id=f"E{number}") for number in (1, 50_000, 99_999)]
    await apply(storage, hired(*people))

    async with storage.store.reading(ACME.id) as reading:
        by_external_id = await reading.matching_employees(
            external_ids=[f"E{number}" for number in range(100_000)], email_keys=[]
        )
        by_both = await reading.matching_employees(
            external_ids=["E1"],
            email_keys=[EmailKey(f"person{number}@acme.example") for number in range(100_000)],
        )
        by_id = await reading.employees_by_id([EmployeeId(f"{number:04}") for number in range(100_000)])

    for found in (by_external_id, by_both, by_id):
        assert people == sorted(found, key=lambda employee: employee.id)


async def test_an_address_is_held_by_active_people_of_other_companies_only(storage: Storage) -> None:
    await apply(storage, hired(person(1)))
    await apply(storage, hired(person(2), archived(3)), to=GLOBEX)

    emails = [f"person{number}@acme.example" for number in (1, 2, 3, 4)]

    assert {parse_email(emails[1]).key} == await _held_elsewhere(storage, *emails)


async def test_rostered_are_the_active_with_an_external_id(storage: Storage) -> None:
    await apply(storage, hired(person(1, external_id="E1"), person(2), archived(3, external_id="E3")))

    async with storage.store.reading(ACME.id) as reading:
        assert [person(1, external_id="E1")] == await reading.rostered_employees()


async def test_employees_by_id_leaves_out_who_is_not_there(storage: Storage) -> None:
    await apply(storage, hired(person(1), archived(2), person(3)))

    async with storage.store.reading(ACME.id) as reading:
        found = await reading.employees_by_id(
            [EmployeeId("0002"), EmployeeId("0001"), EmployeeId("0002"), EmployeeId("\ud800")]
        )

    assert [person(1), archived(2)] == sorted(found, key=lambda employee: employee.id)


async def test_employees_without_password_are_active_whether_or_not_they_once_logged_in(
    storage: Storage,
) -> None:
    inside = log_in_first(person(1), now=NOW)
    back_again = person(2, first_login_at=NOW)
    await apply(storage, hired(inside, back_again, person(3), archived(4)))

    async with storage.store.reading(ACME.id) as reading:
        found = await reading.employees_without_password()

    assert [back_again, person(3)] == sorted(found, key=lambda employee: employee.id)


async def test_two_people_swap_addresses_in_one_apply(storage: Storage) -> None:
    anna, bob = person(1), person(2)
    await apply(storage, hired(anna, bob))

    await apply(storage, [changed(anna, email=bob.email), changed(bob, email=anna.email)])

    assert [bob.email, anna.email] == [employee.email for employee in await everyone(storage)]


async def test_external_ids_move_on_around_a_ring_in_one_apply(storage: Storage) -> None:
    people = [person(number, external_id=f"E{number}") for number in range(3)]
    await apply(storage, hired(*people))

    await apply(
        storage,
        [changed(people[number], external_id=f"E{(number + 1) % 3}") for number in range(3)],
    )

    assert ["E1", "E2", "E0"] == [employee.external_id for employee in await everyone(storage)]


async def test_what_a_leaver_held_is_free_for_a_newcomer_of_the_same_apply(storage: Storage) -> None:
    anna = person(1, external_id="E1")
    await apply(storage, hired(anna))

    leaver = attrs.evolve(archive(anna, now=NOW), external_id=None)
    newcomer = person(2, external_id="E1", email=anna.email.text)
    await apply(storage, [*hired(newcomer), EmployeeChange(before=anna, after=leaver)])

    assert [leaver, newcomer] == await everyone(storage)


async def test_an_archived_person_keeps_the_external_id(storage: Storage) -> None:
    await apply(storage, hired(archived(1, external_id="E1")))

    with pytest.raises(ConstraintViolated):
        await apply(storage, hired(person(2, external_id="E1")))


async def test_an_archived_person_gets_the_address_back_unless_it_is_taken(storage: Storage) -> None:
    gone, holder = archived(1, email="shared@acme.example"), person(2, email="shared@acme.example")
    await apply(storage, hired(gone, holder))
    back = EmployeeChange(before=gone, after=person(1, email="shared@acme.example"))

    with pytest.raises(ConstraintViolated):
        await apply(storage, [back])
    await apply(storage, [back, EmployeeChange(before=holder, after=archive(holder, now=NOW))])

    assert [EmployeeState.ACTIVE, EmployeeState.ARCHIVED] == [
        employee.state for employee in await everyone(storage)
    ]


@pytest.mark.parametrize("company", [ACME, GLOBEX])
async def test_an_address_has_one_active_holder_in_all_companies(storage: Storage, company: Company) -> None:
    await apply(storage, hired(person(1)))

    with pytest.raises(ConstraintViolated):
        await apply(storage, hired(person(2, email=person(1).email.text.upper())), to=company)

    assert [person(1)] == await everyone(storage)
    assert [] == await everyone(storage, GLOBEX)


async def test_an_external_id_is_one_persons_within_a_company_only(storage: Storage) -> None:
    await apply(storage, hired(person(1, external_id="E1")))
    await apply(storage, hired(person(2, external_id="E1")), to=GLOBEX)

    with pytest.raises(ConstraintViolated):
        await apply(storage, hired(person(3, external_id="E1")))


@pytest.mark.parametrize(
    "impossible",
    [
        pytest.param(hired(person(1, email="other@acme.example")), id="an id that exists"),
        pytest.param([changed(person(9), last_name="Other")], id="a person who does not exist"),
        pytest.param(hired(person(9, sector_id=SectorId(7))), id="a sector that does not exist"),
    ],
)
async def test_what_contradicts_the_stored_is_refused(
    storage: Storage, impossible: list[EmployeeChange]
) -> None:
    await apply(storage, hired(person(1)))

    with pytest.raises(ConstraintViolated):
        await apply(storage, [*hired(person(2)), *impossible])

    assert [person(1)] == await everyone(storage)


async def test_sectors_are_numbered_within_a_company_and_sorted(storage: Storage) -> None:
    sectors = [Sector(id=SectorId(number), name=f"Sector {number}") for number in (10, 2, 1)]
    for company in (ACME, GLOBEX):
        async with storage.store.transaction(company.id) as transaction:
            await transaction.apply(changes=[], sectors=sectors)

    async with storage.store.reading(GLOBEX.id) as reading:
        assert [1, 2, 10] == [sector.id for sector in await reading.sectors()]


@pytest.mark.parametrize(
    "second", [Sector(id=SectorId(1), name="Other"), Sector(id=SectorId(2), name="SALES")]
)
async def test_a_sectors_number_and_name_are_taken(storage: Storage, second: Sector) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.apply(changes=[], sectors=[Sector(id=SectorId(1), name="Sales")])

    with pytest.raises(ConstraintViolated):
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=[], sectors=[second])


async def test_a_leavers_temporary_passwords_are_destroyed(storage: Storage) -> None:
    anna, bob = person(1), person(2)
    await apply(storage, hired(anna, bob))
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.record_attempts([password(anna, 1), password(anna, 2), password(bob, 3)])

    async with storage.store.transaction(ACME.id) as transaction:
        (current,) = await transaction.employees_by_id([anna.id])
        await transaction.apply(changes=[EmployeeChange(before=current, after=archive(current, now=NOW))])

    async with storage.store.reading(ACME.id) as reading:
        assert [] == await reading.temporary_passwords(anna.id)
        assert [password(bob, 3)] == await reading.temporary_passwords(bob.id)


@pytest.mark.slow
async def test_ten_thousand_changes_in_one_apply(storage: Storage) -> None:
    people = [person(number, external_id=f"E{number}") for number in range(10_000)]
    await apply(storage, hired(*people))

    renamed = [
        changed(
            employee,
            external_id=f"E{(number + 1) % 10_000}",
            email=people[(number + 1) % 10_000].email,
        )
        for number, employee in enumerate(people)
    ]
    await apply(storage, renamed)

    async with storage.store.reading(ACME.id) as reading:
        stored = await reading.rostered_employees()
    assert [change.after for change in renamed] == sorted(stored, key=lambda employee: int(employee.id))
