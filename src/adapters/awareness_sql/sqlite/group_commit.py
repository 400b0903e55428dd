"""Write transactions that arrive together share one commit.

The fsync of a commit takes longer than the statements of a small transaction. While one is under way the next
transactions queue; then they run one after another inside one BEGIN IMMEDIATE, each in a savepoint of its own, and are
told that they succeeded only after the COMMIT they share. One that raises is rolled back to its savepoint; if the
COMMIT fails, all of them fail. One that wrote nothing, or raises, waits for the commit as well, because what it read
from those before it is not durable until then.

One task, which lives while anybody waits, does all of this; only the COMMIT runs in a thread, and readers go on
meanwhile. Other processes may write to the file: they are waited for, and let in after a long batch.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor, wait

from awareness_core.errors import AwarenessError, StoreUnavailable
from awareness_sql.engine import Value
from awareness_sql.member import Member
from awareness_sql.sqlite.file import DatabaseFile, Identity
from awareness_sql.sqlite.patience import LONGEST_PAUSE, when_free
from awareness_sql.sqlite.refusals import refuse

_EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"
_LOG_ATTEMPTS = 50
"""How often at most a reader in the way of emptying the log is waited for, when nobody else waits."""

_LONGEST_BATCH = 0.02
"""Seconds after which a batch takes no further member."""


class GroupCommit:
    """The one writing connection of this process to one file.

    `close_readers` closes the other connections as far as they are idle.
    """

    def __init__(self, file: DatabaseFile, *, patience: float, close_readers: Callable[[], None]) -> None:
        self._file = file
        self._patience = patience
        self._close_readers = close_readers
        self._queue: deque[Member[sqlite3.Connection]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._driver: sqlite3.Connection | None = None
        self._identity: Identity | None = None
        self._is_suspect = False
        self._thread: ThreadPoolExecutor | None = None
        self._has_log_to_empty = False

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[sqlite3.Connection]:
        """A transaction of its own as far as the block can tell. Leaving it takes until the commit is durable.

        Raises `StoreUnavailable` when it could not begin in time, or was not committed. A block cancelled while it
        waits for the commit may be committed all the same.
        """
        member: Member[sqlite3.Connection] = Member(self._patience)
        self._queue.append(member)
        self._wake(member)
        driver = await member.take_turn()
        try:
            yield driver
        except BaseException as error:
            self._is_suspect = self._is_suspect or isinstance(error, StoreUnavailable)
            member.leave(succeeded=False)
            if isinstance(error, Exception):
                await member.committed()
            raise
        member.leave(succeeded=True)
        await member.committed()

    def empty_log_soon(self) -> None:
        """After the next commit leave nothing in the write-ahead log, where the pages of before still are.

        While a reader needs them it is tried again, with each commit, too.
        """
        self._has_log_to_empty = True

    async def close(self) -> None:
        """Wait for what is being written, and let go of the connection, the file and the thread."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])
        self._discard()
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None

    def _wake(self, member: Member[sqlite3.Connection]) -> None:
        loop = asyncio.get_running_loop()
        if self._task is not None and not self._task.done():
            if self._task.get_loop() is loop:
                return
            # Another loop was abandoned in the middle of something.
            self._queue = deque([member])
            self._discard()
        self._task = loop.create_task(self._serve())

    async def _serve(self) -> None:
        attempts = 0
        while self._someone_waits() or (self._has_log_to_empty and attempts < _LOG_ATTEMPTS):
            if self._someone_waits():
                await self._serve_batch()
            elif self._driver is None:
                return
            else:
                attempts += 1
                await asyncio.sleep(LONGEST_PAUSE)
                await self._empty_log(self._driver)

    async def _serve_batch(self) -> None:
        members: list[Member[sqlite3.Connection]] = []
        try:
            driver = await self._begin()
            if driver is None:
                return
            changes_before = driver.total_changes
            was_cut = await self._run_members(driver, members)
            # A commit after failures alone would write anew every page that they changed and then put back.
            wrote = bool(members) and driver.total_changes != changes_before
            await self._end(driver, "COMMIT" if members else "ROLLBACK", is_long=wrote)
            if self._has_log_to_empty:
                await self._empty_log(driver)
        except (sqlite3.Error, AwarenessError) as error:
            self._discard()
            for member in members:
                member.acknowledge(self._meaning(error))
            return
        except BaseException:
            # The loop is being torn down: whatever was not committed is rolled back with the connection.
            self._discard()
            for member in members:
                member.acknowledge(StoreUnavailable("The program stopped writing before it was done."))
            raise
        for member in members:
            member.acknowledge(None)
        if self._is_suspect:
            self._discard()
        if was_cut:
            await asyncio.sleep(LONGEST_PAUSE)

    async def _begin(self) -> sqlite3.Connection | None:
        """The connection in a transaction, or None when nobody waits for it any more.

        When the file cannot be written to, all who wait are told.
        """
        try:
            return await when_free(self._begin_now, is_over=lambda: not self._someone_waits())
        except (sqlite3.Error, AwarenessError) as error:
            self._discard()
            while self._someone_waits():
                self._queue.popleft().refuse(self._meaning(error))
            return None

    def _begin_now(self) -> sqlite3.Connection:
        identity = self._file.identity()
        if self._driver is None or identity != self._identity:
            self._discard()
            # A connection remembers when its file could only be read, and shares that with the others of its process;
            # without them it finds out what is true now.
            self._close_readers()
            self._driver = self._file.connect_to_write()
            self._identity = identity
        self._driver.execute("BEGIN IMMEDIATE")
        return self._driver

    async def _run_members(
        self, driver: sqlite3.Connection, members: list[Member[sqlite3.Connection]]
    ) -> bool:
        """Run who waits and who comes meanwhile; whether it was cut short while there were more.

        `members` gets those who are to be told of the commit.
        """
        loop = asyncio.get_running_loop()
        closes_at = loop.time() + _LONGEST_BATCH
        while self._someone_waits():
            if self._is_suspect or loop.time() > closes_at:
                return True
            driver.execute("SAVEPOINT member")
            member = self._queue.popleft()
            is_kept = await member.run(driver)
            if not is_kept:
                driver.execute("ROLLBACK TO member")
            if is_kept or members:
                members.append(member)
            else:
                member.acknowledge(None)
            driver.execute("RELEASE member")
        return False

    async def _empty_log(self, driver: sqlite3.Connection) -> None:
        try:
            # Busy is an answer here, not an error.
            is_busy, *_ = await self._in_thread(lambda: driver.execute(_EMPTY_LOG).fetchone())
        except sqlite3.Error:
            # What was committed is so all the same.
            return
        self._has_log_to_empty = bool(is_busy)

    async def _end(self, driver: sqlite3.Connection, how: str, *, is_long: bool) -> None:
        if is_long:
            await self._in_thread(lambda: driver.execute(how))
        else:
            # Nothing to make durable, so nothing to wait for.
            driver.execute(how)

    async def _in_thread(self, work: Callable[[], Value]) -> Value:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="awareness-commit")
        running = self._thread.submit(work)
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            # The connection is still in use, so it cannot be closed before the disk has answered.
            wait([running])
            raise

    def _someone_waits(self) -> bool:
        while self._queue and not self._queue[0].is_waiting:
            self._queue.popleft()
        return bool(self._queue)

    def _meaning(self, error: Exception) -> Exception:
        """A new error for each who is told. No statement here is anyone's, so all errors mean unavailability."""
        try:
            if isinstance(error, sqlite3.Error):
                refuse(error, self._file.path)
        except AwarenessError as meaning:
            return meaning
        except sqlite3.Error:
            pass
        return StoreUnavailable(
            f"The database {self._file.path} did not take the write ({error}); try again."
        )

    def _discard(self) -> None:
        if self._driver is not None:
            self._driver.close()
        self._driver = self._identity = None
        self._is_suspect = False
