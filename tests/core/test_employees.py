"""What a record does to a person: the table of states, the laws of amending, and how somebody gets in."""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.absent import ABSENT
from awareness_core.emails import EmailAddress, parse_email
from awareness_core.employees import (
    TRANSITIONS,
    Access,
    Employee,
    EmployeeChange,
    EmployeeRecord,
    EmployeeState,
    InvitationHistory,
    Presence,
    access,
    address_precedence,
    amend,
    archive,
    forget_password,
    hire,
    log_in_first,
    search_text,
)
from awareness_core.sectors import SectorId
from awareness_core.tenants import Company
from awareness_core.texts import folded_name
from tests.core.strategies import (
    COMPANY,
    NOW,
    PERSON,
    companies,
    employees,
    few_emails,
    moments,
    names,
    numbered_id,
    records,
)

TABLE = """
    none      present   active    created
    none      unstated  active    created
    none      leaving   none      skipped
    active    present   active    updated
    active    unstated  active    updated
    active    leaving   archived  deactivated
    archived  present   active    reactivated
    archived  unstated  archived  updated
    archived  leaving   archived  updated
"""
"""State, input, next state, action. `updated` reads `skipped` when nothing differs."""

CLEARABLE = ("job_title", "phone", "address")
STATES = st.sampled_from(EmployeeState)
SECTORS = st.none() | st.integers(min_value=1, max_value=4).map(SectorId)
ACTIVE = employees(states=(EmployeeState.ACTIVE,))
ARCHIVED = employees(states=(EmployeeState.ARCHIVED,))


def test_every_state_meets_every_presence_as_the_table_says() -> None:
    actual = {
        (
            "none" if state is None else state.value,
            presence.value,
            "none" if transition.next is None else transition.next.value,
            transition.action.value,
        )
        for (state, presence), transition in TRANSITIONS.items()
    }

    assert {tuple(line.split()) for line in TABLE.strip().splitlines()} == actual
    assert {(state, presence) for state in (None, *EmployeeState) for presence in Presence} == set(
        TRANSITIONS
    )


@given(records(), SECTORS, moments())
def test_a_hired_person_is_active_and_as_the_record_says(
    record: EmployeeRecord, sector_id: SectorId | None, now: datetime
) -> None:
    expected = Employee(
        id=numbered_id(1),
        external_id=record.external_id,
        email=record.email,
        last_name=record.last_name,
        first_name=record.first_name,
        job_title=None if record.job_title is ABSENT else record.job_title,
        phone=None if record.phone is ABSENT else record.phone,
        address=None if record.address is ABSENT else record.address,
        sector_id=sector_id,
        state=EmployeeState.ACTIVE,
        first_login_at=None,
        has_password=False,
        invitation=InvitationHistory(last_attempt_at=None, last_sent_at=None, live_until=None),
        created_at=now,
        updated_at=now,
        archived_at=None,
    )

    assert expected == hire(record, employee_id=numbered_id(1), sector_id=sector_id, now=now)


@given(
    person=employees(), record=records(), email=few_emails(), sector_id=SECTORS, state=STATES, now=moments()
)
def test_amending_writes_the_fields_and_leaves_the_history(
    *,
    person: Employee,
    record: EmployeeRecord,
    email: EmailAddress,
    sector_id: SectorId | None,
    state: EmployeeState,
    now: datetime,
) -> None:
    after = amend(person, record, email=email, sector_id=sector_id, next_state=state, now=now)

    assert (email, sector_id, state) == (after.email, after.sector_id, after.state)
    assert (record.last_name, record.first_name) == (after.last_name, after.first_name)
    assert (record.external_id or person.external_id) == after.external_id
    assert (person.id, person.created_at, person.first_login_at) == (
        after.id,
        after.created_at,
        after.first_login_at,
    )


@pytest.mark.parametrize("field", CLEARABLE)
@given(employees(), records(), STATES)
def test_absent_leaves_null_clears_and_a_text_replaces(
    field: str, person: Employee, record: EmployeeRecord, state: EmployeeState
) -> None:
    after = _amended(person, record, state=state)

    sent = getattr(record, field)
    assert (getattr(person, field) if sent is ABSENT else sent) == getattr(after, field)


@given(
    person=employees(),
    record=records(),
    email=few_emails(),
    sector_id=SECTORS,
    state=STATES,
    now=moments(),
    later=moments(),
)
def test_amending_twice_by_the_same_record_changes_nothing_the_second_time(
    *,
    person: Employee,
    record: EmployeeRecord,
    email: EmailAddress,
    sector_id: SectorId | None,
    state: EmployeeState,
    now: datetime,
    later: datetime,
) -> None:
    once = amend(person, record, email=email, sector_id=sector_id, next_state=state, now=now)

    assert once is amend(once, record, email=email, sector_id=sector_id, next_state=state, now=later)


@given(employees(), moments())
def test_a_record_that_says_what_is_stored_is_no_change(person: Employee, now: datetime) -> None:
    record = EmployeeRecord(email=person.email, last_name=person.last_name, first_name=person.first_name)

    assert person is _amended(person, record, now=now)


@given(employees(), records(), STATES, moments())
def test_the_time_of_the_update_moves_exactly_when_something_differs(
    person: Employee, record: EmployeeRecord, state: EmployeeState, now: datetime
) -> None:
    after = _amended(person, record, state=state, now=now)

    same_but_for_time = attrs.evolve(after, updated_at=person.updated_at)
    assert (person.updated_at if same_but_for_time == person else now) == after.updated_at


@given(ACTIVE, moments())
def test_archiving_ends_the_password_and_the_live_invitation_and_nothing_else(
    person: Employee, now: datetime
) -> None:
    gone = archive(person, now=now)

    assert (False, False, None, now, now) == (
        gone.is_active,
        gone.has_password,
        gone.invitation.live_until,
        gone.archived_at,
        gone.updated_at,
    )
    assert person == attrs.evolve(
        gone,
        state=EmployeeState.ACTIVE,
        has_password=person.has_password,
        archived_at=None,
        updated_at=person.updated_at,
        invitation=attrs.evolve(gone.invitation, live_until=person.invitation.live_until),
    )


@given(ACTIVE, records(), moments())
def test_a_leaver_is_archived_with_the_other_fields_saved(
    person: Employee, record: EmployeeRecord, now: datetime
) -> None:
    stays = _amended(person, record, state=EmployeeState.ACTIVE, now=now)

    assert archive(stays, now=now) == _amended(person, record, state=EmployeeState.ARCHIVED, now=now)


@given(ARCHIVED, records(), moments())
def test_an_archived_person_who_stays_so_keeps_the_date_of_leaving(
    person: Employee, record: EmployeeRecord, now: datetime
) -> None:
    assert person.archived_at == _amended(person, record, state=EmployeeState.ARCHIVED, now=now).archived_at


@given(ARCHIVED, records(), companies(), moments())
def test_a_reactivated_person_keeps_the_history_and_awaits_access_again(
    person: Employee, record: EmployeeRecord, company: Company, now: datetime
) -> None:
    back = _amended(person, record, state=EmployeeState.ACTIVE, now=now)

    assert (True, None, False, now) == (back.is_active, back.archived_at, back.has_password, back.updated_at)
    assert (person.id, person.first_login_at, person.created_at, person.invitation) == (
        back.id,
        back.first_login_at,
        back.created_at,
        back.invitation,
    )
    assert (Access.SSO if back.email.domain in company.sso_domains else Access.AWAITING_ACCESS) == access(
        back, company
    )


@given(ACTIVE, companies(), moments())
def test_leaving_and_coming_back_costs_the_password_only(
    person: Employee, company: Company, now: datetime
) -> None:
    record = EmployeeRecord(email=person.email, last_name=person.last_name, first_name=person.first_name)
    back = _amended(archive(person, now=now), record, state=EmployeeState.ACTIVE, now=now)

    assert back == attrs.evolve(
        person,
        has_password=False,
        invitation=attrs.evolve(person.invitation, live_until=None),
        updated_at=now,
    )


@given(ACTIVE, companies(), moments())
def test_a_first_login_is_remembered_and_uses_up_the_invitation(
    person: Employee, company: Company, now: datetime
) -> None:
    inside = log_in_first(person, now=now)

    assert (
        attrs.evolve(
            person,
            first_login_at=now if person.first_login_at is None else person.first_login_at,
            has_password=True,
            updated_at=now,
            invitation=attrs.evolve(person.invitation, live_until=None),
        )
        == inside
    )
    assert access(inside, company) in {Access.SSO, Access.LOGGED_IN}


@pytest.mark.parametrize(
    ("is_sso", "has_logged_in", "has_password", "is_active", "expected"),
    [
        (True, False, False, True, Access.SSO),
        (True, True, True, True, Access.SSO),
        (True, False, False, False, Access.SSO),
        (False, True, True, True, Access.LOGGED_IN),
        (False, True, False, True, Access.AWAITING_ACCESS),
        (False, False, False, True, Access.AWAITING_ACCESS),
        (False, True, False, False, None),
        (False, False, False, False, None),
    ],
)
def test_access_follows_from_the_facts(
    *,
    is_sso: bool,
    has_logged_in: bool,
    has_password: bool,
    is_active: bool,
    expected: Access | None,
) -> None:
    person = attrs.evolve(
        PERSON,
        first_login_at=NOW if has_logged_in else None,
        has_password=has_password,
        state=EmployeeState.ACTIVE if is_active else EmployeeState.ARCHIVED,
    )
    company = attrs.evolve(COMPANY, sso_domains=frozenset({"x.example" if is_sso else "other.example"}))

    assert expected == access(person, company)


@given(employees(), companies())
def test_a_password_without_a_first_login_is_not_yet_access(person: Employee, company: Company) -> None:
    odd = attrs.evolve(person, has_password=True, first_login_at=None)

    assert Access.LOGGED_IN != access(odd, company)


@pytest.mark.parametrize(
    ("before", "after", "ends"),
    [
        (None, EmployeeState.ACTIVE, False),
        (EmployeeState.ACTIVE, EmployeeState.ACTIVE, False),
        (EmployeeState.ACTIVE, EmployeeState.ARCHIVED, True),
        (EmployeeState.ARCHIVED, EmployeeState.ARCHIVED, False),
        (EmployeeState.ARCHIVED, EmployeeState.ACTIVE, False),
    ],
)
@given(person=employees())
def test_leaving_ends_access(
    *,
    before: EmployeeState | None,
    after: EmployeeState,
    ends: bool,
    person: Employee,
) -> None:
    change = EmployeeChange(
        before=None if before is None else attrs.evolve(person, state=before),
        after=attrs.evolve(person, state=after),
    )

    assert ends == change.ends_access


@given(employees(), companies(), moments())
def test_whoever_forgets_their_password_awaits_access_and_keeps_everything_else(
    person: Employee, company: Company, now: datetime
) -> None:
    inside = attrs.evolve(person, state=EmployeeState.ACTIVE, archived_at=None, has_password=True)
    anew = forget_password(inside, now=now)

    assert EmployeeChange(before=inside, after=anew).ends_access
    assert Access.LOGGED_IN is not access(anew, company)
    assert None is anew.invitation.live_until
    kept = attrs.evolve(anew, has_password=True, invitation=inside.invitation, updated_at=inside.updated_at)
    assert inside == kept


@given(employees(), st.sampled_from(("{0}", "{1}", "{2}", "{0} {1}", "{1} {0}")))
def test_a_search_finds_names_in_either_order_and_the_address(person: Employee, template: str) -> None:
    sought = template.format(person.first_name, person.last_name, person.email.text)

    assert folded_name(sought) in search_text(person)


@given(names(), names())
def test_what_is_searched_is_folded_already(first_name: str, last_name: str) -> None:
    person = attrs.evolve(PERSON, first_name=first_name, last_name=last_name)

    assert search_text(person) == folded_name(search_text(person))


@given(employees(), employees(), st.booleans())
def test_an_address_means_the_active_person_else_the_one_who_left_last_else_the_greater_id(
    one: Employee,
    other: Employee,
    together: bool,  # noqa: FBT001
) -> None:
    if together and not other.is_active:
        other = attrs.evolve(other, archived_at=one.archived_at or other.archived_at)

    expected = (one, other)[_later(one, other)]

    assert expected == max(other, one, key=address_precedence) == max(one, other, key=address_precedence) or (
        one.id == other.id
    )


@given(ACTIVE)
def test_a_person_is_a_value_and_does_not_change(person: Employee) -> None:
    copy = attrs.evolve(person)
    archive(person, now=NOW)
    log_in_first(person, now=NOW)

    assert copy == person
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        person.last_name = "b"  # type: ignore[misc]


@given(employees(), records(), few_emails(), moments())
def test_with_another_address_somebody_was_never_invited_and_keeps_the_rest(
    person: Employee, record: EmployeeRecord, email: EmailAddress, now: datetime
) -> None:
    stays = _amended(person, record, now=now)
    there = amend(person, record, email=email, sector_id=person.sector_id, next_state=person.state, now=now)

    is_same = email.key == person.email.key
    assert (person.invitation if is_same else InvitationHistory()) == there.invitation
    assert is_same is not EmployeeChange(before=person, after=there).moves_address
    assert attrs.evolve(stays, email=email, invitation=there.invitation, updated_at=now) == attrs.evolve(
        there, updated_at=now
    )


def test_another_spelling_of_an_address_and_a_new_person_move_nothing() -> None:
    shouted = attrs.evolve(PERSON, email=parse_email(PERSON.email.text.upper()))

    assert not EmployeeChange(before=PERSON, after=shouted).moves_address
    assert not EmployeeChange(before=None, after=PERSON).moves_address


def _amended(
    person: Employee,
    record: EmployeeRecord,
    *,
    state: EmployeeState | None = None,
    now: datetime = NOW + timedelta(days=9999),
) -> Employee:
    """`person` amended, with the address and the sector that they had."""
    return amend(
        person,
        record,
        email=person.email,
        sector_id=person.sector_id,
        next_state=person.state if state is None else state,
        now=now,
    )


def _later(one: Employee, other: Employee) -> bool:
    """Whether the address of both means `other`."""
    if one.is_active != other.is_active:
        return other.is_active
    if one.archived_at != other.archived_at and one.archived_at is not None and other.archived_at is not None:
        return other.archived_at > one.archived_at
    return other.id > one.id
