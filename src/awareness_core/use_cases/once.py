"""Carry out a request once, however often it is sent: around any use case, which knows nothing of it.

The use case gets `Once.ports` for its own. What it writes stays in one open transaction until its answer is there, so
that both are committed together or neither is; only mail, which cannot be taken back, is preceded by a commit. Once it
is out, what came of it is committed as it is written, and the answer is kept by `persist`. What ends without an answer
has written nothing and may be sent again, unless it was interrupted after such a commit: then that is told (Choice:
decisions/021).
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

import attrs

from awareness_core.errors import Conflict, StoreUnavailable
from awareness_core.persistence import persist
from awareness_core.ports import (
    Delivery,
    InvitationLetter,
    Ports,
    Reading,
    Store,
    Transaction,
    refuse_inside_transaction,
)
from awareness_core.receipts import (
    MAILING_LEASE,
    PURGED_AT_ONCE,
    Receipt,
    ReceiptId,
    Stage,
    claim,
    forgotten,
    is_answered,
)
from awareness_core.tenants import CompanyId

_HOLDER_BYTES = 16

Fingerprint = Callable[[], Awaitable[bytes]]
"""Says what stands for all that was asked, once that is known; asked once, before anything is read or written."""


class AnsweredBefore(Exception):
    """The request was carried out already; `kept_answer` has what it was answered."""


@contextlib.asynccontextmanager
async def once(
    ports: Ports, company_id: CompanyId, receipt_id: ReceiptId, fingerprint: Fingerprint
) -> AsyncIterator[Once]:
    """Carry out one request in the block, with `Once.ports`, and end it with `Once.settle`.

    Out of the first use of the store, or of `settle`, comes `AnsweredBefore`, or whatever `receipts.is_answered`
    refuses. A block that raises, or ends unsettled, has written nothing but what it mailed about.
    """
    run = Once(ports, company_id, receipt_id, fingerprint)
    try:
        yield run
    except Exception as error:
        await run.give_up(error)
        raise
    except BaseException as error:
        # Cancelled: there is time for a roll-back, not for another transaction. The lease ends by itself.
        await run.roll_back(error)
        raise
    else:
        await run.give_up(None)
    finally:
        run.close()


async def kept_answer(ports: Ports, company_id: CompanyId, receipt_id: ReceiptId) -> AsyncIterator[bytes]:
    """The answer that was given to `Once.settle`, part by part."""
    async with ports.store.reading(company_id) as reading:
        async for part in reading.kept_answer(receipt_id):
            yield part


class Once:
    """One attempt at one request. `ports` are the world for whoever carries it out, in this task."""

    def __init__(
        self, ports: Ports, company_id: CompanyId, receipt_id: ReceiptId, fingerprint: Fingerprint
    ) -> None:
        self._world = ports
        self._company_id = company_id
        self._receipt_id = receipt_id
        self._fingerprint = fingerprint
        self._kept: Receipt | None = None
        self._open = contextlib.AsyncExitStack()
        self._transaction: Transaction | None = None
        self._holds_writes = False
        self._may_keep_answer = True
        self._is_undone = False
        self._is_in_block = False
        self.ports = attrs.evolve(ports, store=_StoreOfOne(self, ports.store), mailer=_MailerOfOne(self))

    async def settle(self, answer: Iterable[bytes]) -> None:
        """Commit what was written together with `answer`; after this, and not before, the answer may be given.

        Once mail is out, it is tried for a while, and `answer` may be gone through several times. Raises what a commit
        raises, and then nothing is written.
        """
        mine = await self._begin()
        if mine.stage is Stage.UNDER_WAY:
            await persist(self._world.clock, lambda: self._settle(mine, answer))
        else:
            await self._settle(mine, answer)

    async def _settle(self, mine: Receipt, answer: Iterable[bytes]) -> None:
        if self._is_undone:
            raise Conflict("Part of the request was undone, so nothing of it was written. Send it again.")
        transaction = await self._opened(mine)
        settled = forgotten(mine)
        try:
            if self._may_keep_answer:
                settled = attrs.evolve(mine, stage=Stage.ANSWERED)
                await transaction.save_receipt(settled, answer=answer)
            else:
                await transaction.save_receipt(settled)
        except BaseException as error:
            await self.roll_back(error)
            raise
        await self._commit(settled)

    async def give_up(self, error: Exception | None) -> None:
        """Roll back what is open, and let others begin if nothing was written. Nothing once it is settled."""
        await self.roll_back(error or _Unsettled())
        mine = self._kept
        if mine is None or mine.stage is not Stage.CLAIMED:
            return
        # When the store is away, the lease ends by itself.
        with contextlib.suppress(StoreUnavailable):
            async with self._world.store.transaction(self._company_id) as transaction:
                if await self._is_ours(mine, transaction):
                    await transaction.forget_receipt(self._receipt_id)

    def close(self) -> None:
        """Let go of whatever the fingerprint is made from: the ports that use this may live on for a while."""
        self._fingerprint = _refuse

    async def roll_back(self, error: BaseException) -> None:
        """End the open transaction, if there is one, without its writes."""
        self._is_undone = self._is_undone or self._holds_writes
        self._transaction, self._holds_writes = None, False
        await self._open.__aexit__(type(error), error, error.__traceback__)

    @contextlib.asynccontextmanager
    async def reading(self, company_id: CompanyId) -> AsyncIterator[Reading]:
        """Look at what is, with what this request wrote so far."""
        self._refuse_another(company_id)
        await self._begin()
        if self._transaction is not None:
            yield self._transaction
            return
        async with self._world.store.reading(company_id) as reading:
            yield reading

    def glance(self, company_id: CompanyId) -> Reading:
        """Ask one question, of what this request wrote so far, too."""
        self._refuse_another(company_id)
        return self._world.store.glance(company_id) if self._transaction is None else self._transaction

    @contextlib.asynccontextmanager
    async def transaction(self, company_id: CompanyId) -> AsyncIterator[Transaction]:
        """Write more. What is open already goes on; a block that raises undoes all of that, too.

        Once mail is out, each block is committed by itself, as the request is never begun again.
        """
        self._refuse_another(company_id)
        if self._is_in_block:
            refuse_inside_transaction("a store transaction was opened")
        mine = await self._begin()
        if self._is_undone:
            raise Conflict(
                "Other requests kept changing the same people. Nothing was written; send it again."
            )
        transaction = await self._opened(mine)
        self._is_in_block = True
        try:
            yield transaction
        except BaseException as error:
            await self.roll_back(error)
            raise
        finally:
            self._is_in_block = False
        if mine.stage is Stage.UNDER_WAY:
            await self._commit(mine)
        else:
            self._holds_writes = True

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """Mail, after all that was written is committed, with a note that this request must not be begun again."""
        if self._is_in_block:
            refuse_inside_transaction()
        mine = await self._begin()
        transaction = await self._opened(mine)
        under_way = attrs.evolve(
            mine, stage=Stage.UNDER_WAY, lease_until=self._world.clock.now() + MAILING_LEASE
        )
        await transaction.save_receipt(under_way if self._may_keep_answer else forgotten(under_way))
        await self._commit(under_way)
        return await self._world.mailer.send_invitations(letters)

    async def _begin(self) -> Receipt:
        """The receipt as it is kept; claimed, if it is not yet, in a commit of its own so that others see it."""
        if self._kept is not None:
            return self._kept
        fingerprint = await self._fingerprint()
        async with self._world.store.reading(self._company_id) as reading:
            # Whoever has to be told something waits for no writer.
            self._judge(await reading.receipt(self._receipt_id), fingerprint)
        async with self._world.store.transaction(self._company_id) as transaction:
            self._judge(await transaction.receipt(self._receipt_id), fingerprint)
            now = self._world.clock.now()
            holder = self._world.entropy.take(_HOLDER_BYTES).hex()
            claimed = claim(self._receipt_id, fingerprint=fingerprint, holder=holder, now=now)
            await transaction.purge_receipts(at=now, at_most=PURGED_AT_ONCE)
            await transaction.save_receipt(claimed)
        self._kept = claimed
        return claimed

    def _judge(self, kept: Receipt | None, fingerprint: bytes) -> None:
        if is_answered(kept, fingerprint=fingerprint, now=self._world.clock.now()):
            raise AnsweredBefore

    async def _opened(self, mine: Receipt) -> Transaction:
        """The open transaction, or a new one, in which the receipt is found to be this attempt's still."""
        if self._transaction is None:
            opening = self._world.store.transaction(self._company_id)
            transaction = await self._open.enter_async_context(opening)
            try:
                is_ours = await self._is_ours(mine, transaction)
            except BaseException as error:
                await self.roll_back(error)
                raise
            if not is_ours:
                lost = Conflict(
                    "The request took so long to begin that another with its key has begun. Nothing was written."
                )
                await self.roll_back(lost)
                raise lost
            self._transaction = transaction
        return self._transaction

    async def _is_ours(self, mine: Receipt, transaction: Transaction) -> bool:
        kept = await transaction.receipt(self._receipt_id)
        if kept is None or kept.holder != mine.holder:
            return False
        # What was read before somebody was erased may be part of the answer.
        self._may_keep_answer = kept.stage is not Stage.FORGOTTEN
        return True

    async def _commit(self, receipt: Receipt) -> None:
        self._transaction, self._holds_writes = None, False
        await self._open.aclose()
        self._kept = receipt

    def _refuse_another(self, company_id: CompanyId) -> None:
        if company_id != self._company_id:
            raise RuntimeError("a request that is carried out once is about one company")


async def _refuse() -> bytes:
    raise RuntimeError("a request that is over was carried out")


class _StoreOfOne:
    """The `Store` of one request."""

    def __init__(self, run: Once, store: Store) -> None:
        self.reading = run.reading
        self.glance = run.glance
        self.transaction = run.transaction
        self.check = store.check


class _MailerOfOne:
    """The `Mailer` of one request."""

    def __init__(self, run: Once) -> None:
        self.send_invitations = run.send_invitations


class _Unsettled(Exception):
    """Thrown into a transaction to end it."""
