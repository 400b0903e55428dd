"""One person at a time: archived, let in, shown; and of another company's people nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta

import attrs
import pytest
from hypothesis import example, given

from awareness_core.emails import parse_email
from awareness_core.employees import (
    Access,
    Action,
    Employee,
    access,
    archive,
    log_in_first,
)
from awareness_core.errors import (
    AwarenessError,
    Conflict,
    NotFound,
)
from awareness_core.pages import Page, PageRequest
from awareness_core.ports import EmployeeQuery
from awareness_core.sync_plan import SyncItem
from awareness_core.tenants import Company
from awareness_core.use_cases.deactivate import deactivate
from awareness_core.use_cases.read_employees import EmployeeView, get_employee, list_employees
from awareness_core.use_cases.record_first_login import record_first_login
from tests.core.strategies import (
    COMPANY,
    NOW,
    PERSON,
    companies,
    directories,
    moments,
    numbered_id,
)
from tests.core.worlds import (
    NOBODYS,
    OURS,
    SECTORS,
    mail_password,
    passwords_of,
    people_of,
    refusal_or_answer,
    run,
    settled_world,
)

TICK = timedelta(milliseconds=1)


def test_deactivating_archives_and_destroys_the_mailed_passwords() -> None:
    async def story() -> tuple[SyncItem, list[Employee], int]:
        world = await settled_world([attrs.evolve(PERSON, external_id="1")])
        await mail_password(world)
        world.clock.advance(TICK)
        return (
            await deactivate(world, OURS, PERSON.id),
            await people_of(world),
            len(await passwords_of(world)),
        )

    item, people, passwords = run(story())

    gone = archive(attrs.evolve(PERSON, external_id="1"), now=NOW + TICK)
    expected = attrs.evolve(gone, invitation=people[0].invitation)
    assert [expected] == people
    assert (
        SyncItem(
            external_id="1", email="a@x.example", action=Action.DEACTIVATED, id=PERSON.id, employee=expected
        )
        == item
    )
    assert 0 == passwords


def test_deactivating_somebody_archived_is_skipped_and_writes_nothing() -> None:
    gone = archive(PERSON, now=NOW)

    async def story() -> tuple[SyncItem, list[str]]:
        world = await settled_world([gone])
        return await deactivate(world, OURS, PERSON.id), world.store.writes

    item, writes = run(story())

    assert (Action.SKIPPED, PERSON.id, gone, []) == (item.action, item.id, item.employee, writes)


def test_only_a_person_of_ones_own_can_be_deactivated() -> None:
    async def story() -> list[AwarenessError | SyncItem]:
        world = await settled_world(others=[PERSON])
        return [
            await refusal_or_answer(deactivate(world, OURS, person_id))
            for person_id in (PERSON.id, numbered_id(2))
        ]

    assert ["No such employee."] * 2 == [str(answer) for answer in run(story())]


@given(directories(), companies(), moments())
@example([PERSON], COMPANY, NOW)
@example([attrs.evolve(PERSON, first_login_at=NOW, has_password=True)], COMPANY, NOW)
@example([PERSON], attrs.evolve(COMPANY, sso_domains=frozenset({"x.example"})), NOW)
@example([archive(PERSON, now=NOW)], COMPANY, NOW)
def test_a_first_login_is_noted_for_exactly_those_who_await_access(
    people: list[Employee], company: Company, now: datetime
) -> None:
    async def story() -> None:
        world = await settled_world(people, company=company)
        world.clock.set(now)
        for person in people:
            world.store.writes.clear()
            answer = await refusal_or_answer(record_first_login(world, OURS, person.id))
            match access(person, company):
                case Access.AWAITING_ACCESS:
                    assert log_in_first(person, now=now) == answer
                    assert ["apply", "forget_passwords"] == world.store.writes
                case Access.LOGGED_IN:
                    assert (person, []) == (answer, world.store.writes)
                case Access.SSO:
                    assert "This person logs in through the company's identity provider." == str(answer)
                    assert (Conflict, []) == (type(answer), world.store.writes)
                case None:
                    assert "This person is archived and has no access." == str(answer)
                    assert (Conflict, []) == (type(answer), world.store.writes)

    run(story())


def test_after_the_first_login_no_mailed_password_opens_anything() -> None:
    async def story() -> tuple[list[Employee], Employee, int]:
        world = await settled_world([PERSON])
        await mail_password(world)
        inside = await record_first_login(world, OURS, PERSON.id)
        return await people_of(world), inside, len(await passwords_of(world))

    people, inside, passwords = run(story())

    assert ([inside], 0, None) == (people, passwords, inside.invitation.live_until)


def test_only_a_person_of_ones_own_logs_in() -> None:
    async def story() -> list[AwarenessError | Employee]:
        world = await settled_world(others=[PERSON])
        return [
            await refusal_or_answer(record_first_login(world, OURS, person_id))
            for person_id in (PERSON.id, numbered_id(2))
        ]

    assert ["No such employee."] * 2 == [str(answer) for answer in run(story())]


@given(directories(), companies())
def test_a_reader_sees_each_person_with_access_and_sector(people: list[Employee], company: Company) -> None:
    names = {sector.id: sector for sector in SECTORS}

    async def story() -> None:
        world = await settled_world(people, company=company)
        page = await list_employees(world, OURS, EmployeeQuery())
        expected = [
            EmployeeView(
                employee=person,
                access=access(person, company),
                sector=names[person.sector_id] if person.sector_id else None,
            )
            for person in sorted(people, key=lambda person: person.id)
        ]

        assert (expected, len(people)) == (page.items, page.total)
        assert expected == [await get_employee(world, OURS, person.employee.id) for person in expected]

    run(story())


def test_a_page_is_the_page_asked_for() -> None:
    people = [
        attrs.evolve(PERSON, id=numbered_id(number), email=parse_email(f"p{number}@x.example"))
        for number in range(1, 6)
    ]

    async def story() -> Page[EmployeeView]:
        world = await settled_world(people)
        return await list_employees(world, OURS, EmployeeQuery(page=PageRequest(page=2, limit=2)))

    page = run(story())

    assert people[2:4] == [view.employee for view in page.items]
    assert (5, PageRequest(page=2, limit=2)) == (page.total, page.request)


def test_only_a_person_of_ones_own_is_shown() -> None:
    async def story() -> list[AwarenessError | EmployeeView]:
        world = await settled_world(others=[PERSON])
        return [
            await refusal_or_answer(get_employee(world, OURS, person_id))
            for person_id in (PERSON.id, numbered_id(2))
        ]

    assert ["No such employee."] * 2 == [str(answer) for answer in run(story())]


@pytest.mark.parametrize("name", ["deactivate", "first login", "list", "get"])
def test_an_unknown_company_is_not_found(name: str) -> None:
    async def story() -> None:
        world = await settled_world([PERSON])
        requests: dict[str, Callable[[], Coroutine[None, None, object]]] = {
            "deactivate": lambda: deactivate(world, NOBODYS, PERSON.id),
            "first login": lambda: record_first_login(world, NOBODYS, PERSON.id),
            "list": lambda: list_employees(world, NOBODYS, EmployeeQuery()),
            "get": lambda: get_employee(world, NOBODYS, PERSON.id),
        }

        refusal = await refusal_or_answer(requests[name]())

        assert (NotFound, []) == (type(refusal), world.store.writes)

    run(story())
