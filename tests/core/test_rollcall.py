"""What the records of one payload claim: noted step by step, it agrees with a look at all of them together."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.emails import parse_email
from awareness_core.employees import Employee, EmployeeRecord, Presence, address_precedence, archive
from awareness_core.records import InvalidRecord, UnchangedPerson
from awareness_core.rollcall import Rollcall, asks_for_address
from tests.core.strategies import EXTERNAL_IDS, NOW, PERSON, directories, few_emails, numbered_id, records

A, B, C = (parse_email(f"{letter}@x.example") for letter in "abc")
RECORD = EmployeeRecord(email=A, last_name="b", first_name="a")

INVALID = st.builds(
    InvalidRecord,
    faults=st.just(()),
    external_id=st.none() | st.sampled_from(("", " ", *EXTERNAL_IDS, " 1 ")),
    email=few_emails().map(str) | st.sampled_from(("nobody", " A@x.example")),
)

Claims = list[tuple[EmployeeRecord, Employee | None]]


PAYLOADS = st.lists(records(), max_size=5)
DIRECTORIES = directories(max_size=4)


@st.composite
def claims(draw: st.DrawFn) -> Claims:
    """Records, each with whom it means."""
    people: list[Employee | None] = [None, *draw(DIRECTORIES)]
    return [(record, draw(st.sampled_from(people))) for record in draw(PAYLOADS)]


@given(claims())
def test_a_record_counts_unless_one_that_counts_named_the_same_person(payload: Claims) -> None:
    rollcall = Rollcall()
    counted: Claims = []
    for record, person in payload:
        expected = not any(_same(record, person, *earlier) for earlier in counted)

        assert expected == rollcall.claim(record, person)
        if expected:
            counted.append((record, person))


@given(claims())
def test_movers_are_those_whom_counting_records_asked_away_from_their_address(payload: Claims) -> None:
    rollcall = Rollcall()
    movers = [
        person
        for record, person in payload
        if rollcall.claim(record, person) and person is not None and _asks_away(record, person)
    ]

    people = [person for _, person in payload if person is not None]
    assert {person.id for person in movers} == {
        person.id for person in people if rollcall.is_mover(person.id)
    }
    for email in (A, B, C):
        former = [person for person in movers if person.email.key == email.key]
        assert max(former, key=address_precedence, default=None) == rollcall.former_holder(email.key)


def test_of_two_former_holders_of_one_address_the_one_it_meant_is_remembered() -> None:
    active = attrs.evolve(PERSON, email=C)
    archived = archive(attrs.evolve(PERSON, id=numbered_id(2), email=C), now=NOW)
    claimed = [(attrs.evolve(RECORD, email=A), active), (attrs.evolve(RECORD, email=B), archived)]

    for order in (claimed, claimed[::-1]):
        rollcall = Rollcall()
        assert [True, True] == [rollcall.claim(record, person) for record, person in order]
        assert active == rollcall.former_holder(C.key)


@given(claims(), claims())
def test_a_person_known_by_fingerprint_claims_as_the_record_that_was_not_read_would(
    payload: Claims, others: Claims
) -> None:
    one, other = Rollcall(), Rollcall()
    for record, person in [*payload, *others]:
        if person is None or record.email.key != person.email.key:
            assert one.claim(record, person) == other.claim(record, person)
            continue
        unread = attrs.evolve(record, external_id=person.external_id, presence=Presence.UNSTATED)
        unchanged = UnchangedPerson(
            id=person.id, external_id=person.external_id, email=str(person.email), email_key=person.email.key
        )
        assert one.claim(unread, person) == other.claim_unchanged((unchanged,))
    for email in (A, B, C):
        assert one.former_holder(email.key) == other.former_holder(email.key)
    for external_id in EXTERNAL_IDS:
        assert one.is_mentioned(external_id=external_id) == other.is_mentioned(external_id=external_id)


@pytest.mark.parametrize("external_id", [None, "1"])
def test_a_person_known_by_fingerprint_is_mentioned_as_the_record_that_was_not_read_would(
    external_id: str | None,
) -> None:
    read, unread = Rollcall(), Rollcall()
    read.mention(attrs.evolve(RECORD, external_id=external_id))
    unread.mention_unchanged(
        UnchangedPerson(id=PERSON.id, external_id=external_id, email=str(A), email_key=A.key)
    )

    for rollcall in (read, unread):
        assert [external_id is not None, True, False] == [
            rollcall.is_mentioned(external_id="1"),
            rollcall.is_mentioned(external_id=None, email_key=A.key),
            rollcall.is_mentioned(external_id=None, email_key=B.key),
        ]


@pytest.mark.parametrize("presence", Presence)
@pytest.mark.parametrize(
    ("external_id", "known_as", "uses_address"),
    [
        (None, "nobody", True),
        (None, None, True),
        (None, "1", True),
        ("1", "nobody", False),
        ("1", "1", False),
        ("1", None, True),
        ("1", "2", True),
    ],
)
def test_a_leaver_known_by_external_id_or_not_at_all_has_no_use_for_the_address(
    *, presence: Presence, external_id: str | None, known_as: str | None, uses_address: bool
) -> None:
    record = attrs.evolve(RECORD, external_id=external_id, presence=presence)
    person = None if known_as == "nobody" else attrs.evolve(PERSON, external_id=known_as)

    expected = uses_address or presence is not Presence.LEAVING
    assert expected == asks_for_address(record, person) == _asks(record, person)


def test_a_leaver_leaves_the_address_to_a_successor_whatever_the_order() -> None:
    person = attrs.evolve(PERSON, external_id="1")
    leaver = (attrs.evolve(RECORD, external_id="1", presence=Presence.LEAVING), person)
    successor = (attrs.evolve(RECORD, external_id="2"), None)

    for order in ((leaver, successor), (successor, leaver)):
        rollcall = Rollcall()
        assert [True, True] == [rollcall.claim(record, meant) for record, meant in order]
        assert (True, person) == (rollcall.is_mover(person.id), rollcall.former_holder(A.key))
        assert rollcall.is_mentioned(external_id=None, email_key=A.key)


@given(claims())
def test_an_address_is_claimed_by_whichever_counting_record_asks_for_it(payload: Claims) -> None:
    rollcall = Rollcall()
    asked = {
        record.email.key
        for record, person in payload
        if rollcall.claim(record, person) and _asks(record, person)
    }

    for email in (A, B, C):
        assert (email.key in asked, False) == (
            rollcall.is_claimed(email.key),
            rollcall.is_newcomers(email.key),
        )


def test_an_address_that_went_to_somebody_new_is_remembered_as_theirs() -> None:
    rollcall = Rollcall()
    rollcall.claim(RECORD, None)
    rollcall.note_newcomer(A.key)

    assert [(True, True), (False, False)] == [
        (rollcall.is_claimed(email.key), rollcall.is_newcomers(email.key)) for email in (A, B)
    ]


def test_a_record_that_does_not_count_claims_nothing() -> None:
    rollcall = Rollcall()
    rollcall.claim(attrs.evolve(RECORD, external_id="1"), None)

    assert not rollcall.claim(attrs.evolve(RECORD, external_id="2"), None)
    assert rollcall.claim(attrs.evolve(RECORD, email=B, external_id="2"), None)


def test_a_person_asked_away_from_the_address_is_known_even_without_an_external_id() -> None:
    rollcall = Rollcall()
    rollcall.claim(attrs.evolve(RECORD, email=B, external_id="1"), PERSON)

    assert rollcall.is_mover(PERSON.id)
    assert not rollcall.is_mover(numbered_id(2))
    assert not rollcall.claim(attrs.evolve(RECORD, email=C, external_id="2"), PERSON)


def test_a_person_who_gets_a_new_external_id_is_known_by_the_old_one_too() -> None:
    rollcall = Rollcall()
    person = attrs.evolve(PERSON, external_id="old")
    rollcall.claim(attrs.evolve(RECORD, external_id="new"), person)

    assert not rollcall.claim(attrs.evolve(RECORD, email=B, external_id="old"), None)
    assert rollcall.is_mentioned(external_id="old")


@given(claims(), st.lists(records() | INVALID, max_size=4))
def test_whoever_is_named_by_any_record_is_mentioned(
    payload: Claims, others: list[EmployeeRecord | InvalidRecord]
) -> None:
    rollcall = Rollcall()
    for record, person in payload:
        if not rollcall.claim(record, person):
            rollcall.mention(record)
    for other in others:
        rollcall.mention(other)

    named = [*(record for record, _ in payload), *others]
    ids = {(record.external_id or "").strip() for record in named} - {""}
    known = {person.external_id for _, person in payload if person is not None}
    for external_id in EXTERNAL_IDS:
        if external_id in ids or external_id not in known:
            assert (external_id in ids) == rollcall.is_mentioned(external_id=external_id)
    keys = {str(record.email).strip().lower() for record in named}
    for email in (A, B, C):
        assert (email.key in keys) == rollcall.is_mentioned(external_id=None, email_key=email.key)


@pytest.mark.parametrize("text", ["1", " 1 ", "\u30001"])
def test_an_invalid_record_mentions_an_external_id_however_it_is_blanked(text: str) -> None:
    rollcall = Rollcall()
    rollcall.mention(InvalidRecord(faults=(), external_id=text, email="nobody"))

    assert rollcall.is_mentioned(external_id="1")
    assert not rollcall.is_mentioned(external_id=text.strip() + "x", email_key=A.key)


def test_an_invalid_record_mentions_its_address_where_it_can_be_read() -> None:
    rollcall = Rollcall()
    rollcall.mention(InvalidRecord(faults=(), email=" A@X.EXAMPLE "))

    assert rollcall.is_mentioned(external_id=None, email_key=A.key)
    assert rollcall.is_mentioned(external_id="unknown", email_key=A.key)
    assert not rollcall.is_mentioned(external_id="unknown", email_key=B.key)


def _asks(record: EmployeeRecord, person: Employee | None) -> bool:
    """Told by who does not ask: a leaver found by external id, or sought by it and not found at all."""
    is_found_by_id = person is not None and person.external_id == record.external_id
    return not (
        record.presence is Presence.LEAVING
        and record.external_id is not None
        and (person is None or is_found_by_id)
    )


def _asks_away(record: EmployeeRecord, person: Employee) -> bool:
    return record.email.key != person.email.key or not _asks(record, person)


def _same(
    record: EmployeeRecord, person: Employee | None, counted: EmployeeRecord, meant: Employee | None
) -> bool:
    """Whether a record names whom one that counts has named: by address, by external id, or by who is meant."""
    taken = {counted.external_id, None if meant is None else meant.external_id} - {None}
    has_moved = meant is not None and _asks_away(counted, meant)
    return (
        (record.email.key == counted.email.key and _asks(record, person) and _asks(counted, meant))
        or record.external_id in taken
        or (person is not None and person.external_id in taken)
        or (person is not None and meant is not None and person.id == meant.id and has_moved)
        or (
            (person, meant) == (None, None)
            and record.email.key == counted.email.key
            and (_takes_up_what_is_left_by(record, counted) or _takes_up_what_is_left_by(counted, record))
        )
    )


def _takes_up_what_is_left_by(one: EmployeeRecord, other: EmployeeRecord) -> bool:
    return one.external_id is None and other.external_id is not None and other.presence is Presence.LEAVING
