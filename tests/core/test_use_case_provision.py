"""Records in, people out: one path for one or many, nothing written in vain, and nothing by halves."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.emails import parse_email
from awareness_core.employees import (
    Action,
    Employee,
    EmployeeChange,
    EmployeeRecord,
    Presence,
)
from awareness_core.errors import (
    AwarenessError,
    Conflict,
    ConstraintViolated,
    Fault,
    MassDeactivationBlocked,
    NotFound,
)
from awareness_core.records import InvalidRecord
from awareness_core.sectors import SectorReference
from awareness_core.sync_plan import SyncError, SyncItem, SyncSummary, SyncWarning
from awareness_core.use_cases.provision import SyncReport, provision
from tests.core.strategies import (
    NOW,
    PERSON,
    archived_before_now,
    directories,
    few_emails,
    numbered_id,
    records,
)
from tests.core.worlds import (
    NOBODYS,
    OURS,
    SECTORS,
    THEIRS,
    World,
    mail_password,
    meanwhile,
    passwords_of,
    people_of,
    refusal_or_answer,
    run,
    sectors_of,
    settle_people,
    settled_world,
)

Payload = list[EmployeeRecord | InvalidRecord]

INVALID = st.builds(
    InvalidRecord,
    faults=st.just((Fault(field="email", message="is wrong", code="wrong"),)),
    email=few_emails().map(str) | st.just("nobody"),
)
PAYLOADS: st.SearchStrategy[Payload] = st.lists(records() | INVALID, max_size=5)
RECORD = EmployeeRecord(email=parse_email("new@x.example"), last_name="b", first_name="a", external_id="1")


@given(directories(), directories(), PAYLOADS, st.booleans())
def test_a_dry_run_answers_as_the_real_run_but_for_the_ids_of_the_new_and_writes_nothing(
    people: list[Employee],
    others: list[Employee],
    payload: Payload,
    whole: bool,  # noqa: FBT001
) -> None:
    async def story() -> None:
        world = await settled_world(people, others=_of_others(people, others))
        before = (await people_of(world), await sectors_of(world))

        planned = await refusal_or_answer(
            provision(world, OURS, payload, dry_run=True, deactivate_missing=whole)
        )

        assert ([], before) == (world.store.writes, (await people_of(world), await sectors_of(world)))
        real = await refusal_or_answer(provision(world, OURS, payload, deactivate_missing=whole))
        assert _without_new_ids(real) == _without_new_ids(planned)
        if isinstance(planned, SyncReport) and isinstance(real, SyncReport):
            assert [True, False] == [planned.dry_run, real.dry_run]
            assert {None} >= {item.id for item in planned.items if item.action is Action.CREATED}
            assert [item.id for item in real.items if item.action is not Action.CREATED] == [
                item.id for item in planned.items if item.action is not Action.CREATED
            ]

    run(story())


@given(directories(), PAYLOADS)
def test_the_answer_tells_the_people_as_they_are_stored_afterwards(
    people: list[Employee], payload: Payload
) -> None:
    async def story() -> None:
        world = await settled_world(people)

        report = await provision(world, OURS, payload)

        stored = {person.id: person for person in await people_of(world)}
        told = {item.id: item.employee for item in report.items if item.action is not Action.FAILED}
        assert {person_id: stored[person_id] for person_id in told if person_id} == {
            person_id: person for person_id, person in told.items() if person_id
        }
        assert {person.id for person in people} | {person_id for person_id in told if person_id} == set(
            stored
        )

    run(story())


@given(directories(), PAYLOADS, st.booleans())
def test_the_changes_told_are_those_written_and_in_a_dry_run_those_it_would_write(
    people: list[Employee],
    payload: Payload,
    whole: bool,  # noqa: FBT001
) -> None:
    async def story() -> None:
        world = await settled_world(people)
        confirmed = await _absent(world, payload)
        planned, real = [
            await provision(
                world,
                OURS,
                payload,
                dry_run=dry_run,
                deactivate_missing=whole,
                confirm_deactivations=confirmed,
            )
            for dry_run in (True, False)
        ]

        stored = {person.id: person for person in people}
        assert [None if change.before is None else stored[change.before.id] for change in real.changes] == [
            change.before for change in real.changes
        ]
        stored.update((change.after.id, change.after) for change in real.changes)
        assert stored == {person.id: person for person in await people_of(world)}
        assert [_without_new_id(change) for change in planned.changes] == [
            _without_new_id(change) for change in real.changes
        ]

    run(story())


@given(
    directories().map(lambda people: [archived_before_now(person) for person in people]),
    PAYLOADS,
    st.booleans(),
)
def test_sending_again_what_did_not_fail_skips_everyone_and_writes_nothing(
    people: list[Employee],
    payload: Payload,
    whole: bool,  # noqa: FBT001
) -> None:
    async def story() -> None:
        world = await settled_world(people)
        first = await provision(
            world,
            OURS,
            payload,
            deactivate_missing=whole,
            confirm_deactivations=await _absent(world, payload),
        )
        world.clock.advance(timedelta(days=1))
        before = await people_of(world)
        world.store.writes.clear()

        again = await refusal_or_answer(provision(world, OURS, payload, deactivate_missing=whole))

        if first.is_ok and payload:
            assert isinstance(again, SyncReport)
            assert SyncSummary(received=len(payload), skipped=len(payload)) == again.summary
            assert ([], before) == (world.store.writes, await people_of(world))

    run(story())


def test_one_record_creates_one_person() -> None:
    async def story() -> tuple[SyncReport, list[Employee]]:
        world = await settled_world()
        return await provision(world, OURS, [RECORD]), await people_of(world)

    report, people = run(story())

    (item,) = report.items
    assert (Action.CREATED, [item.employee]) == (item.action, people)
    assert (SyncSummary(received=1, created=1), (), False, True) == (
        report.summary,
        report.absentees,
        report.dry_run,
        report.is_ok,
    )
    assert (NOW, NOW) == (people[0].created_at, people[0].updated_at)


def test_every_new_person_gets_an_id_of_their_own() -> None:
    async def story() -> list[Employee]:
        world = await settled_world()
        payload = [
            attrs.evolve(RECORD, email=parse_email(f"p{number}@x.example"), external_id=str(number))
            for number in range(9)
        ]
        await provision(world, OURS, payload)
        return await people_of(world)

    assert 9 == len({person.id for person in run(story())})


def test_a_failed_record_spoils_no_other_and_is_not_ok() -> None:
    fault = Fault(field="email", message="is wrong", code="wrong")
    invalid = InvalidRecord(faults=(fault,), external_id=" 7 ", email="nobody")

    async def story() -> tuple[SyncReport, list[Employee]]:
        world = await settled_world()
        return await provision(world, OURS, [invalid, RECORD]), await people_of(world)

    report, people = run(story())

    failed, created = report.items
    assert (
        SyncItem(
            external_id=" 7 ",
            email="nobody",
            action=Action.FAILED,
            error=SyncError.VALIDATION_ERROR,
            faults=(fault,),
        )
        == failed
    )
    assert Action.CREATED is created.action
    assert ["new@x.example"] == [str(person.email) for person in people]
    assert not report.is_ok


@given(directories(), PAYLOADS)
def test_every_record_gets_its_answer_in_its_place(people: list[Employee], payload: Payload) -> None:
    async def story() -> SyncReport:
        return await provision(await settled_world(people), OURS, payload)

    items = run(story()).items

    assert [str(record.email) for record in payload] == [item.email for item in items]
    assert [
        record.external_id or (item.employee and item.employee.external_id)
        for record, item in zip(payload, items, strict=True)
    ] == [item.external_id for item in items]


def test_a_leaver_makes_way_even_when_the_address_they_ask_for_is_taken() -> None:
    a, b = (
        attrs.evolve(
            PERSON, id=numbered_id(number), email=parse_email(f"{letter}@x.example"), external_id=letter
        )
        for number, letter in enumerate("ab")
    )
    leaver = EmployeeRecord(
        email=b.email, last_name="b", first_name="a", external_id="a", presence=Presence.LEAVING
    )
    successor = EmployeeRecord(email=a.email, last_name="c", first_name="c", external_id="c")

    async def story(payload: Payload) -> list[tuple[Action, str, SyncWarning | None]]:
        report = await provision(await settled_world([a, b]), OURS, payload)
        return [
            (item.action, str(item.employee and item.employee.email), item.warning) for item in report.items
        ]

    gone = (Action.DEACTIVATED, "a@x.example", SyncWarning.EMAIL_NOT_UPDATED)
    new = (Action.CREATED, "a@x.example", None)
    assert [gone, new] == run(story([leaver, successor]))
    assert [new, gone] == run(story([successor, leaver]))


def test_new_sectors_are_stored_with_the_people_who_name_them() -> None:
    async def story() -> tuple[list[Employee], list[str]]:
        world = await settled_world()
        await provision(world, OURS, [attrs.evolve(RECORD, sector=SectorReference(name="Achats"))])
        return await people_of(world), [sector.name for sector in await sectors_of(world)]

    people, names = run(story())

    assert [5] == [person.sector_id for person in people]
    assert [*(sector.name for sector in SECTORS), "Achats"] == names


def test_an_address_of_another_companys_active_person_is_refused() -> None:
    async def story() -> SyncReport:
        world = await settled_world(others=[attrs.evolve(PERSON, email=RECORD.email)])
        return await provision(world, OURS, [RECORD])

    assert [SyncError.EMAIL_CONFLICT_OTHER_TENANT] == [item.error for item in run(story()).items]


def test_when_another_company_takes_the_address_meanwhile_the_record_fails_and_nothing_is_written() -> None:
    async def story() -> tuple[SyncReport, list[Employee], list[str]]:
        world = await settled_world()

        async def take() -> None:
            world.store.before_apply = None
            await meanwhile(settle_people(world, THEIRS, [attrs.evolve(PERSON, email=RECORD.email)]))

        world.store.before_apply = take
        return await provision(world, OURS, [RECORD]), await people_of(world), world.store.writes

    report, people, writes = run(story())

    assert [SyncError.EMAIL_CONFLICT_OTHER_TENANT] == [item.error for item in report.items]
    assert ([], []) == (people, writes)


@pytest.mark.parametrize("times", [1, 2])
def test_a_write_that_meets_a_faster_writer_is_decided_anew(times: int) -> None:
    async def story() -> tuple[SyncReport, list[Employee], list[str]]:
        world = await settled_world()
        _refuse_writes(world, times)
        return await provision(world, OURS, [RECORD]), await people_of(world), world.store.writes

    report, people, writes = run(story())

    assert [item.employee for item in report.items] == people
    assert (1, ["apply"]) == (len(people), writes)


def test_a_write_that_always_meets_faster_writers_is_given_up_and_leaves_nothing() -> None:
    async def story() -> tuple[AwarenessError | SyncReport, list[Employee], int]:
        world = await settled_world()
        attempts = _refuse_writes(world, 1000)
        return (
            await refusal_or_answer(provision(world, OURS, [RECORD])),
            await people_of(world),
            len(attempts),
        )

    refusal, people, attempts = run(story())

    assert isinstance(refusal, Conflict)
    assert "Other requests kept changing the same people. Nothing was written; send it again." == str(refusal)
    assert ([], 3) == (people, attempts)


def test_a_leaver_ceases_to_be_able_to_log_in_at_once() -> None:
    async def story() -> int:
        world = await settled_world([attrs.evolve(PERSON, external_id="1")])
        await mail_password(world)
        leaver = attrs.evolve(RECORD, presence=Presence.LEAVING)
        await provision(world, OURS, [leaver])
        return len(await passwords_of(world))

    assert 0 == run(story())


@pytest.mark.parametrize("dry_run", [False, True])
def test_an_unknown_company_is_not_found(dry_run: bool) -> None:  # noqa: FBT001
    async def story() -> None:
        world = await settled_world()

        refusal = await refusal_or_answer(provision(world, NOBODYS, [RECORD], dry_run=dry_run))

        assert (NotFound, []) == (type(refusal), world.store.writes)

    run(story())


def _without_new_id(change: EmployeeChange) -> EmployeeChange:
    after = attrs.evolve(change.after, id=PERSON.id) if change.before is None else change.after
    return attrs.evolve(change, after=after)


def _of_others(people: list[Employee], others: list[Employee]) -> list[Employee]:
    """`others` under other ids, without those who hold an address that one of `people` holds."""
    held = {person.email.key for person in people if person.is_active}
    return [
        attrs.evolve(person, id=numbered_id(100 + place))
        for place, person in enumerate(others)
        if not (person.is_active and person.email.key in held)
    ]


def _without_new_ids(answer: SyncReport | AwarenessError) -> object:
    if isinstance(answer, AwarenessError):
        return type(answer), str(answer)
    items = [
        attrs.evolve(item, id=None, employee=item.employee and attrs.evolve(item.employee, id=PERSON.id))
        if item.action is Action.CREATED
        else item
        for item in answer.items
    ]
    return items, answer.summary, answer.absentees


async def _absent(world: World, payload: Payload) -> int | None:
    """The number that confirms leaving out whom `payload` leaves out."""
    planned = await refusal_or_answer(provision(world, OURS, payload, dry_run=True, deactivate_missing=True))
    return planned.planned if isinstance(planned, MassDeactivationBlocked) else None


def _refuse_writes(world: World, times: int) -> list[int]:
    """Let the next writes meet a faster writer; the list returned grows by one for each."""
    attempts: list[int] = []

    async def refuse() -> None:
        attempts.append(len(attempts))
        if len(attempts) <= times:
            raise ConstraintViolated("Another writer was faster.")

    world.store.before_apply = refuse
    return attempts
