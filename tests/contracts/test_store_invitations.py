"""What every `Store` keeps of invitations: attempts, deliveries, and the passwords that were mailed."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from awareness_core.emails import parse_email
from awareness_core.employees import (
    Employee,
    EmployeeChange,
    EmployeeId,
    EmployeeState,
    InvitationHistory,
    archive,
    log_in_first,
)
from awareness_core.errors import ConstraintViolated
from awareness_core.outbox import decided
from awareness_core.sessions import Session, digest_token
from tests.contracts.storages import (
    ACME,
    GLOBEX,
    LATER,
    NOW,
    Storage,
    apply,
    changed,
    everyone,
    hired,
    password,
    person,
)

pytestmark = pytest.mark.anyio


async def _attempt(storage: Storage, *owners: Employee) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.record_attempts([password(owner, int(owner.id)) for owner in owners])


async def _deliver(storage: Storage, *owners: Employee) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.record_deliveries([password(owner, int(owner.id)) for owner in owners])


async def _histories(storage: Storage) -> list[InvitationHistory]:
    return [employee.invitation for employee in await everyone(storage)]


async def test_an_attempt_is_noted_and_its_password_kept(storage: Storage) -> None:
    anna, bob = person(1), person(2)
    await apply(storage, hired(anna, bob))

    await _attempt(storage, anna)

    tried = attrs.evolve(anna, invitation=InvitationHistory(last_attempt_at=NOW))
    assert [tried, bob] == await everyone(storage)
    async with storage.store.reading(ACME.id) as reading:
        assert [password(anna, 1)] == await reading.temporary_passwords(anna.id)
        assert [] == await reading.temporary_passwords(bob.id)


async def test_passwords_are_kept_side_by_side_newest_first_expired_ones_too(storage: Storage) -> None:
    anna = person(1)
    await apply(storage, hired(anna))
    kept = [
        password(anna, 1, at=NOW - timedelta(days=3650)),
        password(anna, 2, at=LATER),
        password(anna, 3, at=NOW),
        password(anna, 4, at=NOW),
    ]
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.record_attempts(kept[:2])
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.record_attempts(kept[2:])

    async with storage.store.reading(ACME.id) as reading:
        assert [kept[1], kept[3], kept[2], kept[0]] == await reading.temporary_passwords(anna.id)


async def test_of_two_attempts_in_one_call_the_last_is_noted(storage: Storage) -> None:
    anna = person(1)
    await apply(storage, hired(anna))

    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.record_attempts([password(anna, 1, at=LATER), password(anna, 2, at=NOW)])

    assert [InvitationHistory(last_attempt_at=NOW)] == await _histories(storage)


async def test_a_delivery_makes_the_invitation_live(storage: Storage) -> None:
    anna, bob = person(1), person(2)
    await apply(storage, hired(anna, bob))
    await _attempt(storage, anna, bob)

    await _deliver(storage, anna)

    assert [
        InvitationHistory(last_attempt_at=NOW, last_sent_at=NOW, live_until=NOW + timedelta(days=7)),
        InvitationHistory(last_attempt_at=NOW),
    ] == await _histories(storage)


async def test_a_delivery_to_somebody_archived_meanwhile_is_not_noted(storage: Storage) -> None:
    anna = person(1)
    await apply(storage, hired(anna))
    await _attempt(storage, anna)
    (tried,) = await everyone(storage)
    gone = archive(tried, now=NOW)
    await apply(storage, [EmployeeChange(before=tried, after=gone)])

    await _deliver(storage, anna)

    assert [gone] == await everyone(storage)


async def test_a_delivery_to_somebody_who_was_archived_before_the_attempt_is_not_noted(
    storage: Storage,
) -> None:
    gone = archive(person(1), now=NOW)
    await apply(storage, hired(gone))
    await _attempt(storage, gone)

    await _deliver(storage, gone)

    assert [InvitationHistory(last_attempt_at=NOW)] == await _histories(storage)


async def test_a_delivery_to_somebody_archived_and_back_meanwhile_is_not_noted(storage: Storage) -> None:
    anna = person(1)
    await apply(storage, hired(anna))
    await _attempt(storage, anna)
    (tried,) = await everyone(storage)
    gone = archive(tried, now=NOW)
    back = attrs.evolve(gone, state=EmployeeState.ACTIVE, archived_at=None)
    await apply(storage, [EmployeeChange(before=tried, after=gone)])
    await apply(storage, [EmployeeChange(before=gone, after=back)])

    await _deliver(storage, anna)

    assert [back] == await everyone(storage)


async def test_a_delivery_to_somebody_who_logged_in_meanwhile_is_not_noted(storage: Storage) -> None:
    anna = person(1)
    await apply(storage, hired(anna))
    await _attempt(storage, anna)
    (tried,) = await everyone(storage)
    inside = log_in_first(tried, now=NOW)
    await apply(storage, [EmployeeChange(before=tried, after=inside)])

    await _deliver(storage, anna)

    assert [inside] == await everyone(storage)


async def test_a_delivery_to_somebody_back_after_a_first_login_is_noted(storage: Storage) -> None:
    anna = person(1, first_login_at=NOW)
    await apply(storage, hired(anna))
    await _attempt(storage, anna)

    await _deliver(storage, anna)

    assert [NOW] == [history.last_sent_at for history in await _histories(storage)]


async def test_a_failure_is_noted_as_the_last_attempt_unless_a_later_one_was_made(storage: Storage) -> None:
    anna, bob, chris, dora = (person(number) for number in (1, 2, 3, 4))
    await apply(storage, hired(anna, bob, chris, dora))
    await _attempt(storage, anna, bob, chris)
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.record_attempts([password(bob, 9, at=LATER)])
        await transaction.forget_passwords([chris.id])
    until = NOW + timedelta(milliseconds=1)
    failures = [(password(owner, int(owner.id)), until) for owner in (anna, bob, chris, dora)]

    for _ in range(2):
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.record_failures(failures)

    assert [
        InvitationHistory(last_attempt_at=until),
        InvitationHistory(last_attempt_at=LATER),
        InvitationHistory(last_attempt_at=NOW),
        InvitationHistory(),
    ] == await _histories(storage)


async def test_what_was_mailed_to_another_address_opens_nothing_and_what_is_pending_stays(
    storage: Storage,
) -> None:
    people = [person(number) for number in (1, 2, 3, 4)]
    await apply(storage, hired(*people))
    await _attempt(storage, *people)
    pending = [decided(one.id, holder="h", now=NOW) for one in people]
    choosing = [_session(one, must_choose=True) for one in people]
    inside = _session(people[0], must_choose=False)
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_pending(pending)
        for one in (*choosing, inside):
            await transaction.save_session(one)
    before = await everyone(storage)

    await apply(
        storage,
        [
            # Two swap, one is spelt in another way, one is called by another name.
            changed(before[0], email=before[1].email, invitation=InvitationHistory()),
            changed(before[1], email=before[0].email, invitation=InvitationHistory()),
            changed(before[2], email=parse_email(before[2].email.text.upper())),
            changed(before[3], last_name="Other"),
        ],
    )
    await _deliver(storage, people[0])

    assert [InvitationHistory()] * 2 == (await _histories(storage))[:2]
    async with storage.store.reading(ACME.id) as reading:
        kept = [len(await reading.temporary_passwords(one.id)) for one in before]
        sessions = [await reading.session(one.digest) is not None for one in (*choosing, inside)]
        held = await reading.held_invitations("h")
    assert [0, 0, 1, 1] == kept
    assert [False, False, True, True, True] == sessions
    assert {one.employee_id for one in pending} == {one.employee_id for one in held}


def _session(owner: Employee, *, must_choose: bool) -> Session:
    return Session(
        digest=digest_token(f"{owner.id} {must_choose}"),
        employee_id=owner.id,
        must_choose=must_choose,
        created_at=NOW,
        seen_at=NOW,
        expires_at=LATER,
    )


async def test_forgetting_destroys_the_passwords_of_those_people_only(storage: Storage) -> None:
    people = [person(number) for number in (1, 2, 3)]
    await apply(storage, hired(*people))
    await _attempt(storage, *people)

    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.forget_passwords([people[0].id, people[2].id, EmployeeId("nobody")])

    async with storage.store.reading(ACME.id) as reading:
        kept = [len(await reading.temporary_passwords(someone.id)) for someone in people]
    assert [0, 1, 0] == kept


async def test_a_password_is_kept_once(storage: Storage) -> None:
    anna = person(1)
    await apply(storage, hired(anna))
    await _attempt(storage, anna)

    with pytest.raises(ConstraintViolated):
        await _attempt(storage, anna)

    async with storage.store.reading(ACME.id) as reading:
        assert [password(anna, 1)] == await reading.temporary_passwords(anna.id)


async def test_an_attempt_for_somebody_of_another_company_is_refused_whole(storage: Storage) -> None:
    ours, theirs = person(1), person(2)
    await apply(storage, hired(ours))
    await apply(storage, hired(theirs), to=GLOBEX)

    async with storage.store.transaction(ACME.id) as transaction:
        with pytest.raises(ConstraintViolated):
            await transaction.record_attempts([password(ours, 1), password(theirs, 2)])

    assert [ours] == await everyone(storage)
    assert [theirs] == await everyone(storage, GLOBEX)
    async with storage.store.reading(ACME.id) as reading:
        assert [] == await reading.temporary_passwords(ours.id)
