"""Write transactions of one company that arrive together share one commit on PostgreSQL, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable

import attrs
import pytest

from awareness_core.errors import ConstraintViolated, StoreUnavailable
from awareness_core.ports import Transaction
from awareness_sql import SqlStorage, open_storage
from awareness_sql.postgres import precedence, shared_commit
from tests.contracts.postgres_database import PlacedDatabase, open_postgres
from tests.contracts.postgres_server import SERVICE
from tests.contracts.storages import ACME, GLOBEX, campaign, everyone, hired, person

pytestmark = pytest.mark.anyio

Block = Callable[[Transaction], Awaitable[None]]


@pytest.fixture
async def storage(postgres: PlacedDatabase, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqlStorage]:
    # However slow the machine is today, whoever waits may join.
    monkeypatch.setattr(shared_commit, "_LONGEST_BATCH", 60.0)
    async with open_postgres(postgres) as storage:
        await storage.companies.add_company(ACME)
        await storage.companies.add_company(GLOBEX)
        yield storage


class Writer:
    """A transaction that hires somebody when it gets its turn, and ends when it is let."""

    def __init__(self, storage: SqlStorage, number: int, *, then: Block | None = None) -> None:
        self.is_inside, self.may_end = asyncio.Event(), asyncio.Event()
        self._storage, self._number, self._then = storage, number, then
        self.task = asyncio.create_task(self._write(), context=contextvars.Context())

    async def _write(self) -> None:
        async with self._storage.store.transaction(ACME.id) as transaction:
            await transaction.apply(changes=hired(person(self._number)))
            self.is_inside.set()
            await self.may_end.wait()
            if self._then is not None:
                await self._then(transaction)

    async def end(self) -> None:
        self.may_end.set()
        await self.task


async def test_whoever_waits_joins_and_all_are_told_after_the_one_commit(
    storage: SqlStorage, postgres: PlacedDatabase
) -> None:
    first, second = Writer(storage, 1), Writer(storage, 2)
    await first.is_inside.wait()
    first.may_end.set()
    await second.is_inside.wait()
    async with open_storage(postgres.url) as elsewhere:
        seen_meanwhile = await everyone(elsewhere)
    is_told_meanwhile = first.task.done()
    await second.end()
    await first.task

    assert ([], False) == (seen_meanwhile, is_told_meanwhile)
    assert [person(1), person(2)] == await everyone(storage)


async def test_one_that_fails_is_undone_alone(storage: SqlStorage) -> None:
    async def fail(_: Transaction) -> None:
        raise LookupError

    first, failing, third = Writer(storage, 1), Writer(storage, 2, then=fail), Writer(storage, 3)
    first.may_end.set()
    third.may_end.set()
    with pytest.raises(LookupError):
        await failing.end()
    await asyncio.gather(first.task, third.task)

    assert [person(1), person(3)] == await everyone(storage)


async def test_one_that_fails_over_what_it_saw_fails_when_that_is_so(
    storage: SqlStorage, postgres: PlacedDatabase
) -> None:
    """Else it would tell of what nobody else sees yet, and what may never be."""

    async def fail(_: Transaction) -> None:
        raise LookupError

    first, failing, third = Writer(storage, 1), Writer(storage, 2, then=fail), Writer(storage, 3)
    first.may_end.set()
    failing.may_end.set()
    await third.is_inside.wait()
    has_failed_meanwhile = failing.task.done()
    await third.end()
    with pytest.raises(LookupError):
        await failing.task

    assert not has_failed_meanwhile


async def test_one_that_is_cancelled_is_undone_alone(storage: SqlStorage) -> None:
    first, cancelled, third = (Writer(storage, number) for number in (1, 2, 3))
    first.may_end.set()
    await cancelled.is_inside.wait()
    cancelled.task.cancel()
    await third.end()
    await first.task

    assert cancelled.task.cancelled()
    assert [person(1), person(3)] == await everyone(storage)


async def test_one_that_swallowed_a_refusal_is_told_and_the_others_are_kept(storage: SqlStorage) -> None:
    async def swallow(transaction: Transaction) -> None:
        with contextlib.suppress(ConstraintViolated):
            # Of what is not inside `all_or_nothing`, PostgreSQL gives up the transaction.
            await transaction.save_campaigns([attrs.evolve(campaign(1), name=None)])  # type: ignore[arg-type]

    first, failing, third = Writer(storage, 1), Writer(storage, 2, then=swallow), Writer(storage, 3)
    first.may_end.set()
    third.may_end.set()
    with pytest.raises(RuntimeError, match="after one of its statements had failed"):
        await failing.end()
    await asyncio.gather(first.task, third.task)

    assert [person(1), person(3)] == await everyone(storage)


async def test_when_the_connection_is_lost_before_the_commit_all_are_told(
    storage: SqlStorage, postgres: PlacedDatabase
) -> None:
    first, second = Writer(storage, 1), Writer(storage, 2)
    first.may_end.set()
    await second.is_inside.wait()
    postgres.within(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{SERVICE}'")
    second.may_end.set()
    outcomes = await asyncio.gather(first.task, second.task, return_exceptions=True)

    assert [StoreUnavailable, StoreUnavailable] == [type(outcome) for outcome in outcomes]
    assert [] == await everyone(storage)


async def test_who_goes_alone_shares_with_nobody(
    storage: SqlStorage, postgres: PlacedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precedence, "_FAILURES_BEFORE", 0)
    first, second = Writer(storage, 1), Writer(storage, 2)
    first.may_end.set()
    await second.is_inside.wait()
    await first.task
    async with open_storage(postgres.url) as elsewhere:
        seen_meanwhile = await everyone(elsewhere)
    await second.end()

    assert [person(1)] == seen_meanwhile
