"""What the store asks of a database driver: the seam behind which each driver says how.

Statements are SQLAlchemy expressions; how they are compiled and run is the driver's business, as an SQLAlchemy engine
costs several times what the drivers themselves do. Parameters are named after the statement's bound parameters and
plain: texts, integers, booleans, bytes, None, and a list for `OneOf`.

Every method may raise `StoreUnavailable` when the database does not answer, and `ConstraintViolated` when it refuses a
write, or gives one up because another writer was in its way. Some databases give up the whole transaction then: only
what is refused inside `all_or_nothing` leaves what was written before it as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias, TypeVar

from sqlalchemy import SelectBase, UpdateBase

from awareness_core.tenants import CompanyId
from awareness_sql.crossings import Crossing
from awareness_sql.rows import Row

Value = TypeVar("Value")
Statement: TypeAlias = SelectBase | UpdateBase | Crossing
Parameters: TypeAlias = Mapping[str, object]
NO_PARAMETERS: Parameters = {}


class Connection(Protocol):
    """One transaction on a database, to be used by one task at a time."""

    @property
    def keys_at_once(self) -> int:
        """How many texts one `OneOf` or `Crossing` may have without holding up the event loop."""

    async def fetch(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> list[Value]:
        """All rows, each read by `read`. The event loop goes on in between when there are many."""

    async def run(self, statement: Statement, parameters: Parameters) -> int:
        """Run a statement once and say how many rows it found to write."""

    async def run_many(self, statement: Statement, rows: Iterable[Parameters]) -> int:
        """Run a statement once for each of `rows`, in their order, and say how many rows were written in all."""

    async def run_unordered(self, statement: Statement, rows: Iterable[Parameters]) -> int:
        """The same in any order, where no two of `rows` write to one row."""

    def all_or_nothing(self) -> AbstractAsyncContextManager[None]:
        """What the block writes is undone when it raises, and only that."""

    def leave_no_trace(self) -> None:
        """What this transaction removes shall not be in the database's files either, once it is committed.

        A database that keeps what was removed until its own cleaning comes round does nothing here.
        """


class Database(Protocol):
    """A database that many tasks use at the same time.

    A transaction is one company's, or with None an operator's: about the companies and their keys, not what is theirs.
    A database with a wall of its own between companies shows a transaction nothing else.
    """

    def reading(self, company_id: CompanyId | None) -> AbstractAsyncContextManager[Connection]:
        """A connection that sees one moment's state, takes no lock and never waits for a writer."""

    def writing(self, company_id: CompanyId | None) -> AbstractAsyncContextManager[Connection]:
        """A connection whose writes are committed when the block ends, and rolled back when it raises.

        Those of one company run one after the other. Leaving the block takes until the commit is durable. Raises
        `NotFound` for a company that does not exist, `StoreUnavailable` when it could not be committed.
        """

    async def fetch(
        self,
        company_id: CompanyId,
        statement: Statement,
        parameters: Parameters,
        read: Callable[[Row], Value],
    ) -> list[Value]:
        """What one statement finds, as committed at this moment; like a reading that asks nothing else, and cheaper."""

    async def look_up(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> Value | None:
        """The first row of what is committed at this moment, or None; for what belongs to no company."""

    async def find(self, crossing: Crossing, key: str, read: Callable[[Row], Value]) -> Value | None:
        """The row for `key`, of which there is at most one, as committed at this moment: the cheapest read there is."""

    async def check(self) -> None:
        """Raise `StoreUnavailable`, saying what to do, when the database must not be used as it is set up."""

    async def require_writable(self) -> None:
        """Nothing, or `StoreUnavailable` when it is known that no write would be taken. Waits for no writer."""

    async def close(self) -> None:
        """Wait for what is being written and let go of all connections and files."""
