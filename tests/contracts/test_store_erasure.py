"""What every `Store` does to erase people, and how it knows again that they were."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from awareness_core.anonymity import AddressMark, ErasedAddress
from awareness_core.campaign_events import EventKey
from awareness_core.campaigns import CampaignId
from awareness_core.emails import EmailKey
from awareness_core.employees import EmployeeId, archive
from awareness_core.erasure_ports import CampaignRecipient
from awareness_core.errors import ConstraintViolated
from awareness_core.kpis import Step
from awareness_core.ports import EmployeeQuery
from awareness_core.receipts import LIFETIME, Stage
from awareness_core.recipients import Recipient
from awareness_core.results_plan import ResultChanges
from awareness_core.use_cases.erase import erase
from awareness_core.use_cases.import_results import import_results
from tests.contracts.storages import (
    ACME,
    GLOBEX,
    LATER,
    NOW,
    Storage,
    apply,
    campaign,
    everyone,
    hired,
    memory_storage,
    password,
    person,
    receipt,
    seen,
)
from tests.contracts.test_store_results import everything, ports_of, tell, told_by_chance
from tests.core.tellings import SPRING, Told, happened, targeted

pytestmark = pytest.mark.anyio

ONE, TWO = person(1, email="1@acme.example", external_id="e1"), person(2, email="2@acme.example")
MARKS = [
    ErasedAddress(mark=AddressMark(f"mark {number}"), until=NOW + timedelta(milliseconds=number))
    for number in range(3)
]


def of(campaign_id: str, recipient: Recipient) -> CampaignRecipient:
    return CampaignRecipient(campaign_id=CampaignId(campaign_id), recipient=recipient)


def in_order(found: object) -> list[CampaignRecipient]:
    assert isinstance(found, list)
    return sorted(found, key=lambda one: (one.campaign_id, one.recipient.email.key))


@pytest.mark.parametrize("seed", range(4))
async def test_erasing_leaves_what_memory_leaves_and_told_again_nothing_changes(
    storage: Storage, seed: int
) -> None:
    told = told_by_chance(seed)
    await apply(storage, hired(ONE, TWO))
    before = await tell(storage, told)
    ports = ports_of(storage)

    await erase(ports, ACME.id, ONE.id)
    async with storage.store.reading(ACME.id) as reading:
        after = await everything(reading, before)
    outcome = await import_results(ports, ACME.id, Told(SPRING, [told[::2], told[1::2]]))

    # Anonymous names are drawn in the same order in every store.
    assert await _erased_in_memory(seed) == after
    assert outcome.summary.erased > 0
    assert before == outcome.campaign
    async with storage.store.reading(ACME.id) as reading:
        assert after == await everything(reading, before)


async def _erased_in_memory(seed: int) -> object:
    reference = memory_storage()
    await reference.companies.add_company(ACME)
    await apply(reference, hired(ONE, TWO))
    before = await tell(reference, told_by_chance(seed))
    await erase(ports_of(reference), ACME.id, ONE.id)
    async with reference.store.reading(ACME.id) as reading:
        return await everything(reading, before)


async def test_recipients_are_found_in_every_campaign_by_employee_and_where_untied_by_address_or_id(
    storage: Storage,
) -> None:
    tied = attrs.evolve(targeted("tied", "e1"), employee_id=ONE.id)
    others = attrs.evolve(targeted("a", "e1"), employee_id=TWO.id)
    by_address, by_id, neither = targeted("a"), targeted("b", "e1"), targeted("c", "e2")
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_campaigns([campaign(1), campaign(2)])
        await transaction.save_results(
            campaign(1).id, ResultChanges(new_recipients=[tied, by_address, neither])
        )
        await transaction.save_results(campaign(2).id, ResultChanges(new_recipients=[others, by_id]))

    async with storage.store.reading(ACME.id) as reading:
        of_one = await reading.recipients_of_employees([ONE.id, EmployeeId("nobody")])
        untied = await reading.untied_recipients(
            external_ids=["e1", "\x00"], email_keys=[by_address.email.key, by_id.email.key]
        )
        nothing = await reading.untied_recipients(external_ids=[], email_keys=[])

    assert [of("0001", tied)] == of_one
    assert [of("0001", by_address), of("0002", by_id)] == in_order(untied)
    assert [] == nothing


async def test_what_is_gone_is_removed_before_the_rest_is_written(storage: Storage) -> None:
    told = happened("a", Step.CLICKED, address="192.0.2.1")
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_campaigns([campaign(1), campaign(2)])
        for number in (1, 2):
            await transaction.save_results(
                campaign(number).id,
                ResultChanges(new_recipients=[targeted("a"), targeted("b")], new_events=[told.event]),
            )
        elsewhere = attrs.evolve(told.event, recipient=targeted("c").email.key, address=None)
        await transaction.save_results(
            campaign(1).id,
            ResultChanges(
                gone_recipients=[targeted("a").email.key, EmailKey("nobody")],
                gone_events=[told.event.key, EventKey("nothing")],
                new_recipients=[targeted("c")],
                new_events=[elsewhere],
            ),
        )

    async with storage.store.reading(ACME.id) as reading:
        people = await reading.recipients_after(campaign(1).id, None, limit=9)
        keys = [one.email.key for one in (targeted("a"), targeted("c"))]
        assert [targeted("b"), targeted("c")] == people
        assert [elsewhere] == await reading.events(campaign(1).id, recipients=keys, keys=[told.event.key])
        assert [told.event] == await reading.events(campaign(2).id, recipients=keys)
        assert 2 == len(await reading.recipients_after(campaign(2).id, None, limit=9))


async def test_employees_are_removed_with_all_that_finds_them_and_may_come_anew(storage: Storage) -> None:
    changes = [attrs.evolve(change, fingerprint=b"spelt") for change in hired(ONE)]
    await apply(storage, [*changes, *hired(TWO)])
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.record_attempts([password(ONE), password(TWO)])
        await transaction.remove_employees([ONE.id, EmployeeId("nobody")])

        assert [] == await transaction.employees_by_id([ONE.id])
        assert [] == await transaction.temporary_passwords(ONE.id)
        assert 1 == len(await transaction.temporary_passwords(TWO.id))
        assert [] == await transaction.matching_employees(external_ids=["e1"], email_keys=[ONE.email.key])
        assert [None] == await transaction.unchanged_people([seen(ONE, b"spelt")])
        assert 1 == (await transaction.list_employees(EmployeeQuery())).total
    async with storage.store.reading(GLOBEX.id) as reading:
        assert frozenset() == await reading.addresses_held_by_other_companies([ONE.email.key])
    again = attrs.evolve(ONE, id=EmployeeId("again"))
    await apply(storage, hired(again))

    assert [TWO.id, again.id] == [someone.id for someone in await everyone(storage)]


async def test_a_removal_that_is_rolled_back_removes_nobody(storage: Storage) -> None:
    await apply(storage, hired(ONE))

    async def break_off() -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.remove_employees([ONE.id])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await break_off()

    assert [ONE] == await everyone(storage)


async def test_marks_are_kept_and_replaced_by_the_later_ones(storage: Storage) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_erased_addresses(MARKS[:2])
        later = attrs.evolve(MARKS[0], until=LATER)
        await transaction.save_erased_addresses([later, MARKS[2]])
        await transaction.save_erased_addresses([])

    async with storage.store.reading(ACME.id) as reading:
        found = await reading.erased_addresses([MARKS[0].mark, MARKS[1].mark, AddressMark("unknown")])
        assert [later, MARKS[1]] == sorted(found, key=lambda one: one.mark)
        assert [] == await reading.erased_addresses([])


async def test_a_company_has_one_secret_for_good(storage: Storage) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        assert None is await transaction.erasure_secret()
        await transaction.save_erasure_secret(b"\x00\xff")
        with pytest.raises(ConstraintViolated):
            await transaction.save_erasure_secret(b"another")

    async with storage.store.reading(ACME.id) as reading:
        assert b"\x00\xff" == await reading.erasure_secret()


async def test_forgotten_answers_leave_receipts_that_refuse(storage: Storage) -> None:
    answered = attrs.evolve(receipt(1), stage=Stage.ANSWERED)
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_receipt(answered, answer=[b"a", b"b"])
        await transaction.save_receipt(receipt(2))
        await transaction.forget_answers()

    async with storage.store.reading(ACME.id) as reading:
        for kept in (answered, receipt(2)):
            left = attrs.evolve(kept, stage=Stage.FORGOTTEN, fingerprint=b"")
            assert left == await reading.receipt(kept.id)
            assert [] == [part async for part in reading.kept_answer(kept.id)]
    async with storage.store.transaction(ACME.id) as transaction:
        assert 2 == await transaction.purge_receipts(at=LATER + LIFETIME, at_most=9)


async def test_who_was_archived_before_a_moment_is_told_by_id_and_counted(storage: Storage) -> None:
    people = [person(number) for number in range(1, 6)]
    leavers = [archive(one, now=NOW + timedelta(days=-number)) for number, one in enumerate(people[:4])]
    await apply(storage, [*hired(*leavers), *hired(people[4])])

    async with storage.store.reading(ACME.id) as reading:
        first = await reading.employees_archived_before(NOW, limit=2)
        everybody = await reading.employees_archived_before(NOW, limit=9)
        count = await reading.count_employees_archived_before(NOW)
        none_yet = await reading.count_employees_archived_before(NOW - timedelta(days=3))

    assert (leavers[1:3], leavers[1:], 3, 0) == (list(first), list(everybody), count, none_yet)
