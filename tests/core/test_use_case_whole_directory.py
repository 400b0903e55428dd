"""A whole directory: who is missing from it has left, unless so many are that the export must be broken."""

from __future__ import annotations

import attrs
import pytest

from awareness_core.emails import parse_email
from awareness_core.employees import (
    Employee,
    EmployeeRecord,
    archive,
)
from awareness_core.errors import (
    MassDeactivationBlocked,
)
from awareness_core.records import InvalidRecord
from awareness_core.sync_plan import SyncSummary
from awareness_core.use_cases.provision import SyncReport, provision
from tests.core.strategies import (
    NOW,
    PERSON,
    numbered_id,
)
from tests.core.worlds import (
    OURS,
    people_of,
    refusal_or_answer,
    run,
    settled_world,
)

RECORD = EmployeeRecord(email=parse_email("new@x.example"), last_name="b", first_name="a", external_id="1")


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_mass_deactivation_is_blocked_until_its_exact_number_is_confirmed(dry_run: bool) -> None:  # noqa: FBT001
    people = _rostered(10)

    async def story() -> list[object]:
        world = await settled_world(people)
        answers: list[object] = []
        for confirmed in (None, 9, 11, 10):
            answers.append(
                await refusal_or_answer(
                    provision(
                        world,
                        OURS,
                        [RECORD],
                        dry_run=dry_run,
                        deactivate_missing=True,
                        confirm_deactivations=confirmed,
                    )
                )
            )
            answers.append([person.is_active for person in await people_of(world)])
        return answers

    *blocked, report, last = run(story())

    for refusal, states in zip(blocked[::2], blocked[1::2], strict=True):
        assert isinstance(refusal, MassDeactivationBlocked)
        assert (10, 10, [True] * 10) == (refusal.planned, refusal.active, states)
    assert isinstance(report, SyncReport)
    assert SyncSummary(received=1, created=1, deactivated=10) == report.summary
    assert people == list(report.absentees)
    assert ([True] * 10 if dry_run else [*[False] * 10, True]) == last


@pytest.mark.parametrize(
    ("absent", "present", "is_blocked"),
    [(5, 0, False), (6, 54, False), (6, 53, True), (6, 0, True), (7, 63, False), (7, 62, True)],
)
def test_a_deactivation_is_mass_above_five_people_and_a_tenth(
    *, absent: int, present: int, is_blocked: bool
) -> None:
    people = _rostered(absent + present)
    payload = [
        EmployeeRecord(email=person.email, last_name="b", first_name="a", external_id=person.external_id)
        for person in people[absent:]
    ]

    async def story() -> tuple[object, list[Employee]]:
        world = await settled_world([*people, attrs.evolve(PERSON, email=parse_email("guest@x.example"))])
        # An invalid record names nobody, but keeps the payload from being empty.
        answer = await refusal_or_answer(
            provision(
                world,
                OURS,
                [*payload, InvalidRecord(faults=(), email="nobody")],
                deactivate_missing=True,
            )
        )
        return answer, await people_of(world)

    answer, stored = run(story())

    assert is_blocked == isinstance(answer, MassDeactivationBlocked)
    expected = [] if is_blocked else [archive(person, now=NOW) for person in people[:absent]]
    assert expected == [person for person in stored if not person.is_active]


def test_an_empty_payload_is_blocked_even_when_few_would_be_archived() -> None:
    async def story() -> list[object]:
        world = await settled_world(_rostered(1))
        return [
            await refusal_or_answer(
                provision(world, OURS, [], deactivate_missing=True, confirm_deactivations=confirmed)
            )
            for confirmed in (None, 0, 1)
        ]

    first, second, third = run(story())

    assert isinstance(first, MassDeactivationBlocked)
    assert isinstance(second, MassDeactivationBlocked)
    assert isinstance(third, SyncReport)
    assert SyncSummary(deactivated=1) == third.summary


def test_who_is_not_mentioned_stays_unless_that_is_asked_for() -> None:
    async def story() -> list[Employee]:
        world = await settled_world([attrs.evolve(PERSON, external_id="other")])
        await provision(world, OURS, [])
        return await people_of(world)

    assert [True] == [person.is_active for person in run(story())]


def _rostered(count: int) -> list[Employee]:
    """Active people who carry an external id that no other record of this file names."""
    return [
        attrs.evolve(
            PERSON,
            id=numbered_id(number),
            email=parse_email(f"p{number}@x.example"),
            external_id=str(number),
        )
        for number in range(10, 10 + count)
    ]
