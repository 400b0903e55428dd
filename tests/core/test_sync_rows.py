"""The matching table, row by row: one situation, one outcome, restated here independently of the code."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.absent import ABSENT, Absent
from awareness_core.emails import EmailKey, parse_email
from awareness_core.employees import (
    Action,
    Employee,
    EmployeeRecord,
    EmployeeState,
    Presence,
)
from awareness_core.records import InvalidRecord
from awareness_core.sectors import Sector, SectorId, SectorReference
from awareness_core.sync_plan import Candidates, SyncError, SyncItem, SyncPlan, SyncWarning
from tests.core import strategies as draw
from tests.core.test_sync import plan_of

STAYING = (Presence.PRESENT, Presence.UNSTATED)


def person(number: int, email: str, external_id: str | None = None, *, archived: bool = False) -> Employee:
    """Somebody who has been there since yesterday."""
    then = draw.NOW - timedelta(days=1)
    return Employee(
        id=draw.numbered_id(number),
        external_id=external_id,
        email=parse_email(email),
        last_name="L",
        first_name="F",
        state=EmployeeState.ARCHIVED if archived else EmployeeState.ACTIVE,
        created_at=then,
        updated_at=then,
        archived_at=then + timedelta(minutes=number) if archived else None,
    )


def record(
    email: str,
    external_id: str | None = None,
    presence: Presence = Presence.UNSTATED,
    *,
    last_name: str = "L",
    sector: SectorReference | Absent | None = ABSENT,
) -> EmployeeRecord:
    """What a directory says of somebody called F L."""
    return EmployeeRecord(
        email=parse_email(email),
        last_name=last_name,
        first_name="F",
        external_id=external_id,
        presence=presence,
        sector=sector,
    )


def only(plan: SyncPlan) -> SyncItem:
    """The one item of a plan."""
    (item,) = plan.items
    return item


def told(item: SyncItem) -> tuple[Action, SyncError | SyncWarning | None]:
    """The action with the one thing said about it."""
    return item.action, item.error or item.warning


A, B, C, Z = "a@x.example", "b@x.example", "c@x.example", "z@x.example"
KEY_A = parse_email(A).key


def test_row_1_an_invalid_record_fails_in_its_place_and_spoils_no_other() -> None:
    plan = plan_of([InvalidRecord(faults=(), email="rubbish"), record(A)], Candidates(employees=[]))

    assert [told(item) for item in plan.items] == [
        (Action.FAILED, SyncError.VALIDATION_ERROR),
        (Action.CREATED, None),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (record(A, "1"), record(B, "1")),
        (record(A, "1"), record(A, "2")),
        (record(C, "7"), record(Z)),  # both mean the person with external id 7, whose address is z@
    ],
)
def test_row_2_the_first_record_of_a_person_counts(first: EmployeeRecord, second: EmployeeRecord) -> None:
    candidates = Candidates(employees=[person(7, Z, "7")])
    for payload in ([first, second], [second, first]):
        plan = plan_of(payload, candidates)

        assert plan.items[0].error is None
        assert told(plan.items[1]) == (Action.FAILED, SyncError.DUPLICATE_IN_PAYLOAD)


def test_row_2_a_record_that_does_not_count_claims_nothing() -> None:
    plan = plan_of([record(A, "1"), record(B, "1"), record(B, "2")], Candidates(employees=[]))

    assert [item.action for item in plan.items] == [Action.CREATED, Action.FAILED, Action.CREATED]


@pytest.mark.parametrize("is_whole", [False, True])
def test_a_successor_may_be_given_the_address_of_a_leaver_listed_beside(*, is_whole: bool) -> None:
    old = person(1, A, "1")
    leaver, successor = record(A, "1", Presence.LEAVING), record(A, "2")
    candidates = Candidates(employees=[old], rostered=[old] if is_whole else None)
    for payload in ([leaver, successor], [successor, leaver]):
        plan = plan_of(payload, candidates)

        assert {item.action for item in plan.items} == {Action.DEACTIVATED, Action.CREATED}
        assert all(item.error is None and item.warning is None for item in plan.items)


def test_a_leaver_does_not_take_the_address_that_another_record_asks_for() -> None:
    leaver, newcomer = record(B, "1", Presence.LEAVING), record(B, "2")
    for payload in ([leaver, newcomer], [newcomer, leaver]):
        items = plan_of(payload, Candidates(employees=[person(1, A, "1")])).items

        assert {told(item) for item in items} == {
            (Action.DEACTIVATED, SyncWarning.EMAIL_NOT_UPDATED),
            (Action.CREATED, None),
        }


@given(draw.records(sectors=st.just(SectorReference(name="S"))))
def test_row_3_nobody_known_means_somebody_new_unless_leaving(sent: EmployeeRecord) -> None:
    item = only(plan_of([sent], Candidates(employees=[])))
    if sent.presence is Presence.LEAVING:
        assert told(item) == (Action.SKIPPED, SyncWarning.UNKNOWN_LEAVER)
        assert item.id is None
    else:
        assert told(item) == (Action.CREATED, None)
        assert item.employee is not None
        assert (item.employee.email, item.employee.external_id) == (sent.email, sent.external_id)
        assert item.employee.is_active


def test_row_4_the_external_id_tracks_a_person_whose_address_changes() -> None:
    known = person(1, A, "1")
    plan = plan_of([record(B, "1")], Candidates(employees=[known]))

    assert told(only(plan)) == (Action.UPDATED, None)
    (change,) = plan.changes
    assert (change.before, change.after.id, change.after.email.text) == (known, known.id, B)


def test_row_4_another_spelling_of_the_same_mailbox_is_an_update() -> None:
    plan = plan_of([record("A@x.example", "1")], Candidates(employees=[person(1, A, "1")]))

    assert told(only(plan)) == (Action.UPDATED, None)
    assert plan.changes[0].after.email.text == "A@x.example"


@pytest.mark.parametrize("held_elsewhere", [frozenset(), frozenset({parse_email(B).key})])
@pytest.mark.parametrize("others", [[], [person(2, B, "2")], [person(2, B)], [person(2, B, archived=True)]])
def test_row_5_a_leaver_is_archived_whoever_has_the_address(
    held_elsewhere: frozenset[EmailKey], others: list[Employee]
) -> None:
    is_taken = bool(held_elsewhere) or any(other.is_active for other in others)
    candidates = Candidates(employees=[person(1, A, "1"), *others], held_elsewhere=held_elsewhere)
    if held_elsewhere and any(other.is_active for other in others):
        return  # one address has one active holder in all companies
    plan = plan_of([record(B, "1", Presence.LEAVING, last_name="New")], candidates)

    (change,) = plan.changes
    assert not change.after.is_active
    assert change.after.last_name == "New"
    assert change.after.email.text == (A if is_taken else B)
    if is_taken:
        assert told(only(plan)) == (Action.DEACTIVATED, SyncWarning.EMAIL_NOT_UPDATED)
    elif others:
        assert told(only(plan)) == (Action.DEACTIVATED, SyncWarning.EMAIL_TAKEN_FROM_ARCHIVED)
    else:
        assert told(only(plan)) == (Action.DEACTIVATED, None)


def test_row_5_a_leaver_found_by_address_is_linked_and_archived() -> None:
    plan = plan_of([record(A, "9", Presence.LEAVING)], Candidates(employees=[person(1, A)]))

    assert told(only(plan)) == (Action.DEACTIVATED, SyncWarning.LINKED_BY_EMAIL)
    assert plan.changes[0].after.external_id == "9"


def test_row_5_an_archived_leaver_sent_again_is_skipped_though_the_address_is_taken() -> None:
    gone = person(1, A, "1", archived=True)
    again = plan_of([record(B, "1", Presence.LEAVING)], Candidates(employees=[gone, person(2, B, "2")]))

    assert told(only(again)) == (Action.SKIPPED, SyncWarning.EMAIL_NOT_UPDATED)


@pytest.mark.parametrize(
    "employees",
    [
        pytest.param([], id="create"),
        pytest.param([person(1, B, "1")], id="address change"),
        pytest.param([person(1, A, "1", archived=True)], id="reactivation"),
        pytest.param([person(1, B, "1", archived=True)], id="reactivation with another address"),
    ],
)
def test_row_6_an_address_of_another_company_is_refused(employees: list[Employee]) -> None:
    plan = plan_of(
        [record(A, "1", Presence.PRESENT)],
        Candidates(employees=employees, held_elsewhere=frozenset({KEY_A})),
    )

    assert told(only(plan)) == (Action.FAILED, SyncError.EMAIL_CONFLICT_OTHER_TENANT)
    assert plan.changes == ()


def test_row_6_an_archived_person_who_stays_away_holds_nothing_that_could_conflict() -> None:
    gone = person(1, A, "1", archived=True)
    plan = plan_of([record(A, "1")], Candidates(employees=[gone], held_elsewhere=frozenset({KEY_A})))

    assert told(only(plan)) == (Action.SKIPPED, None)


@pytest.mark.parametrize("presence", STAYING)
@pytest.mark.parametrize("external_id", [None, "2"])
def test_row_7_the_address_of_an_active_colleague_is_refused(
    presence: Presence, external_id: str | None
) -> None:
    candidates = Candidates(employees=[person(1, A, "1"), person(2, B, external_id)])
    plan = plan_of([record(B, "1", presence)], candidates)

    assert told(only(plan)) == (Action.FAILED, SyncError.EMAIL_CONFLICT)
    assert only(plan).id == draw.numbered_id(1)
    assert plan.changes == ()


def test_row_7_two_people_swap_addresses() -> None:
    candidates = Candidates(employees=[person(1, A, "1"), person(2, B, "2")])
    plan = plan_of([record(B, "1"), record(A, "2")], candidates)

    assert [told(item) for item in plan.items] == [(Action.UPDATED, None)] * 2


def test_row_7_three_people_pass_addresses_on_to_a_free_one() -> None:
    candidates = Candidates(employees=[person(1, A, "1"), person(2, B, "2"), person(3, C, "3")])
    payload = [record(B, "1"), record(C, "2"), record("d@x.example", "3")]

    assert {item.action for item in plan_of(payload, candidates).items} == {Action.UPDATED}


def test_row_7_a_chain_whose_end_is_refused_is_refused_as_a_whole() -> None:
    candidates = Candidates(
        employees=[person(1, A, "1"), person(2, B, "2"), person(3, C, "3")],
        held_elsewhere=frozenset({parse_email("d@x.example").key}),
    )
    payload = [record(B, "1"), record(C, "2"), record("d@x.example", "3")]

    assert [item.error for item in plan_of(payload, candidates).items] == [
        SyncError.EMAIL_CONFLICT,
        SyncError.EMAIL_CONFLICT,
        SyncError.EMAIL_CONFLICT_OTHER_TENANT,
    ]


def test_row_7_the_address_of_a_colleague_who_leaves_in_the_same_payload_is_free() -> None:
    candidates = Candidates(employees=[person(1, A, "1"), person(2, B, "2")])
    for payload in (
        [record(B, "1"), record(Z, "2", Presence.LEAVING)],
        [record(Z, "2", Presence.LEAVING), record(B, "1")],
    ):
        plan = plan_of(payload, candidates)

        assert {item.action for item in plan.items} == {Action.UPDATED, Action.DEACTIVATED}


def test_row_7_a_mailbox_passed_on_by_somebody_no_longer_listed_archives_them() -> None:
    people = [person(1, A, "1"), person(2, B, "2")]
    plan = plan_of([record(B, "1")], Candidates(employees=people, rostered=people))

    assert told(only(plan)) == (Action.UPDATED, None)
    assert plan.absentees == (people[1],)


def test_row_8_an_address_is_taken_from_an_archived_person_who_keeps_their_history() -> None:
    gone = person(2, B, "2", archived=True)
    plan = plan_of([record(B, "1")], Candidates(employees=[person(1, A, "1"), gone]))

    assert told(only(plan)) == (Action.UPDATED, SyncWarning.EMAIL_TAKEN_FROM_ARCHIVED)
    assert [change.after.id for change in plan.changes] == [draw.numbered_id(1)]


@pytest.mark.parametrize("archived", [False, True])
def test_row_9_a_person_without_external_id_is_adopted_by_address(*, archived: bool) -> None:
    plan = plan_of([record(A, "9")], Candidates(employees=[person(1, A, archived=archived)]))

    assert told(only(plan)) == (Action.UPDATED, SyncWarning.LINKED_BY_EMAIL)
    assert plan.changes[0].after == attrs.evolve(
        person(1, A, archived=archived), external_id="9", updated_at=draw.NOW
    )


@pytest.mark.parametrize("presence", Presence)
def test_row_10_an_address_of_somebody_with_another_external_id_is_refused(presence: Presence) -> None:
    plan = plan_of([record(A, "9", presence)], Candidates(employees=[person(1, A, "1")]))

    assert told(only(plan)) == (Action.FAILED, SyncError.EXTERNAL_ID_CONFLICT)
    assert plan.changes == ()


def test_row_10_the_address_is_free_when_its_holder_moves_in_the_same_payload() -> None:
    plan = plan_of([record(A, "9"), record(B, "1")], Candidates(employees=[person(1, A, "1")]))

    assert [told(item) for item in plan.items] == [(Action.CREATED, None), (Action.UPDATED, None)]


def test_row_10_a_recycled_mailbox_in_a_whole_directory_does_not_inherit_a_history() -> None:
    old = person(1, A, "1")
    plan = plan_of([record(A, "9")], Candidates(employees=[old], rostered=[old]))

    assert told(only(plan)) == (Action.CREATED, None)
    assert only(plan).id != old.id
    assert plan.absentees == (old,)
    assert (plan.summary.created, plan.summary.deactivated) == (1, 1)


def test_row_10_the_old_holder_stays_when_the_record_fails_otherwise() -> None:
    old = person(1, A, "1")
    sent = record(A, "9", sector=SectorReference(id="404"))
    plan = plan_of([sent], Candidates(employees=[old], rostered=[old]))

    assert told(only(plan)) == (Action.FAILED, SyncError.UNKNOWN_SECTOR)
    assert plan.changes == ()


def test_row_10_a_holder_who_is_listed_is_not_replaced() -> None:
    old = person(1, A, "1")
    plan = plan_of(
        [record(A, "9"), InvalidRecord(faults=(), external_id="1")],
        Candidates(employees=[old], rostered=[old]),
    )

    assert plan.items[0].error is SyncError.EXTERNAL_ID_CONFLICT
    assert plan.absentees == ()


@pytest.mark.parametrize("presence", STAYING)
def test_row_11_an_address_of_somebody_archived_with_another_id_goes_to_a_new_person(
    presence: Presence,
) -> None:
    gone = person(1, A, "1", archived=True)
    plan = plan_of([record(A, "9", presence)], Candidates(employees=[gone]))

    assert told(only(plan)) == (Action.CREATED, None)
    assert only(plan).id != gone.id


@pytest.mark.parametrize(
    ("presence", "archived", "action"),
    [
        (Presence.PRESENT, False, Action.SKIPPED),
        (Presence.UNSTATED, False, Action.SKIPPED),
        (Presence.LEAVING, False, Action.DEACTIVATED),
        (Presence.PRESENT, True, Action.REACTIVATED),
        (Presence.UNSTATED, True, Action.SKIPPED),
        (Presence.LEAVING, True, Action.SKIPPED),
    ],
)
@pytest.mark.parametrize("external_id", [None, "1"])
def test_row_12_without_external_id_the_address_decides(
    *,
    presence: Presence,
    archived: bool,
    action: Action,
    external_id: str | None,
) -> None:
    known = person(1, A, external_id, archived=archived)
    item = only(plan_of([record(A, presence=presence)], Candidates(employees=[known])))

    assert told(item) == (action, None)
    assert (item.id, item.external_id) == (known.id, external_id)


def test_being_listed_in_a_whole_directory_brings_an_archived_person_back() -> None:
    gone = person(1, A, "1", archived=True)
    plan = plan_of([record(A, "1")], Candidates(employees=[gone], rostered=[]))

    assert told(only(plan)) == (Action.REACTIVATED, None)


@pytest.mark.parametrize(
    ("reference", "outcome"),
    [
        (SectorReference(id="1"), SectorId(1)),
        (SectorReference(name="sales"), SectorId(1)),
        (SectorReference(id="1", name=" SALES "), SectorId(1)),
        (SectorReference(name="Legal"), SectorId(3)),
        (SectorReference(id="9"), SyncError.UNKNOWN_SECTOR),
        (SectorReference(id="1", name="IT"), SyncError.SECTOR_CONFLICT),
        (SectorReference(id="1", name="Legal"), SyncError.SECTOR_CONFLICT),
    ],
)
def test_a_sector_is_found_created_or_refused(
    reference: SectorReference, outcome: SectorId | SyncError
) -> None:
    sectors = [Sector(id=SectorId(1), name="Sales"), Sector(id=SectorId(2), name="IT")]
    plan = plan_of([record(A, sector=reference)], Candidates(employees=[], sectors=sectors))
    item = only(plan)
    if isinstance(outcome, SyncError):
        assert told(item) == (Action.FAILED, outcome)
        assert plan.sectors == ()
    else:
        assert item.employee is not None
        assert item.employee.sector_id == outcome
        assert plan.sectors == ((Sector(id=SectorId(3), name="Legal"),) if reference.name == "Legal" else ())


def test_the_first_spelling_of_a_new_sector_is_kept() -> None:
    payload = [record(A, sector=SectorReference(name="R  D")), record(B, sector=SectorReference(name="r d"))]
    plan = plan_of(payload, Candidates(employees=[]))

    assert plan.sectors == (Sector(id=SectorId(1), name="R D"),)


def test_a_null_sector_clears_it_and_an_absent_one_leaves_it() -> None:
    known = attrs.evolve(person(1, A, "1"), sector_id=SectorId(1))
    candidates = Candidates(employees=[known], sectors=[Sector(id=SectorId(1), name="Sales")])

    assert only(plan_of([record(A, "1")], candidates)).action is Action.SKIPPED
    (change,) = plan_of([record(A, "1", sector=None)], candidates).changes
    assert change.after.sector_id is None


def test_who_left_before_anybody_knew_them_may_be_listed_beside_whoever_has_the_mailbox_now() -> None:
    payload = [record(A, "1", Presence.LEAVING), record(A, "2", Presence.PRESENT)]
    first = plan_of(payload, Candidates(employees=[]))
    again = plan_of(payload, Candidates(employees=[change.after for change in first.changes]))

    for plan, action in ((first, Action.CREATED), (again, Action.SKIPPED)):
        assert told(plan.items[0]) == (Action.SKIPPED, SyncWarning.UNKNOWN_LEAVER)
        assert told(plan.items[1]) == (action, None)


@pytest.mark.parametrize("is_leaver_first", [True, False])
def test_a_leaver_and_a_newcomer_known_by_one_address_alone_are_one_person(*, is_leaver_first: bool) -> None:
    payload = [record(A, "1", Presence.LEAVING), record(A)]
    if not is_leaver_first:
        payload.reverse()
    first = plan_of(payload, Candidates(employees=[]))
    again = plan_of(payload, Candidates(employees=[change.after for change in first.changes]))

    for plan in (first, again):
        assert [None, SyncError.DUPLICATE_IN_PAYLOAD] == [item.error for item in plan.items]
