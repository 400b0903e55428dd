"""Who is invited: the table of eligibility, the order, the cap, and that calling again and again ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.employees import Employee, EmployeeId, EmployeeState, InvitationHistory
from awareness_core.invitations import (
    MAX_PER_CALL,
    PAUSE,
    InvitationPlan,
    InvitationReport,
    InvitationResult,
    InvitationStatus,
    InvitationSummary,
    Reason,
    ineligibility,
    last_attempts,
    plan_invitations,
    settle,
)
from awareness_core.tenants import Company
from tests.core.strategies import (
    COMPANY,
    NOW,
    PERSON,
    companies,
    directories,
    employee_ids,
    employees,
    moments,
    numbered_id,
)

TABLE = """
    archived  sso  logged_in  attempted_lately  live  | without force      with force
    yes       any  any        any               any   | archived           archived
    no        yes  any        any               any   | sso                sso
    no        no   yes        any               any   | already_logged_in  already_logged_in
    no        no   no         yes               any   | recently_invited   recently_invited
    no        no   no         no                yes   | already_invited    invited
    no        no   no         no                no    | invited            invited
"""
"""The rows of the eligibility table; `any` stands for both."""

ROWS = [line.replace("|", "").split() for line in TABLE.strip().splitlines()[1:]]
TICK = timedelta(milliseconds=1)
SELECTIONS = st.none() | st.lists(employee_ids(), max_size=8)
CAPS = st.integers(min_value=1, max_value=4)


@given(employees(), companies())
def test_every_person_meets_the_row_of_the_table_that_is_theirs(person: Employee, company: Company) -> None:
    assert [_by_table(person, company, force=force) for force in (False, True)] == [
        _answer(person, company, force=force) for force in (False, True)
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[-2])
@given(employees(), companies(), st.data())
def test_each_row_of_the_table_holds(
    row: Sequence[str], person: Employee, company: Company, data: st.DataObject
) -> None:
    archived, sso, logged_in, lately, live = (
        {"yes": True, "no": False}.get(cell) if cell != "any" else data.draw(st.booleans())
        for cell in row[:5]
    )
    attempt = NOW - (PAUSE - TICK if lately else PAUSE)
    somebody = attrs.evolve(
        person,
        state=EmployeeState.ARCHIVED if archived else EmployeeState.ACTIVE,
        first_login_at=NOW if logged_in else person.first_login_at,
        has_password=bool(logged_in),
        invitation=InvitationHistory(
            last_attempt_at=attempt, last_sent_at=attempt, live_until=NOW + TICK if live else NOW
        ),
    )
    domains = company.sso_domains - {person.email.domain} | ({person.email.domain} if sso else set())
    somewhere = attrs.evolve(company, sso_domains=domains)

    assert row[5:] == [_answer(somebody, somewhere, force=force) for force in (False, True)]


def test_the_pause_is_the_choices() -> None:
    assert (timedelta(minutes=15), 100) == (PAUSE, MAX_PER_CALL)


@given(moments(), companies(), st.booleans())
def test_somebody_may_be_attempted_again_after_exactly_the_pause(
    attempted_at: datetime,
    company: Company,
    force: bool,  # noqa: FBT001
) -> None:
    person = _awaiting(1, InvitationHistory(last_attempt_at=attempted_at))
    company = attrs.evolve(company, sso_domains=frozenset())

    assert [Reason.RECENTLY_INVITED, Reason.RECENTLY_INVITED, None] == [
        ineligibility(person, company, force=force, now=now)
        for now in (attempted_at, attempted_at + PAUSE - TICK, attempted_at + PAUSE)
    ]


@given(moments())
def test_an_invitation_lives_until_its_very_expiry(expiry: datetime) -> None:
    long_ago = expiry - timedelta(days=7)
    person = _awaiting(
        1, InvitationHistory(last_attempt_at=long_ago, last_sent_at=long_ago, live_until=expiry)
    )

    assert [Reason.ALREADY_INVITED, None] == [
        ineligibility(person, COMPANY, force=False, now=now) for now in (expiry - TICK, expiry)
    ]


@given(directories(), companies(), SELECTIONS, st.booleans(), CAPS)
def test_the_plan_is_what_the_table_says_of_everyone_in_turn(
    people: list[Employee],
    company: Company,
    selection: list[EmployeeId] | None,
    force: bool,  # noqa: FBT001
    cap: int,
) -> None:
    plan = plan_invitations(people, company, selection=selection, force=force, now=NOW, cap=cap)

    assert _naive_plan(people, company, selection, force=force, cap=cap) == plan


@given(directories(), companies(), SELECTIONS, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_in_which_people_were_loaded_makes_no_difference(
    people: list[Employee],
    company: Company,
    selection: list[EmployeeId] | None,
    force: bool,  # noqa: FBT001
    chance: Random,
) -> None:
    one, other = (
        plan_invitations(loaded, company, selection=selection, force=force, now=NOW, cap=2)
        for loaded in (people, chance.sample(people, len(people)))
    )

    assert one == other


def test_never_attempted_come_first_then_the_least_recently_attempted_then_by_id() -> None:
    old, older = (InvitationHistory(last_attempt_at=NOW - timedelta(hours=hours)) for hours in (1, 2))
    people = [
        _awaiting(1, old),
        _awaiting(2, older),
        _awaiting(3, InvitationHistory()),
        _awaiting(4, older),
        _awaiting(5, InvitationHistory()),
    ]

    plan = plan_invitations(people, COMPANY, now=NOW)

    assert [3, 5, 2, 4, 1] == [int(person.id[-3:]) for person in plan.chosen]


def test_somebody_attempted_before_1970_comes_after_those_never_attempted() -> None:
    long_ago = InvitationHistory(last_attempt_at=NOW.replace(year=1900))
    people = [_awaiting(1, long_ago), _awaiting(2, InvitationHistory())]

    assert [2, 1] == [int(person.id[-3:]) for person in plan_invitations(people, COMPANY, now=NOW).chosen]


@pytest.mark.parametrize(("count", "truncated"), [(99, False), (100, False), (101, True)])
@pytest.mark.parametrize("is_selected", [False, True])
def test_a_hundred_are_mailed_per_call(count: int, truncated: bool, is_selected: bool) -> None:  # noqa: FBT001
    people = [_awaiting(number, InvitationHistory()) for number in range(count)]
    selection = [person.id for person in people] if is_selected else None

    plan = plan_invitations(people, COMPANY, selection=selection, now=NOW)

    assert (min(count, 100), count, truncated) == (len(plan.chosen), plan.total, plan.truncated)
    assert len(plan.chosen) == len(plan.lines)


def test_skips_do_not_count_towards_the_cap() -> None:
    people = [_awaiting(1, InvitationHistory()), _awaiting(2, InvitationHistory())]
    unknown = [numbered_id(number) for number in range(3, 200)]

    plan = plan_invitations(
        people, COMPANY, selection=[*unknown, *(person.id for person in people)], now=NOW, cap=2
    )

    assert (tuple(people), 199, False) == (plan.chosen, plan.total, plan.truncated)


def test_an_empty_selection_selects_nobody() -> None:
    plan = plan_invitations([_awaiting(1, InvitationHistory())], COMPANY, selection=[], now=NOW)

    assert InvitationPlan(chosen=(), lines=(), total=0, truncated=False) == plan


def test_an_id_that_is_not_the_companys_is_told_without_an_address() -> None:
    plan = plan_invitations([], COMPANY, selection=[numbered_id(1)], now=NOW)

    assert (
        InvitationResult(
            id=numbered_id(1), email=None, status=InvitationStatus.SKIPPED, code=Reason.NOT_FOUND
        ),
    ) == plan.lines


def test_the_second_mention_of_one_person_is_a_duplicate_whatever_became_of_the_first() -> None:
    person = _awaiting(1, InvitationHistory())
    gone = attrs.evolve(_awaiting(2, InvitationHistory()), state=EmployeeState.ARCHIVED)
    ids = [person.id, gone.id, numbered_id(3)]

    plan = plan_invitations([person, gone], COMPANY, selection=[*ids, *ids], now=NOW)

    assert [person.id, Reason.ARCHIVED, Reason.NOT_FOUND, *[Reason.DUPLICATE] * 3] == [
        line.code if isinstance(line, InvitationResult) else line for line in plan.lines
    ]
    assert ["a@x.example", "a@x.example", None] == [
        line.email for line in plan.lines[3:] if isinstance(line, InvitationResult)
    ]
    assert (person,) == plan.chosen


@given(directories(), companies(), SELECTIONS, st.booleans(), st.sets(employee_ids()))
def test_the_answer_counts_everyone_once(
    people: list[Employee],
    company: Company,
    selection: list[EmployeeId] | None,
    force: bool,  # noqa: FBT001
    unreachable: set[EmployeeId],
) -> None:
    plan = plan_invitations(people, company, selection=selection, force=force, now=NOW, cap=2)

    report = settle(plan, {person.id: person.id not in unreachable for person in plan.chosen})

    counts = Counter(result.status for result in report.results)
    assert (
        InvitationSummary(
            total=plan.total,
            invited=counts[InvitationStatus.INVITED],
            skipped=counts[InvitationStatus.SKIPPED],
            failed=counts[InvitationStatus.FAILED],
            truncated=plan.truncated,
        )
        == report.summary
    )
    assert (counts.total() == plan.total) == (not plan.truncated)
    assert report.is_ok == (not unreachable & {person.id for person in plan.chosen})


@given(directories(), companies(), SELECTIONS, st.sets(employee_ids()))
def test_each_line_tells_what_became_of_the_mail(
    people: list[Employee],
    company: Company,
    selection: list[EmployeeId] | None,
    unreachable: set[EmployeeId],
) -> None:
    plan = plan_invitations(people, company, selection=selection, now=NOW)
    mailed = {person.id: person.email.text for person in plan.chosen}

    results = settle(plan, {id_: id_ not in unreachable for id_ in mailed}).results

    expected = [
        line
        if isinstance(line, InvitationResult)
        else InvitationResult(
            id=line, email=mailed[line], status=InvitationStatus.FAILED, code=Reason.DELIVERY_FAILED
        )
        if line in unreachable
        else InvitationResult(id=line, email=mailed[line], status=InvitationStatus.INVITED)
        for line in plan.lines
    ]
    assert expected == list(results)


def test_being_skipped_is_no_failure() -> None:
    plan = plan_invitations([], COMPANY, selection=[numbered_id(1)], now=NOW)

    assert settle(plan, {}).is_ok


@given(
    people=directories(max_size=9),
    company=companies(),
    force=st.booleans(),
    is_selected=st.booleans(),
    unreachable=st.sets(employee_ids()),
    cap=CAPS,
)
def test_calling_until_nobody_is_left_over_ends_and_mails_everyone_exactly_once(
    *,
    people: list[Employee],
    company: Company,
    force: bool,
    is_selected: bool,
    unreachable: set[EmployeeId],
    cap: int,
) -> None:
    directory = {person.id: person for person in people}
    selection = [*directory, *directory] if is_selected else None
    expected = {
        person.id for person in people if ineligibility(person, company, force=force, now=NOW) is None
    }

    mailed: Counter[EmployeeId] = Counter()
    truncated = True
    for call in range(max(1, -(-len(people) // cap))):
        # The calls together take less than the pause; meanwhile other people's pauses end.
        now = NOW + call * timedelta(minutes=1)
        plan = plan_invitations(
            directory.values(), company, selection=selection, force=force, now=now, cap=cap
        )
        report = settle(plan, {person.id: person.id not in unreachable for person in plan.chosen})
        mailed.update(_recorded(directory, report, company, now=now))
        truncated = report.summary.truncated
        if not truncated:
            break

    assert not truncated
    assert expected <= set(mailed)
    assert set(mailed.values()) <= {1}


@given(tried=st.lists(st.booleans(), max_size=8), took=st.sampled_from([-5, 0, 1, 20_000]))
def test_whoever_was_tried_comes_after_whoever_was_not_and_these_keep_their_order(
    tried: list[bool], took: int
) -> None:
    moments = last_attempts(tried, began_at=NOW, ended_at=NOW + timedelta(milliseconds=took))

    untried = [moment for moment, was_tried in zip(moments, tried, strict=True) if not was_tried]
    rest = {moment for moment, was_tried in zip(moments, tried, strict=True) if was_tried}
    assert sorted(set(untried)) == untried
    assert {max(NOW + took * TICK, NOW + len(untried) * TICK)} >= rest
    assert NOW <= min(moments, default=NOW)


def _recorded(
    directory: dict[EmployeeId, Employee], report: InvitationReport, company: Company, *, now: datetime
) -> list[EmployeeId]:
    """Write into `directory` what a store would after this call; the ids of all who were attempted."""
    attempted = [result.id for result in report.results if result.status is not InvitationStatus.SKIPPED]
    delivered = {result.id for result in report.results if result.status is InvitationStatus.INVITED}
    for employee_id in attempted:
        person = directory[employee_id]
        history = attrs.evolve(person.invitation, last_attempt_at=now)
        if employee_id in delivered:
            history = attrs.evolve(history, last_sent_at=now, live_until=now + company.invitation_lifetime)
        directory[employee_id] = attrs.evolve(person, invitation=history)
    return attempted


def _naive_plan(
    people: list[Employee],
    company: Company,
    selection: list[EmployeeId] | None,
    *,
    force: bool,
    cap: int,
) -> InvitationPlan:
    """The rules of `domain-rules`, told step by step and without indexes."""
    by_id = sorted(people, key=lambda person: person.id)
    attempted = sorted(
        (person for person in by_id if person.invitation.last_attempt_at is not None),
        key=lambda person: person.invitation.last_attempt_at or NOW,
    )
    in_order = [person for person in by_id if person.invitation.last_attempt_at is None] + attempted
    ready = [
        person
        for person in in_order
        if _by_table(person, company, force=force) == "invited"
        and (selection is None or person.id in selection)
    ]
    chosen = ready[:cap]
    lines: list[InvitationResult | EmployeeId] = []
    for place, employee_id in enumerate([person.id for person in chosen] if selection is None else selection):
        person = next((person for person in people if person.id == employee_id), None)
        if selection is not None and employee_id in selection[:place]:
            code = "duplicate"
        else:
            code = "not_found" if person is None else _by_table(person, company, force=force)
        if code != "invited":
            lines.append(
                InvitationResult(
                    id=employee_id,
                    email=None if person is None else person.email.text,
                    status=InvitationStatus.SKIPPED,
                    code=Reason(code),
                )
            )
        elif person in chosen:
            lines.append(employee_id)
    return InvitationPlan(
        chosen=tuple(chosen),
        lines=tuple(lines),
        total=len(ready) if selection is None else len(selection),
        truncated=len(ready) > len(chosen),
    )


def _by_table(person: Employee, company: Company, *, force: bool) -> str:
    """What the first row that fits says of this person at `NOW`."""
    facts = (
        person.archived_at is not None,
        str(person.email).split("@")[1].encode("idna").decode() in company.sso_domains,
        person.has_password and person.first_login_at is not None,
        person.invitation.last_attempt_at is not None
        and person.invitation.last_attempt_at + timedelta(minutes=15) > NOW,
        person.invitation.live_until is not None and person.invitation.live_until > NOW,
    )
    for row in ROWS:
        if all(cell in {"any", "yes" if fact else "no"} for cell, fact in zip(row[:5], facts, strict=True)):
            return row[6] if force else row[5]
    raise AssertionError("the table has a row for everyone")


def _answer(person: Employee, company: Company, *, force: bool) -> str:
    reason = ineligibility(person, company, force=force, now=NOW)
    return "invited" if reason is None else reason.value


def _awaiting(number: int, history: InvitationHistory) -> Employee:
    return attrs.evolve(PERSON, id=numbered_id(number), invitation=history)
