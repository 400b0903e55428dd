"""Who left long ago is erased, all of them and nobody else, however often and by however many it is asked."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.emails import parse_email
from awareness_core.employees import Employee, EmployeeId, archive
from awareness_core.errors import NotFound
from awareness_core.use_cases.purge_archived import AT_ONCE, count_archived, purge_archived
from tests.core.strategies import NOW, PERSON
from tests.core.worlds import NOBODYS, OURS, THEIRS, World, people_of, run, settled_world

DAY = timedelta(days=1)


def employee(number: int, days_ago: int | None) -> Employee:
    """Somebody of that number, active if they were never archived."""
    person = attrs.evolve(
        PERSON,
        id=EmployeeId(f"{number:04}"),
        email=parse_email(f"p{number}@acme.example"),
        external_id=None,
        sector_id=None,
    )
    return person if days_ago is None else archive(person, now=NOW - days_ago * DAY)


@given(st.lists(st.none() | st.integers(0, 6), max_size=8), st.integers(0, 6))
def test_exactly_who_was_archived_earlier_is_erased(ages: list[int | None], days: int) -> None:
    people = [employee(number, age) for number, age in enumerate(ages)]
    old = [age for age in ages if age is not None and age > days]

    async def story() -> None:
        world = await settled_world(people)
        before = NOW - days * DAY
        count = await count_archived(world, OURS, before=before)
        erased = await purge_archived(world, OURS, before=before)

        assert (len(old), len(old)) == (count, erased)
        assert [one for one, age in zip(people, ages, strict=True) if age is None or age <= days] == (
            await people_of(world)
        )
        assert 0 == await purge_archived(world, OURS, before=before)

    run(story())


@pytest.mark.parametrize("count", [AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE])
def test_more_than_go_at_once_go_one_part_after_the_other_and_are_told_of(count: int) -> None:
    async def story() -> tuple[int, int, list[int]]:
        world = await settled_world([employee(number, 9) for number in range(count)])
        told: list[int] = []
        erased = await purge_archived(world, OURS, before=NOW, on_progress=told.append)
        return erased, len(await people_of(world)), told

    erased, left, told = run(story())
    assert (count, 0, count) == (erased, left, told[-1])
    assert [AT_ONCE * part for part in range(1, count // AT_ONCE + 1)] == told[: count // AT_ONCE]


def test_several_at_once_erase_each_person_once() -> None:
    async def story() -> tuple[int, int]:
        world = await settled_world([employee(number, 9) for number in range(2 * AT_ONCE + 5)])
        counts = await asyncio.gather(*(purge_archived(world, OURS, before=NOW) for _ in range(4)))
        return sum(counts), len(await people_of(world))

    assert (2 * AT_ONCE + 5, 0) == run(story())


def test_where_nobody_left_nothing_is_written_and_kept_answers_stay() -> None:
    async def story() -> list[str]:
        world = await settled_world([employee(1, None), employee(2, 1)])
        await purge_archived(world, OURS, before=NOW - DAY)
        return world.store.writes

    assert [] == run(story())


def test_other_companies_are_left_alone_and_an_unknown_one_is_not_found() -> None:
    async def story() -> tuple[int, World]:
        world = await settled_world([employee(1, 9)], others=[employee(2, 9)])
        await purge_archived(world, OURS, before=NOW)
        with pytest.raises(NotFound):
            await purge_archived(world, NOBODYS, before=NOW)
        return len(await people_of(world, THEIRS)), world

    assert 1 == run(story())[0]
