"""Planning a payload in chunks comes to the same as planning it at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import attrs
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.employees import Action, Employee, EmployeeId, EmployeeRecord, Presence
from awareness_core.records import InvalidRecord, UnchangedPerson, fingerprint_of
from awareness_core.sync import PayloadPlanner, archivals
from awareness_core.sync_plan import Candidates, ChunkPlan, SyncError, SyncItem
from tests.core import strategies as draw
from tests.core.test_sync import PAYLOADS, Payload, applied, directories, fresh_ids, plan_of, told
from tests.core.test_sync_rows import A, B, person, record


def planner_for(before: Candidates) -> PayloadPlanner:
    """A planner at the beginning of a payload for this company."""
    planner = PayloadPlanner(is_whole_directory=before.rostered is not None)
    planner.learn_sectors(before.sectors)
    return planner


def in_chunks(
    payload: Sequence[EmployeeRecord | InvalidRecord], before: Candidates, size: int
) -> tuple[list[SyncItem], Candidates, set[str]]:
    """Items in the order of the payload, the directory afterwards, and the ids of the absentees."""
    planner = planner_for(before)
    ids = fresh_ids()
    state = before
    items: dict[int, SyncItem] = {}
    deferred: list[int] = []
    for start in range(0, len(payload), size):
        chunk = payload[start : start + size]
        plan = planner.plan_chunk(chunk, state, new_ids=ids, now=draw.NOW)
        state = applied(plan, state)
        deferred.extend(start + position for position in plan.deferred)
        items.update({start + position: item for position, item in plan.items.items()})
    rest = planner.plan_chunk(
        [payload[position] for position in deferred],
        state,
        new_ids=ids,
        now=draw.NOW,
        is_last=True,
        was_deferred=True,
    )
    state = applied(rest, state)
    items.update({deferred[position]: item for position, item in rest.items.items()})
    absentees = [
        person_
        for person_ in state.rostered or ()
        if planner.is_missing(person_.external_id, person_.email.key)
    ]
    absentees.extend(planner.replaced)
    final = applied(ChunkPlan(items={}, changes=archivals(absentees, now=draw.NOW)), state)
    return [items[position] for position in range(len(payload))], final, {person_.id for person_ in absentees}


def portrait(person: Employee, sectors: Candidates) -> tuple[object, ...]:
    """Somebody as a reader sees them, without the ids that a plan hands out."""
    names = {sector.id: sector.key for sector in sectors.sectors}
    known = person.id if not person.id.startswith("new-") else None
    plain = attrs.evolve(person, id=draw.numbered_id(0), sector_id=None)
    return known, names.get(person.sector_id) if person.sector_id else None, plain


def contents(candidates: Candidates) -> set[tuple[object, ...]]:
    """The directory as a set of portraits."""
    return {portrait(person_, candidates) for person_ in candidates.employees}


@given(PAYLOADS, directories(), st.integers(min_value=1, max_value=3))
@example([record(B, "1"), record(A, "2")], Candidates(employees=[person(1, A, "1"), person(2, B, "2")]), 1)
@example(
    # A leaver keeps an address that an earlier chunk asked for and may then have.
    [record(B, "1"), record("c@x.example", "2", Presence.LEAVING)],
    Candidates(employees=[person(1, A, "1"), person(2, B, "2"), person(3, "c@x.example", "3")]),
    1,
)
@example(
    # The address of somebody who moved away earlier in the payload is not an archived namesake's again.
    [record(B, "1"), record(A, "9")],
    Candidates(employees=[person(1, A, "1"), person(2, A, archived=True)]),
    1,
)
@example(
    # An unknown leaver looks like somebody whom an earlier chunk archived.
    [record(A, presence=Presence.LEAVING), record(A, "9", Presence.LEAVING)],
    Candidates(employees=[person(1, A, "1")]),
    1,
)
@example(
    # ... or brought back.
    [record(A, presence=Presence.PRESENT), record(A, "9", Presence.LEAVING)],
    Candidates(employees=[person(1, A, "1", archived=True)]),
    1,
)
@example(
    # An unknown leaver looks like somebody whom a later chunk tells of by themselves.
    [record(A, "9", Presence.LEAVING), record(B, "1")],
    Candidates(employees=[person(1, A, "1")]),
    1,
)
@example(
    # ... or of whom no other does.
    [record(A, "9", Presence.LEAVING), record(B, "2")],
    Candidates(employees=[person(1, A, "1")]),
    1,
)
@example(
    # An earlier chunk gave somebody the external id they lacked; they are meant again under another.
    [record(A, "2"), record(A, "1", Presence.LEAVING)],
    Candidates(employees=[person(1, A)]),
    1,
)
def test_chunks_come_to_the_same_as_the_whole(payload: Payload, before: Candidates, size: int) -> None:
    whole = plan_of(payload, before)
    items, after, absentees = in_chunks(payload, before, size)

    assert [told(item) for item in items] == [told(item) for item in whole.items]
    assert contents(after) == contents(applied(whole, before))
    assert absentees == {person_.id for person_ in whole.absentees}


@given(PAYLOADS, directories(), st.integers(min_value=1, max_value=3))
def test_after_every_chunk_no_address_has_two_holders(
    payload: Payload, before: Candidates, size: int
) -> None:
    planner = planner_for(before)
    state = before
    for start in range(0, len(payload), size):
        plan = planner.plan_chunk(
            payload[start : start + size], state, new_ids=fresh_ids_from(start), now=draw.NOW
        )
        state = applied(plan, state)
        held = [person_.email.key for person_ in state.employees if person_.is_active]

        assert len(held) == len(set(held))


def fresh_ids_from(start: int) -> Iterator[EmployeeId]:
    """Ids that no earlier chunk was given."""
    return (EmployeeId(f"new-{start}-{number}") for number in itertools.count())


def test_only_what_others_may_still_decide_is_deferred() -> None:
    planner = PayloadPlanner(is_whole_directory=False)
    candidates = Candidates(employees=[person(1, A, "1"), person(2, B, "2")])
    payload: Payload = [record(B, "1"), record("c@x.example", "3"), InvalidRecord(faults=())]
    plan = planner.plan_chunk(payload, candidates, new_ids=fresh_ids(), now=draw.NOW)

    assert plan.deferred == (0,)
    assert {position: item.error for position, item in plan.items.items()} == {
        1: None,
        2: SyncError.VALIDATION_ERROR,
    }


@given(PAYLOADS, PAYLOADS, directories(), st.data())
def test_a_record_known_by_its_fingerprint_need_not_be_read(
    payload: Payload, newer: Payload, before: Candidates, data: st.DataObject
) -> None:
    first = plan_of([spelt(record_) for record_ in payload], before)
    after = applied(first, before)
    people = {person_.id: person_ for person_ in after.employees}
    known = {
        change.fingerprint: people[change.after.id]
        for change in first.changes
        if change.fingerprint is not None
    }
    again = data.draw(st.permutations([spelt(record_) for record_ in [*payload, *newer]]))
    read = planner_for(after).plan_chunk(again, after, new_ids=fresh_ids(), now=draw.NOW, is_last=True)
    unread = planner_for(after).plan_chunk(
        [unchanged_or_itself(record_, known) for record_ in again],
        after,
        new_ids=fresh_ids(),
        now=draw.NOW,
        is_last=True,
    )

    assert unread.changes == read.changes
    for position, record_ in enumerate(again):
        expected = read.items[position]
        if position not in unread.items:
            person_ = known[spelling_of(record_)]
            assert (expected.action, expected.error, expected.warning) == (Action.SKIPPED, None, None)
            assert (expected.external_id, expected.email) == (person_.external_id, person_.email.text)
            assert expected.id == person_.id
        elif expected.error is SyncError.DUPLICATE_IN_PAYLOAD:
            assert unread.items[position].error is SyncError.DUPLICATE_IN_PAYLOAD
        else:
            assert told(unread.items[position]) == told(expected)


def test_whoever_is_named_by_an_unchanged_record_that_does_not_count_keeps_their_mailbox() -> None:
    holder = person(1, A, "1")
    planner = PayloadPlanner(is_whole_directory=True)
    payload: list[EmployeeRecord | InvalidRecord | UnchangedPerson] = [
        record(A, "2"),
        UnchangedPerson(id=holder.id, external_id="1", email=A, email_key=holder.email.key),
    ]
    candidates = Candidates(employees=[holder], rostered=[holder])
    plan = planner.plan_chunk(payload, candidates, new_ids=fresh_ids(), now=draw.NOW, is_last=True)

    assert () == plan.changes
    assert [SyncError.EXTERNAL_ID_CONFLICT, SyncError.DUPLICATE_IN_PAYLOAD] == [
        plan.items[position].error for position in (0, 1)
    ]


def spelling_of(record_: EmployeeRecord | InvalidRecord) -> bytes:
    """The fingerprint, or nothing that any fingerprint could be."""
    return record_.fingerprint or b"" if isinstance(record_, EmployeeRecord) else b""


def spelt(record_: EmployeeRecord | InvalidRecord) -> EmployeeRecord | InvalidRecord:
    """The record with the fingerprint of its spelling."""
    if isinstance(record_, InvalidRecord):
        return record_
    return attrs.evolve(record_, fingerprint=fingerprint_of(repr(record_).encode()))


def unchanged_or_itself(
    record_: EmployeeRecord | InvalidRecord, known: Mapping[bytes, Employee]
) -> EmployeeRecord | InvalidRecord | UnchangedPerson:
    """What a store's look-up by fingerprint makes of a record."""
    person_ = known.get(spelling_of(record_))
    if person_ is None:
        return record_
    return UnchangedPerson(
        id=person_.id,
        external_id=person_.external_id,
        email=person_.email.text,
        email_key=person_.email.key,
    )
