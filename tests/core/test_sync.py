"""The laws of a whole plan: what must hold for any payload, any directory, in any order."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.emails import EmailKey, parse_email
from awareness_core.employees import Action, Employee, EmployeeId, EmployeeRecord, Presence
from awareness_core.errors import MassDeactivationBlocked
from awareness_core.records import InvalidRecord
from awareness_core.sectors import Sector
from awareness_core.sync import plan_sync
from awareness_core.sync_plan import Candidates, ChunkPlan, SyncError, SyncItem, SyncPlan, check_deactivations
from tests.core import strategies as draw

Payload = list[EmployeeRecord | InvalidRecord]

# Few addresses and ids, so that swaps, chains and conflicts are the rule; names that hardly differ, so that skips are.
EMAILS = draw.few_emails(4)
PAYLOADS: st.SearchStrategy[Payload] = st.lists(
    draw.records(emails=EMAILS)
    | st.builds(
        InvalidRecord,
        faults=st.just(()),
        external_id=st.none() | draw.external_ids(),
        email=EMAILS.map(str) | st.just("no address"),
    ),
    max_size=6,
)


def directories() -> st.SearchStrategy[Candidates]:
    """The state of one company, whole-directory syncs included."""
    return st.builds(
        _directory,
        sectors=draw.sectors(),
        people=draw.directories(max_size=5),
        elsewhere=st.frozensets(EMAILS.map(lambda email: email.key)),
        is_whole=st.booleans(),
    )


def _directory(
    *, sectors: list[Sector], people: list[Employee], elsewhere: frozenset[EmailKey], is_whole: bool
) -> Candidates:
    people = [in_one_of(sectors, draw.archived_before_now(person)) for person in people]
    held = {person.email.key for person in people if person.is_active}
    return Candidates(
        employees=people,
        held_elsewhere=elsewhere - held,
        sectors=sectors,
        rostered=[person for person in people if person.is_active and person.external_id]
        if is_whole
        else None,
    )


def in_one_of(sectors: Sequence[Sector], person: Employee) -> Employee:
    """Nobody belongs to a sector that does not exist, or they would belong to the next that is created."""
    if any(sector.id == person.sector_id for sector in sectors):
        return person
    return attrs.evolve(person, sector_id=None)


def fresh_ids() -> Iterator[EmployeeId]:
    """Ids that no directory of the tests holds."""
    return (EmployeeId(f"new-{number}") for number in itertools.count())


def plan_of(payload: Sequence[EmployeeRecord | InvalidRecord], candidates: Candidates) -> SyncPlan:
    """The plan at the tests' moment. Ids of new people are no one's in `candidates`."""
    known = sum(1 for person in candidates.employees if person.id.startswith("new-"))
    return plan_sync(payload, candidates, new_ids=itertools.islice(fresh_ids(), known, None), now=draw.NOW)


def applied(plan: SyncPlan | ChunkPlan, candidates: Candidates) -> Candidates:
    """The directory after the plan's writes."""
    people = {person.id: person for person in candidates.employees}
    for change in plan.changes:
        people[change.after.id] = change.after
    is_whole = candidates.rostered is not None
    return Candidates(
        employees=list(people.values()),
        held_elsewhere=candidates.held_elsewhere,
        sectors=[*candidates.sectors, *plan.sectors],
        rostered=[person for person in people.values() if person.is_active and person.external_id]
        if is_whole
        else None,
    )


def holders(people: Iterable[Employee]) -> Counter[EmailKey]:
    """How many active people hold each address."""
    return Counter(person.email.key for person in people if person.is_active)


@given(PAYLOADS, directories())
def test_no_address_gets_two_holders_and_no_external_id_two_people(
    payload: Payload, before: Candidates
) -> None:
    after = applied(plan_of(payload, before), before)

    assert max(holders(after.employees).values(), default=1) == 1
    assert not holders(after.employees).keys() & before.held_elsewhere
    ids = Counter(person.external_id for person in after.employees if person.external_id is not None)
    assert max(ids.values(), default=1) == 1


@given(PAYLOADS, directories())
def test_sending_the_same_payload_again_writes_nothing(payload: Payload, before: Candidates) -> None:
    first = plan_of(payload, before)
    # A record may fail only until its rival is gone, so the state settles after as many rounds as there are records.
    state = applied(first, before)
    for _ in payload:
        state = applied(plan_of(payload, state), state)
    again = plan_of(payload, state)

    assert again.changes == ()
    assert again.sectors == ()
    assert {item.action for item in again.items} <= {Action.SKIPPED, Action.FAILED}


@given(PAYLOADS, directories())
def test_a_payload_of_which_nothing_failed_is_all_skipped_when_sent_again(
    payload: Payload, before: Candidates
) -> None:
    first = plan_of(payload, before)
    if first.summary.failed:
        return
    again = plan_of(payload, applied(first, before))

    assert [item.action for item in again.items] == [Action.SKIPPED] * len(payload)
    assert again.changes == ()


@given(PAYLOADS, directories())
def test_a_plan_writes_exactly_what_it_says(payload: Payload, before: Candidates) -> None:
    plan = plan_of(payload, before)
    written = {item.id for item in plan.items if item.action not in {Action.SKIPPED, Action.FAILED}}
    left_out = {person.id for person in plan.absentees}

    assert {change.after.id for change in plan.changes} == written | left_out
    assert len(plan.changes) == len(written) + len(left_out)
    assert all(change.before != change.after for change in plan.changes)
    for item in plan.items:
        if item.action is Action.SKIPPED and item.id is not None:
            assert item.employee in before.employees


@given(PAYLOADS, directories())
def test_the_summary_counts_the_items_and_the_absentees(payload: Payload, before: Candidates) -> None:
    plan = plan_of(payload, before)
    counts = Counter(item.action for item in plan.items)

    assert attrs.asdict(plan.summary) == {
        "received": len(payload),
        "created": counts[Action.CREATED],
        "updated": counts[Action.UPDATED],
        "reactivated": counts[Action.REACTIVATED],
        "deactivated": counts[Action.DEACTIVATED] + len(plan.absentees),
        "skipped": counts[Action.SKIPPED],
        "failed": counts[Action.FAILED],
    }


def told(item: SyncItem) -> tuple[object, ...]:
    """What an item says, but for the ids of people and sectors that did not exist before."""
    known = item.id if item.id is not None and not item.id.startswith("new-") else None
    return item.external_id, item.email, item.action, known, item.error, item.warning


@given(PAYLOADS, directories(), st.randoms())
def test_the_order_of_records_matters_only_among_those_who_mean_the_same_person(
    payload: Payload, before: Candidates, shuffler: random.Random
) -> None:
    plan = plan_of(payload, before)
    unique = [
        record
        for record, item in zip(payload, plan.items, strict=True)
        if item.error is not SyncError.DUPLICATE_IN_PAYLOAD
    ]
    straight = plan_of(unique, before)
    order = list(range(len(unique)))
    shuffler.shuffle(order)
    shuffled = plan_of([unique[position] for position in order], before)

    assert [told(item) for item in shuffled.items] == [told(straight.items[position]) for position in order]
    assert shuffled.absentees == straight.absentees


@given(PAYLOADS, directories(), st.randoms())
def test_the_order_in_which_people_were_loaded_never_matters(
    payload: Payload, before: Candidates, shuffler: random.Random
) -> None:
    people, sectors = list(before.employees), list(before.sectors)
    shuffler.shuffle(people)
    shuffler.shuffle(sectors)
    shuffled = attrs.evolve(before, employees=people, sectors=sectors)

    assert plan_of(payload, shuffled) == plan_of(payload, before)


@given(PAYLOADS, directories())
def test_people_who_are_not_meant_do_not_change_the_plan(payload: Payload, before: Candidates) -> None:
    plan = plan_of(payload, before)
    bystander = Employee(
        id=EmployeeId("bystander"),
        email=parse_email("bystander@elsewhere.example"),
        last_name="B",
        first_name="B",
        created_at=draw.NOW,
        updated_at=draw.NOW,
    )

    assert plan_of(payload, attrs.evolve(before, employees=[bystander, *before.employees])) == plan


@given(PAYLOADS, directories())
def test_a_known_leaver_who_counts_is_always_archived(payload: Payload, before: Candidates) -> None:
    by_external_id = {person.external_id: person for person in before.employees if person.external_id}
    refused = {
        SyncError.DUPLICATE_IN_PAYLOAD,
        SyncError.VALIDATION_ERROR,
        SyncError.UNKNOWN_SECTOR,
        SyncError.SECTOR_CONFLICT,
    }
    for record, item in zip(payload, plan_of(payload, before).items, strict=True):
        if not isinstance(record, EmployeeRecord) or record.presence is not Presence.LEAVING:
            continue
        person = by_external_id.get(record.external_id or "")
        if person is not None and person.is_active and item.error not in refused:
            assert item.action is Action.DEACTIVATED


@given(PAYLOADS, directories())
def test_an_address_conflict_is_told_only_when_no_larger_set_of_records_could_succeed(
    payload: Payload, before: Candidates
) -> None:
    """Whoever was refused for an address could not have it, even together with all the others refused."""
    plan = plan_of(payload, before)
    after = applied(plan, before)
    conflicts = {SyncError.EMAIL_CONFLICT, SyncError.EXTERNAL_ID_CONFLICT}
    refused = [
        (record, item)
        for record, item in zip(payload, plan.items, strict=True)
        # An unknown leaver asks for no address; that they look like somebody else is what is told.
        if item.error in conflicts
        and isinstance(record, EmployeeRecord)
        and record.presence is not Presence.LEAVING
    ]
    asked_for = {record.email.key for record, _ in refused}
    movers = {item.id for _, item in refused if item.id is not None}
    held_by_others = {
        person.email.key for person in after.employees if person.is_active and person.id not in movers
    }
    # Were all of them granted, somebody who does not move would still hold one of the addresses asked for.
    if refused:
        assert asked_for & held_by_others


@given(PAYLOADS, directories())
def test_whole_directory_syncs_archive_the_unmentioned_who_carry_an_external_id_and_nobody_else(
    payload: Payload, before: Candidates
) -> None:
    plan = plan_of(payload, before)
    ids = {record.external_id for record in payload}
    keys = {record.email.key for record in payload if isinstance(record, EmployeeRecord)} | {
        EmailKey(record.email) for record in payload if isinstance(record, InvalidRecord)
    }
    unmentioned = {
        person.id
        for person in before.employees
        if person.is_active
        and person.external_id
        and person.external_id not in ids
        and person.email.key not in keys
    }
    left_out = {person.id for person in plan.absentees}

    if before.rostered is None:
        assert left_out == set()
    else:
        assert unmentioned <= left_out
        for person in plan.absentees:
            assert person.is_active
            assert person.external_id is not None
            assert person.external_id not in ids
            # Beyond the unmentioned, only those whose mailbox another person's record takes over.
            if person.id not in unmentioned:
                takers = [
                    item
                    for item in plan.items
                    if item.email == person.email.text and item.error is None and item.id != person.id
                ]
                assert takers


@given(PAYLOADS, directories())
def test_a_failed_record_leaves_its_person_and_the_sectors_as_they_were(
    payload: Payload, before: Candidates
) -> None:
    plan = plan_of(payload, before)
    written = {change.after.id for change in plan.changes}
    by_first = {item.id for item in plan.items if item.error is None}
    for item in plan.items:
        if item.action is Action.FAILED and item.id is not None and item.id not in by_first:
            assert item.id not in written
    used = {change.after.sector_id for change in plan.changes}
    assert {sector.id for sector in plan.sectors} <= used


@given(st.integers(min_value=0, max_value=40), st.integers(min_value=1, max_value=300))
def test_the_guard_stops_more_than_five_people_who_are_more_than_a_tenth(
    left_out: int, rostered: int
) -> None:
    left_out = min(left_out, rostered)
    plan = whole_directory_plan(left_out, rostered)
    is_mass = left_out > 5 and left_out / rostered > 0.10
    if is_mass:
        with pytest.raises(MassDeactivationBlocked) as refusal:
            guard(plan, confirmed=None)
        with pytest.raises(MassDeactivationBlocked):
            guard(plan, confirmed=left_out + 1)

        assert (refusal.value.planned, refusal.value.active) == (left_out, rostered)
        assert refusal.value.summary == attrs.asdict(plan.summary)
        guard(plan, confirmed=left_out)
    else:
        guard(plan, confirmed=None)


def guard(plan: SyncPlan, *, confirmed: int | None) -> None:
    """The check as a use case makes it."""
    if plan.rostered is not None:
        check_deactivations(
            plan.summary, absentees=len(plan.absentees), rostered=plan.rostered, confirmed=confirmed
        )


def whole_directory_plan(left_out: int, rostered: int) -> SyncPlan:
    """A plan of a whole directory of `rostered` people that does not list `left_out` of them."""
    people = [
        Employee(
            id=draw.numbered_id(number),
            external_id=f"e{number}",
            email=parse_email(f"p{number}@x.example"),
            last_name="P",
            first_name="P",
            created_at=draw.NOW - timedelta(days=1),
            updated_at=draw.NOW - timedelta(days=1),
        )
        for number in range(rostered)
    ]
    listed = [
        EmployeeRecord(email=person.email, last_name="P", first_name="P", external_id=person.external_id)
        for person in people[left_out:]
    ]
    # A newcomer keeps the payload from being empty when everybody was left out.
    listed.append(EmployeeRecord(email=parse_email("new@x.example"), last_name="N", first_name="N"))
    return plan_of(listed, Candidates(employees=people, rostered=people))


def test_an_empty_whole_directory_is_always_blocked_until_confirmed() -> None:
    plan = plan_of([], Candidates(employees=[], rostered=[]))

    with pytest.raises(MassDeactivationBlocked) as refusal:
        guard(plan, confirmed=None)
    assert refusal.value.planned == 0
    guard(plan, confirmed=0)


def test_an_empty_ordinary_payload_is_nothing_to_stop() -> None:
    plan = plan_of([], Candidates(employees=[]))

    guard(plan, confirmed=None)
    assert plan.changes == ()


@given(PAYLOADS, directories())
def test_new_sectors_are_numbered_after_the_known_ones(payload: Payload, before: Candidates) -> None:
    plan = plan_of(payload, before)
    highest = max((sector.id for sector in before.sectors), default=0)
    everything: list[Sector] = [*before.sectors, *plan.sectors]

    assert [sector.id for sector in plan.sectors] == [highest + 1 + n for n in range(len(plan.sectors))]
    assert len({sector.key for sector in everything}) == len(everything)
