"""Write transactions of one company that arrive together share one commit.

They run one after the other anyway, and a commit waits for the disk, which takes longer than all the rest of a small
one. So whoever waits when one has ended goes on in the same transaction of the database, in a savepoint of its own, and
all are told that they succeeded after the commit they share. One that raises is rolled back to its savepoint, and
raises after that commit, too: what it read from those before it is not so until then. If the commit fails, or the
connection is lost, all of them fail. Nobody else sees anything of them before it is durable.

Waiting is done here, before a connection is taken: the database would make them wait as well, but each on a connection
of its own, until there are none left for the other companies. One task, which lives while anybody waits, does all this.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable

from awareness_core.errors import AwarenessError, NotFound, StoreUnavailable
from awareness_sql.member import Member
from awareness_sql.postgres.driver import Driver
from awareness_sql.postgres.pool import Pool, is_lost
from awareness_sql.postgres.precedence import Precedence
from awareness_sql.postgres.refusals import DRIVER_ERRORS, code_of, refuse

FRESH = "SAVEPOINT member; SAVEPOINT part"
"""What has just been run when a member gets its turn."""

_LONGEST_BATCH = 0.02
"""Seconds after which a transaction takes no further member."""

_ROLLBACK_PATIENCE = 2.0
_FAILED_TRANSACTION = "25P02"


class SharedCommit:
    """The write transactions of one company in this process. One event loop at a time.

    `begin` gives the SQL that begins one with that precedence and runs `FRESH`; its last tag is `SELECT 1` when there
    is such a company. A member waits for its turn for `patience` seconds.
    """

    def __init__(
        self, pool: Pool, begin: Callable[[Precedence], str], *, shown: str, patience: float
    ) -> None:
        self._pool = pool
        self._begin = begin
        self._shown = shown
        self._patience = patience
        self._queue: deque[_Queued] = deque()
        self._task: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def transaction(self, precedence: Precedence) -> AsyncIterator[Driver]:
        """A transaction of its own as far as the block can tell. Leaving it takes until the commit is durable.

        Raises `NotFound` for a company that does not exist, `StoreUnavailable` when it could not begin in time, or was
        not committed. A block cancelled while it waits for the commit may be committed all the same.
        """
        member = _Queued(self._patience, precedence)
        self._queue.append(member)
        self._wake(member)
        driver = await member.take_turn()
        try:
            yield driver
        except Exception:
            member.leave(succeeded=False)
            await member.committed()
            raise
        except BaseException:
            member.leave(succeeded=False)
            raise
        member.leave(succeeded=True)
        await member.committed()

    async def close(self) -> None:
        """Wait for what is being written."""
        if self._task is not None and self._task.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([self._task])

    def _wake(self, member: _Queued) -> None:
        loop = asyncio.get_running_loop()
        if self._task is not None and not self._task.done():
            if self._task.get_loop() is loop:
                return
            # Another loop was abandoned in the middle of something.
            self._queue = deque([member])
        self._task = loop.create_task(self._serve())

    async def _serve(self) -> None:
        while self._someone_waits():
            await self._serve_batch(self._queue[0].precedence)

    async def _serve_batch(self, precedence: Precedence) -> None:
        try:
            driver, tag = await self._pool.take(lambda driver: driver.execute(self._begin(precedence)))
        except AwarenessError as error:
            # What kept this one from beginning keeps the others, too, unless it was others in the way.
            is_general = isinstance(error, StoreUnavailable) and not precedence.is_alone
            self._refuse(error, list(self._queue) if is_general else [self._queue[0]])
            return
        members: list[_Queued] = []
        try:
            if tag == "SELECT 1":
                await self._run_members(driver, members, precedence)
            else:
                self._refuse(NotFound("No such company."), list(self._queue))
                await driver.execute("ROLLBACK")
        except DRIVER_ERRORS as error:
            for member in members:
                member.acknowledge(self._meaning(error, driver))
            driver.terminate()
        except BaseException:
            # The loop is being torn down: whatever was not committed is rolled back with the connection.
            for member in members:
                member.acknowledge(StoreUnavailable("The program stopped writing before it was done."))
            driver.terminate()
            raise
        else:
            for member in members:
                member.acknowledge(None)
        finally:
            self._pool.give_back(driver)

    async def _run_members(self, driver: Driver, members: list[_Queued], precedence: Precedence) -> None:
        """Run who waits and who comes meanwhile, and commit; `members` gets those who are to be told of it."""
        loop = asyncio.get_running_loop()
        closes_at = loop.time() + _LONGEST_BATCH
        # Whoever waited may have given up while it began.
        while self._someone_waits():
            member = self._queue.popleft()
            is_kept = await member.run(driver)
            if is_kept or (members and not driver.is_closed()):
                members.append(member)
            else:
                # It has read of nobody, or its own error tells all.
                member.acknowledge(None)
            is_last = not self._takes_another(precedence) or loop.time() > closes_at
            then = "COMMIT" if is_last else FRESH
            if not is_kept or not await _keep(driver, member, then):
                await _undo(driver, then)
            if is_last:
                return
        await driver.execute("COMMIT")

    def _takes_another(self, precedence: Precedence) -> bool:
        return self._someone_waits() and not precedence.is_alone and not self._queue[0].precedence.is_alone

    def _someone_waits(self) -> bool:
        while self._queue and not self._queue[0].is_waiting:
            self._queue.popleft()
        return bool(self._queue)

    def _refuse(self, error: AwarenessError, waiting: Iterable[_Queued]) -> None:
        for member in waiting:
            # A new one for each, as everyone who raises it adds a traceback.
            member.refuse(type(error)(error.message))

    def _meaning(self, error: Exception, driver: Driver) -> Exception:
        try:
            refuse(error, self._shown, is_lost=is_lost(driver, error))
        except Exception as meaning:  # noqa: BLE001 -- whatever it means is to be told
            return meaning


class _Queued(Member[Driver]):
    def __init__(self, patience: float, precedence: Precedence) -> None:
        super().__init__(patience)
        self.precedence = precedence


async def _keep(driver: Driver, member: _Queued, then: str) -> bool:
    """Keep what the member wrote and go on with `then`, in one round trip; False when that cannot be."""
    try:
        await driver.execute(f"RELEASE member; {then}")
    except DRIVER_ERRORS as error:
        if code_of(error) != _FAILED_TRANSACTION:
            raise
        # Somebody swallowed the error of a statement, after which PostgreSQL keeps nothing.
        told = "a transaction was to be committed after one of its statements had failed"
        member.acknowledge(RuntimeError(told))
        return False
    return True


async def _undo(driver: Driver, then: str) -> None:
    async with asyncio.timeout(_ROLLBACK_PATIENCE):
        await driver.execute(f"ROLLBACK TO member; RELEASE member; {then}")
