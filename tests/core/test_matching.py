"""Whom a record means: external id first, then address."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from awareness_core.emails import InvalidEmail, parse_email
from awareness_core.employees import Employee, EmployeeRecord
from awareness_core.matching import (
    PeopleIndex,
    mentioned_email_keys,
    mentioned_external_ids,
)
from awareness_core.records import InvalidRecord
from awareness_core.rollcall import Rollcall
from tests.core import strategies as draw


def naive_holder(record: EmployeeRecord, people: list[Employee]) -> Employee | None:
    """The active holder of the record's address, else the most recently archived person who has it."""
    same = [person for person in people if person.email.key == record.email.key]
    active = [person for person in same if person.is_active]
    if active:
        return active[0]
    return max(same, key=lambda person: (person.archived_at, person.id), default=None)


@given(draw.records(), draw.directories())
def test_a_record_means_the_person_with_its_external_id_whatever_the_address(
    record: EmployeeRecord, people: list[Employee]
) -> None:
    match = PeopleIndex(people, Rollcall()).match(record)
    with_id = [
        person
        for person in people
        if person.external_id is not None and person.external_id == record.external_id
    ]

    if with_id:
        assert match.person == with_id[0]
        assert not match.linked


@given(draw.records(), draw.directories())
def test_without_a_known_external_id_the_address_decides_unless_it_is_somebody_with_another_id(
    record: EmployeeRecord, people: list[Employee]
) -> None:
    known_ids = {person.external_id for person in people} - {None}
    if record.external_id in known_ids:
        return
    match = PeopleIndex(people, Rollcall()).match(record)
    holder = naive_holder(record, people)

    if holder is None:
        assert (match.person, match.rival) == (None, None)
    elif record.external_id is None or holder.external_id is None:
        assert (match.person, match.rival) == (holder, None)
        assert match.linked == (record.external_id is not None)
    else:
        assert (match.person, match.rival) == (None, holder)


@given(draw.records(), draw.directories())
def test_a_rival_is_another_person_with_the_same_address(
    record: EmployeeRecord, people: list[Employee]
) -> None:
    match = PeopleIndex(people, Rollcall()).match(record)

    if match.rival is not None:
        assert match.rival != match.person
        assert match.rival.email.key == record.email.key
        assert match.rival == naive_holder(record, people)


@given(draw.records(), draw.directories())
def test_an_archived_namesake_is_in_nobodys_way_who_has_the_address_already(
    record: EmployeeRecord, people: list[Employee]
) -> None:
    match = PeopleIndex(people, Rollcall()).match(record)

    if match.person is not None and match.person.email.key == record.email.key:
        assert match.rival is None or match.rival.is_active


@given(draw.records(), draw.directories(), st.randoms())
def test_the_order_in_which_people_were_loaded_does_not_matter(
    record: EmployeeRecord, people: list[Employee], shuffler: random.Random
) -> None:
    shuffled = people.copy()
    shuffler.shuffle(shuffled)

    assert PeopleIndex(shuffled, Rollcall()).match(record) == PeopleIndex(people, Rollcall()).match(record)


def invalid_records() -> st.SearchStrategy[InvalidRecord]:
    """Records that broke a constraint, with whatever was sent as their identity."""
    return st.builds(
        InvalidRecord,
        faults=st.just(()),
        external_id=st.none() | st.just("") | draw.external_ids().map(lambda text: f" {text} "),
        email=draw.email_texts() | draw.hostile_texts(),
    )


@given(st.lists(draw.records() | invalid_records(), max_size=6))
def test_whatever_any_record_names_is_mentioned(records: list[EmployeeRecord | InvalidRecord]) -> None:
    ids, keys = set(), set()
    rollcall = Rollcall()
    for record in records:
        rollcall.mention(record)
        ids.add((record.external_id or "").strip())
        try:
            email = parse_email(record.email) if isinstance(record, InvalidRecord) else record.email
        except InvalidEmail:
            continue
        keys.add(email.key)

    assert mentioned_external_ids(records) == ids - {""}
    assert mentioned_email_keys(records) == keys
    assert all(rollcall.is_mentioned(external_id=external_id) for external_id in ids - {""})
    assert all(rollcall.is_mentioned(external_id=None, email_key=key) for key in keys)
    assert not rollcall.is_mentioned(external_id="nobody", email_key=parse_email("nobody@x.example").key)
