"""Inviting: what is mailed opens the door, is kept before it is sent, and nobody is mailed twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.emails import parse_email
from awareness_core.employees import Employee, EmployeeId, EmployeeRecord, InvitationHistory
from awareness_core.errors import NotFound
from awareness_core.invitations import (
    InvitationReport,
    InvitationResult,
    InvitationStatus,
    InvitationSummary,
    Reason,
    plan_invitations,
    settle,
)
from awareness_core.passwords import opens
from awareness_core.ports import Delivery, InvitationLetter
from awareness_core.tenants import Company, Language
from awareness_core.use_cases.deactivate import deactivate
from awareness_core.use_cases.deliver_pending import PendingDelivered, deliver_pending
from awareness_core.use_cases.invite import invite, preview_invitations
from awareness_core.use_cases.provision import provision
from awareness_memory import ManualClock, MemoryMailer
from tests.core.strategies import (
    COMPANY,
    NOW,
    PERSON,
    companies,
    directories,
    employee_ids,
    numbered_id,
)
from tests.core.worlds import (
    NOBODYS,
    OURS,
    World,
    passwords_of,
    people_of,
    refusal_or_answer,
    run,
    settled_world,
)

QUARTER = timedelta(minutes=15)
WEEK = timedelta(days=7)


class ObservingMailer(MemoryMailer):
    """The memory mailer, which first lets a test look at the world as it is while mail is on its way."""

    def __init__(self, look: Callable[[Sequence[InvitationLetter]], Awaitable[None]]) -> None:
        super().__init__()
        self._look = look

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """As the memory mailer's, after the look."""
        await self._look(letters)
        return await super().send_invitations(letters)


def many(count: int) -> list[Employee]:
    return [
        attrs.evolve(PERSON, id=numbered_id(number), email=parse_email(f"p{number}@x.example"))
        for number in range(1, count + 1)
    ]


@given(
    people=directories(),
    company=companies(),
    selection=st.none() | st.lists(employee_ids(), max_size=8),
    force=st.booleans(),
    unreachable=st.sets(employee_ids()),
)
def test_the_answer_and_the_mail_are_what_the_rules_decide(
    *,
    people: list[Employee],
    company: Company,
    selection: list[EmployeeId] | None,
    force: bool,
    unreachable: set[EmployeeId],
) -> None:
    plan = plan_invitations(people, company, selection=selection, force=force, now=NOW)
    addresses = {person.email.text for person in people if person.id in unreachable}
    accepted = {person.id: person.email.text not in addresses for person in plan.chosen}

    async def story() -> None:
        world = await settled_world(people, company=company)
        for address in addresses:
            world.mailer.refuse(address)

        report = await invite(world, OURS, selection=selection, force=force)

        assert settle(plan, accepted) == report
        assert [person.id for person in plan.chosen if accepted[person.id]] == [
            letter.employee_id for letter in world.mailer.letters
        ]

    run(story())


@given(directories(), companies(), st.sets(employee_ids()))
def test_every_attempt_is_noted_and_every_delivery_is_live(
    people: list[Employee], company: Company, unreachable: set[EmployeeId]
) -> None:
    chosen = {person.id for person in plan_invitations(people, company, now=NOW).chosen}

    async def story() -> None:
        world = await settled_world(people, company=company)
        for person in people:
            if person.id in unreachable:
                world.mailer.refuse(person.email.text, permanent=True)

        await invite(world, OURS)

        refused = {person.email.text for person in people if person.id in unreachable}
        expected = []
        for person in sorted(people, key=lambda person: person.id):
            history = person.invitation
            if person.id in chosen:
                history = attrs.evolve(history, last_attempt_at=NOW)
                if person.email.text not in refused:
                    history = attrs.evolve(
                        history, last_sent_at=NOW, live_until=NOW + company.invitation_lifetime
                    )
            expected.append(attrs.evolve(person, invitation=history))
        assert expected == await people_of(world)

    run(story())


@given(directories(), companies())
def test_every_mailed_password_opens_and_only_its_own_door(people: list[Employee], company: Company) -> None:
    async def story() -> None:
        world = await settled_world(people, company=company)
        await invite(world, OURS)
        for letter in world.mailer.letters:
            opened = [
                person.id
                for person in people
                for kept in await passwords_of(world, person)
                if opens(letter.password, kept, now=NOW)
            ]

            assert [letter.employee_id] == opened

    run(story())


@pytest.mark.parametrize("language", Language)
def test_a_letter_holds_all_that_a_mail_needs(language: Language) -> None:
    person = attrs.evolve(PERSON, first_name="Ana", last_name="Bo")
    company = attrs.evolve(COMPANY, language=language, invitation_lifetime=timedelta(days=2))

    async def story() -> list[InvitationLetter]:
        world = await settled_world([person], company=company)
        await invite(world, OURS)
        return world.mailer.letters

    (letter,) = run(story())

    assert (
        InvitationLetter(
            employee_id=person.id,
            company_name="ours",
            language=language,
            email="a@x.example",
            first_name="Ana",
            last_name="Bo",
            password=letter.password,
            decided_at=NOW,
            created_at=NOW,
            expires_at=NOW + timedelta(days=2),
        )
        == letter
    )
    assert letter.password not in repr(letter)


def test_a_password_expires_when_the_letter_says() -> None:
    async def story() -> list[bool]:
        world = await settled_world([PERSON])
        await invite(world, OURS)
        (letter,) = world.mailer.letters
        (kept,) = await passwords_of(world)
        return [
            opens(letter.password, kept, now=letter.expires_at - timedelta(milliseconds=1)),
            opens(letter.password, kept, now=letter.expires_at),
        ]

    assert [True, False] == run(story())


def test_passwords_and_salts_are_made_anew_for_everyone() -> None:
    async def story() -> tuple[set[str], set[bytes]]:
        world = await settled_world(many(5))
        await invite(world, OURS)
        kept = [await passwords_of(world, person) for person in many(5)]
        return {letter.password for letter in world.mailer.letters}, {
            password.salt for passwords in kept for password in passwords
        }

    passwords, salts = run(story())

    assert (5, 5) == (len(passwords), len(salts))
    assert {16} == {len(salt) for salt in salts}


def test_the_attempt_and_the_password_are_committed_before_the_mail_goes_out() -> None:
    seen: list[bool] = []

    async def story() -> None:
        world = await settled_world([PERSON])

        async def look(letters: Sequence[InvitationLetter]) -> None:
            (person,) = await people_of(world)
            (kept,) = await passwords_of(world)
            seen.append(opens(letters[0].password, kept, now=NOW))
            seen.append(person.invitation == InvitationHistory(last_attempt_at=NOW))

        await invite(attrs.evolve(world, mailer=ObservingMailer(look)), OURS)

    run(story())

    assert [True, True] == seen


def test_no_transaction_is_open_while_mail_is_sent() -> None:
    async def story() -> list[Employee]:
        world = await settled_world([PERSON])

        async def look(letters: Sequence[InvitationLetter]) -> None:
            # Waits for ever, or is refused, while another transaction of the company is open.
            async with world.store.transaction(OURS) as transaction:
                await transaction.apply(changes=[])

        await invite(attrs.evolve(world, mailer=ObservingMailer(look)), OURS)
        return await people_of(world)

    assert [NOW] == [person.invitation.last_sent_at for person in run(story())]


def test_somebody_archived_while_mail_is_on_its_way_gets_no_access() -> None:
    async def story() -> tuple[Employee, int]:
        world = await settled_world([PERSON])

        async def look(letters: Sequence[InvitationLetter]) -> None:
            await deactivate(world, OURS, PERSON.id)

        await invite(attrs.evolve(world, mailer=ObservingMailer(look)), OURS)
        (person,) = await people_of(world)
        return person, len(await passwords_of(world))

    person, passwords = run(story())

    assert (False, None, 0) == (person.is_active, person.invitation.live_until, passwords)


class HurriedMailer(MemoryMailer):
    """The memory mailer of which a call ends, twenty seconds later, when so many letters were tried in vain."""

    def __init__(self, clock: ManualClock, failures: int) -> None:
        super().__init__()
        self._clock = clock
        self._failures = failures

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """As the memory mailer's, as far as it gets."""
        deliveries: list[Delivery] = []
        for letter in letters:
            if sum(not one.accepted for one in deliveries) < self._failures:
                deliveries.extend(await super().send_invitations([letter]))
            else:
                deliveries.append(Delivery(accepted=False, tried=False))
        self._clock.advance(timedelta(seconds=20))
        return deliveries


@given(
    unreachable=st.sets(st.integers(1, 12)),
    failures=st.integers(1, 4),
    pause=st.sampled_from([QUARTER, QUARTER + timedelta(seconds=21)]),
)
@example(unreachable={1, 2}, failures=2, pause=QUARTER)
@example(unreachable={1, 2}, failures=1, pause=QUARTER)
def test_addresses_that_fail_keep_nobody_else_from_their_turn(
    unreachable: set[int], failures: int, pause: timedelta
) -> None:
    people = many(12)
    calls = 1 + -(-len(unreachable) // failures)

    async def story() -> Counter[str]:
        world = await settled_world(people)
        mailer = HurriedMailer(world.clock, failures)
        for number in unreachable:
            mailer.refuse(f"p{number}@x.example")
        for _ in range(calls):
            await invite(attrs.evolve(world, mailer=mailer), OURS)
            world.clock.advance(pause)
        return Counter(letter.email for letter in mailer.letters)

    reachable = {f"p{number}@x.example" for number in range(1, 13) if number not in unreachable}
    assert Counter(reachable) == run(story())


def test_the_pause_counts_from_the_end_of_a_call_that_failed_and_else_from_its_beginning() -> None:
    async def story() -> list[datetime | None]:
        world = await settled_world(many(4))
        mailer = HurriedMailer(world.clock, 1)
        mailer.refuse("p2@x.example")
        await invite(attrs.evolve(world, mailer=mailer), OURS)
        return [person.invitation.last_attempt_at for person in await people_of(world)]

    later = NOW + timedelta(milliseconds=1)
    assert [NOW, NOW + timedelta(seconds=20), NOW, later] == run(story())


def record_of(person: Employee, email: str) -> EmployeeRecord:
    return EmployeeRecord(
        email=parse_email(email),
        last_name=person.last_name,
        first_name=person.first_name,
        external_id=person.external_id,
    )


def test_whose_address_is_corrected_is_mailed_at_the_new_one_at_once_and_the_old_mail_opens_nothing() -> None:
    someone = attrs.evolve(PERSON, external_id="e1")

    async def story() -> tuple[list[str], list[list[bool]]]:
        world = await settled_world([someone])
        opened = []
        await invite(world, OURS)
        for email in ("b@x.example", "B@x.example"):
            await provision(world, OURS, [record_of(someone, email)])
            await invite(world, OURS)
            kept = await passwords_of(world)
            opened.append(
                [any(opens(one.password, two, now=NOW) for two in kept) for one in world.mailer.letters]
            )
        return [letter.email for letter in world.mailer.letters], opened

    assert (["a@x.example", "b@x.example"], [[False, True], [False, True]]) == run(story())


def test_of_two_who_swap_addresses_neither_gets_in_with_what_the_other_was_mailed() -> None:
    two = [attrs.evolve(person, external_id=f"e{number}") for number, person in enumerate(many(2), start=1)]

    async def story() -> list[int]:
        world = await settled_world(two)
        await invite(world, OURS)
        swapped = [record_of(two[0], "p2@x.example"), record_of(two[1], "p1@x.example")]
        await provision(world, OURS, swapped)
        found = [len(await passwords_of(world, person)) for person in two]
        report = await invite(world, OURS)
        return [*found, report.summary.invited]

    assert [0, 0, 2] == run(story())


def test_somebody_inside_keeps_their_password_when_their_address_changes() -> None:
    inside = attrs.evolve(PERSON, external_id="e1", first_login_at=NOW, has_password=True)

    async def story() -> tuple[list[Employee], InvitationReport]:
        world = await settled_world([inside])
        await provision(world, OURS, [record_of(inside, "b@x.example")])
        return await people_of(world), await invite(world, OURS, selection=[inside.id])

    (moved,), report = run(story())

    assert (True, NOW) == (moved.has_password, moved.first_login_at)
    assert [Reason.ALREADY_LOGGED_IN] == [result.code for result in report.results]


@pytest.mark.parametrize("there_and_back", [False, True])
@pytest.mark.parametrize("accepted", [False, True])
def test_whose_address_changes_while_mail_is_on_its_way(*, accepted: bool, there_and_back: bool) -> None:
    someone = attrs.evolve(PERSON, external_id="e1")
    addresses = ["b@x.example", *(["a@x.example"] if there_and_back else [])]

    async def story() -> tuple[InvitationReport, Employee, int, PendingDelivered, list[bool]]:
        world = await settled_world([someone])

        async def look(letters: Sequence[InvitationLetter]) -> None:
            for address in addresses:
                await provision(world, OURS, [record_of(someone, address)])

        mailer = ObservingMailer(look)
        if not accepted:
            mailer.refuse("a@x.example")
        report = await invite(attrs.evolve(world, mailer=mailer), OURS)
        (person,) = await people_of(world)
        left = len(await passwords_of(world))
        later = await deliver_pending(world, OURS)
        kept = await passwords_of(world)
        letters = [*mailer.letters, *world.mailer.letters]
        assert [addresses[-1]] * accepted == [letter.email for letter in world.mailer.letters]
        return (
            report,
            person,
            left,
            later,
            [any(opens(one.password, two, now=NOW) for two in kept) for one in letters],
        )

    report, person, left, later, opened = run(story())

    assert accepted is report.is_ok
    assert (InvitationHistory(), 0) == (person.invitation, left)
    # Whoever was told as invited is, and whoever was told as failed is not mailed behind the caller's back.
    assert (PendingDelivered(mailed=int(accepted)), [False, True] if accepted else []) == (later, opened)


def test_when_nobody_is_to_be_invited_no_mail_is_asked_for() -> None:
    async def look(letters: Sequence[InvitationLetter]) -> None:
        raise AssertionError("the mailer was asked")

    async def story() -> InvitationReport:
        world = await settled_world()
        return await invite(
            attrs.evolve(world, mailer=ObservingMailer(look)), OURS, selection=[numbered_id(1)]
        )

    assert [Reason.NOT_FOUND] == [result.code for result in run(story()).results]


def test_a_mailer_that_answers_for_fewer_letters_than_it_got_is_not_believed() -> None:
    class ForgetfulMailer(MemoryMailer):
        async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
            return (await super().send_invitations(letters))[1:]

    async def story() -> None:
        world = await settled_world(many(2))
        with pytest.raises(ValueError, match="shorter"):
            await invite(attrs.evolve(world, mailer=ForgetfulMailer()), OURS)
        assert {None} == {person.invitation.last_sent_at for person in await people_of(world)}

    run(story())


def test_when_no_mail_is_accepted_no_delivery_is_noted() -> None:
    async def story() -> tuple[InvitationReport, list[InvitationHistory]]:
        world = await settled_world([PERSON])
        world.mailer.refuse("a@x.example")
        return await invite(world, OURS), [person.invitation for person in await people_of(world)]

    report, histories = run(story())

    assert InvitationSummary(total=1, invited=0, skipped=0, failed=1, truncated=False) == report.summary
    assert (
        InvitationResult(
            id=PERSON.id,
            email="a@x.example",
            status=InvitationStatus.FAILED,
            code=Reason.DELIVERY_FAILED,
        ),
    ) == report.results
    assert [InvitationHistory(last_attempt_at=NOW)] == histories


def test_of_130_who_await_access_100_are_mailed_then_30_then_none() -> None:
    async def story() -> tuple[list[InvitationSummary], Counter[str]]:
        world = await settled_world(many(130))
        summaries = [(await invite(world, OURS)).summary for _ in range(3)]
        return summaries, Counter(letter.email for letter in world.mailer.letters)

    summaries, mails = run(story())

    assert [(100, True), (30, False), (0, False)] == [
        (summary.invited, summary.truncated) for summary in summaries
    ]
    assert Counter(person.email.text for person in many(130)) == mails


@pytest.mark.parametrize("force", [False, True])
def test_calling_again_ends_even_when_every_address_fails(force: bool) -> None:  # noqa: FBT001
    async def story() -> list[tuple[int, bool]]:
        world = await settled_world(many(130))
        for person in many(130):
            world.mailer.refuse(person.email.text)
        return [
            (summary.failed, summary.truncated)
            for summary in [(await invite(world, OURS, force=force)).summary for _ in range(3)]
        ]

    assert [(100, True), (30, False), (0, False)] == run(story())


def test_an_invitation_by_force_leaves_the_earlier_password_valid() -> None:
    async def story() -> list[bool]:
        world = await settled_world([PERSON])
        await invite(world, OURS)
        world.clock.advance(QUARTER)
        await invite(world, OURS, force=True)
        kept = await passwords_of(world)
        return [
            any(opens(letter.password, password, now=world.clock.now()) for password in kept)
            for letter in world.mailer.letters
        ]

    assert [True, True] == run(story())


@pytest.mark.parametrize(
    ("after", "force", "expected"),
    [
        (timedelta(0), False, Reason.RECENTLY_INVITED),
        (timedelta(0), True, Reason.RECENTLY_INVITED),
        (QUARTER, False, Reason.ALREADY_INVITED),
        (QUARTER, True, None),
        (WEEK, False, None),
    ],
)
def test_a_second_call_follows_the_table(*, after: timedelta, force: bool, expected: Reason | None) -> None:
    async def story() -> InvitationReport:
        world = await settled_world([PERSON])
        await invite(world, OURS)
        world.clock.advance(after)
        return await invite(world, OURS, selection=[PERSON.id], force=force)

    assert [expected] == [result.code for result in run(story()).results]


def test_another_companys_people_are_not_found_and_not_mailed() -> None:
    async def story() -> tuple[InvitationReport, list[InvitationLetter]]:
        world = await settled_world(others=[PERSON])
        return await invite(world, OURS, selection=[PERSON.id]), world.mailer.letters

    report, letters = run(story())

    assert (
        InvitationResult(id=PERSON.id, email=None, status=InvitationStatus.SKIPPED, code=Reason.NOT_FOUND),
    ) == report.results
    assert [] == letters


def test_no_password_stands_in_the_answer() -> None:
    async def story() -> tuple[InvitationReport, str]:
        world = await settled_world([PERSON])
        return await invite(world, OURS), world.mailer.letters[0].password

    report, password = run(story())

    assert password not in repr(report)


@given(directories(), companies())
def test_a_preview_tells_what_inviting_would_and_does_nothing(
    people: list[Employee], company: Company
) -> None:
    async def story() -> None:
        world = await settled_world(people, company=company)

        preview = await preview_invitations(world, OURS, people)

        assert ([], []) == (world.mailer.letters, world.store.writes)
        assert preview == await invite(world, OURS, selection=[person.id for person in people])

    run(story())


def test_a_preview_counts_people_who_are_not_stored_yet() -> None:
    async def story() -> InvitationReport:
        return await preview_invitations(await settled_world(), OURS, [PERSON])

    assert InvitationSummary(total=1, invited=1, skipped=0, failed=0, truncated=False) == run(story()).summary


def test_an_unknown_company_is_not_found() -> None:
    async def story(world: World) -> list[type]:
        return [
            type(await refusal_or_answer(invite(world, NOBODYS))),
            type(await refusal_or_answer(invite(world, NOBODYS, selection=[PERSON.id]))),
            type(await refusal_or_answer(preview_invitations(world, NOBODYS, [PERSON]))),
        ]

    async def whole_story() -> list[type]:
        return await story(await settled_world([PERSON]))

    assert [NotFound] * 3 == run(whole_story())
