"""What the store asks of a database driver: the seam behind which each driver says how.

Statements are SQLAlchemy expressions; how they are compiled and run is the driver's business, as an SQLAlchemy engine
costs several times what the drivers themselves do. Parameters are named after the statement's bound parameters and
plain: texts, integers, booleans, bytes, None, and a list for `OneOf`.

Every method may raise `StoreUnavailable` when the database does not answer, and `ConstraintViolated` when it refuses a
write; what was written before in the transaction stays written then, unless the block is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias, TypeVar

from sqlalchemy import ColumnElement, SelectBase, Text, UpdateBase, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.operators import OperatorType
from sqlalchemy.types import Boolean, TypeEngine

from awareness_sql.rows import Row

Value = TypeVar("Value")
Statement: TypeAlias = SelectBase | UpdateBase
Parameters: TypeAlias = Mapping[str, object]
NO_PARAMETERS: Parameters = {}


class Connection(Protocol):
    """One transaction on a database, to be used by one task at a time."""

    async def fetch(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> list[Value]:
        """All rows, each read by `read`. The event loop goes on in between when there are many."""

    async def run(self, statement: Statement, parameters: Parameters) -> int:
        """Run a statement once and say how many rows it found to write."""

    async def run_many(self, statement: Statement, rows: Iterable[Parameters]) -> int:
        """Run a statement once for each of `rows`, in their order, and say how many rows were written in all."""

    def all_or_nothing(self) -> AbstractAsyncContextManager[None]:
        """What the block writes is undone when it raises, and only that."""


class Database(Protocol):
    """A database that many tasks use at the same time."""

    def reading(self) -> AbstractAsyncContextManager[Connection]:
        """A connection that sees one moment's state, takes no lock and never waits for a writer."""

    def writing(self) -> AbstractAsyncContextManager[Connection]:
        """A connection whose writes are committed when the block ends, and rolled back when it raises.

        Leaving the block takes until the commit is durable. Raises `StoreUnavailable` when it could not be committed.
        """

    async def look_up(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> Value | None:
        """The first row of what is committed at this moment, or None: the cheapest read there is."""

    async def close(self) -> None:
        """Wait for what is being written and let go of all connections and files."""


class OneOf(ColumnElement[bool]):
    """`column` is one of the texts in the list given as parameter `name`, however many they are.

    An ordinary IN has one parameter an element, and databases limit those; each driver's module compiles this instead.
    """

    inherit_cache: bool | None = True
    type: TypeEngine[bool] = Boolean()

    def __init__(self, column: ColumnElement[str] | ColumnElement[str | None], name: str) -> None:
        self.column = column
        self.elements = bindparam(name, type_=Text)

    def self_group(self, against: OperatorType | None = None) -> OneOf:  # noqa: ARG002 -- SQLAlchemy's name
        """Itself: whatever it is compiled to brings its own parentheses, and `= 1` behind it would hide the index."""
        return self


@compiles(OneOf)
def _compile_one_of(element: OneOf, compiler: SQLCompiler, **options: object) -> str:
    # For people to read, and for SQLAlchemy to look through; no database runs this.
    column = compiler.process(element.column, **options)
    return f"({column} IN ({compiler.process(element.elements, **options)}))"
