"""What every `Store` keeps of requests that must be carried out once: receipts, and the answers given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

import attrs
import pytest

from awareness_core.receipts import LIFETIME, Receipt, ReceiptId, Stage
from awareness_core.tenants import Company
from tests.contracts.storages import ACME, GLOBEX, NOW, Storage, apply, everyone, hired, person, receipt

pytestmark = pytest.mark.anyio

BYTES = bytes(range(256))


async def _save(
    storage: Storage, *receipts: Receipt, answer: Iterable[bytes] = (), company: Company = ACME
) -> None:
    async with storage.store.transaction(company.id) as transaction:
        for receipt in receipts:
            await transaction.save_receipt(receipt, answer=answer)


async def _kept(
    storage: Storage, receipt_id: ReceiptId, company: Company = ACME
) -> tuple[Receipt | None, list[bytes]]:
    async with storage.store.reading(company.id) as reading:
        found = await reading.receipt(receipt_id)
        return found, [part async for part in reading.kept_answer(receipt_id)]


async def test_nothing_is_known_of_a_receipt_that_was_never_saved(storage: Storage) -> None:
    assert (None, []) == await _kept(storage, receipt().id)


async def test_a_receipt_is_kept_as_it_was_saved(storage: Storage) -> None:
    claimed = receipt()
    await _save(storage, claimed)

    assert (claimed, []) == await _kept(storage, claimed.id)


async def test_saved_again_it_takes_the_place_of_the_earlier_one_and_so_does_its_answer(
    storage: Storage,
) -> None:
    claimed = receipt()
    answered = attrs.evolve(claimed, stage=Stage.ANSWERED, holder="somebody else")
    await _save(storage, claimed, answer=[b"a", b"b", b"c"])

    await _save(storage, answered, answer=[b"d"])

    assert (answered, [b"d"]) == await _kept(storage, claimed.id)


async def test_an_answer_comes_back_in_its_parts_and_in_their_order(storage: Storage) -> None:
    parts = [BYTES * size for size in range(1, 40)]
    await _save(storage, receipt(), answer=iter(parts))

    assert (receipt(), parts) == await _kept(storage, receipt().id)


async def test_the_parts_of_an_answer_are_taken_one_by_one_as_they_are_written(storage: Storage) -> None:
    async with storage.store.transaction(ACME.id) as transaction:

        def parts() -> Iterator[bytes]:
            yield b"a"
            raise LookupError

        with pytest.raises(LookupError):
            await transaction.save_receipt(receipt(), answer=parts())
        await transaction.save_receipt(receipt(), answer=[b"b"])

    assert (receipt(), [b"b"]) == await _kept(storage, receipt().id)


async def test_a_transaction_sees_the_receipt_that_it_saved(storage: Storage) -> None:
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.save_receipt(receipt(), answer=[b"a"])

        assert receipt() == await transaction.receipt(receipt().id)
        assert [b"a"] == [part async for part in transaction.kept_answer(receipt().id)]


async def test_a_receipt_and_what_was_written_with_it_are_rolled_back_together(storage: Storage) -> None:
    async def fail_at_the_end() -> None:
        async with storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=hired(person(1)))
            await transaction.save_receipt(receipt(), answer=[b"a"])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_at_the_end()

    assert (None, []) == await _kept(storage, receipt().id)
    assert [] == await everyone(storage)


async def test_forgetting_a_receipt_forgets_its_answer_and_no_other(storage: Storage) -> None:
    await _save(storage, receipt(1), receipt(2), answer=[b"a"])

    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.forget_receipt(receipt(1).id)
        await transaction.forget_receipt(ReceiptId("never saved"))

    assert (None, []) == await _kept(storage, receipt(1).id)
    assert (receipt(2), [b"a"]) == await _kept(storage, receipt(2).id)


async def test_a_receipt_is_one_companys(storage: Storage) -> None:
    await _save(storage, receipt(), answer=[b"acme"])
    await _save(storage, receipt(), answer=[b"globex"], company=GLOBEX)

    async with storage.store.transaction(GLOBEX.id) as transaction:
        await transaction.forget_receipt(receipt().id)

    assert (receipt(), [b"acme"]) == await _kept(storage, receipt().id)
    assert (None, []) == await _kept(storage, receipt().id, GLOBEX)


async def test_the_oldest_expired_receipts_are_purged_so_many_at_a_time(storage: Storage) -> None:
    await _save(storage, *map(receipt, (5, 3, 1, 4, 2)), answer=[b"a"])
    at = NOW + LIFETIME + timedelta(seconds=4)

    purged = []
    for _ in range(3):
        async with storage.store.transaction(ACME.id) as transaction:
            purged.append(await transaction.purge_receipts(at=at, at_most=3))
        if len(purged) == 1:
            remaining = [await _kept(storage, receipt(number).id) for number in range(1, 6)]
            assert [None, None, None] == [found for found, _ in remaining[:3]]
            assert [(receipt(4), [b"a"]), (receipt(5), [b"a"])] == remaining[3:]

    assert [3, 1, 0] == purged
    assert (receipt(5), [b"a"]) == await _kept(storage, receipt(5).id)


async def test_purging_leaves_another_companys_receipts_alone(storage: Storage) -> None:
    await _save(storage, receipt(), company=GLOBEX)

    async with storage.store.transaction(ACME.id) as transaction:
        assert 0 == await transaction.purge_receipts(at=NOW + 2 * LIFETIME, at_most=100)

    assert (receipt(), []) == await _kept(storage, receipt().id, GLOBEX)


async def test_people_are_none_of_a_receipts_business(storage: Storage) -> None:
    await apply(storage, hired(person(1)))
    await _save(storage, receipt())

    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.purge_receipts(at=NOW + 2 * LIFETIME, at_most=100)

    assert [person(1)] == await everyone(storage)
