"""The wall between companies: a statement reaches a connection through `Tenant` only, which adds the company to it.

The one question across companies has a method of its own. What is not a plain statement on one table is refused, so
that no query can slip by unbound. A database may have a second wall behind this one; see `Database`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from itertools import islice

from sqlalchemy import ColumnElement, Delete, Insert, Select, Table, Update, bindparam

from awareness_core.tenants import CompanyId
from awareness_sql.crossings import ADDRESSES_HELD_BY_OTHER_COMPANIES, TENANT
from awareness_sql.engine import NO_PARAMETERS, Connection, Parameters, Statement, Value
from awareness_sql.one_of import KEYS
from awareness_sql.rows import Row, RowValues
from awareness_sql.storable import is_storable
from awareness_sql.tables import companies


class Tenant:
    """A connection that sees and writes the rows of one company."""

    def __init__(self, connection: Connection, company_id: CompanyId) -> None:
        self._connection = connection
        self._company_id = company_id

    async def fetch(
        self, statement: Statement, read: Callable[[Row], Value], parameters: Parameters = NO_PARAMETERS
    ) -> list[Value]:
        """The company's rows, each read by `read`."""
        return await self._connection.fetch(bound(statement), self._named(parameters), read)

    async def fetch_keys(
        self,
        statement: Statement,
        read: Callable[[Row], Value],
        keys: Collection[str],
        parameters: Parameters = NO_PARAMETERS,
    ) -> list[Value]:
        """The company's rows that match any of `KEYS`. A row that matches several may be there several times."""
        return await self._fetch_keys(bound(statement), read, keys, parameters)

    async def fetch_addresses_held_by_other_companies(
        self, read: Callable[[Row], Value], keys: Collection[str]
    ) -> list[Value]:
        """Those of `keys` that a row which is *not* the company's holds: the one question across the wall."""
        return await self._fetch_keys(ADDRESSES_HELD_BY_OTHER_COMPANIES, read, keys)

    async def run(self, statement: Statement, parameters: Parameters = NO_PARAMETERS) -> int:
        """Write to the company's rows; see `Connection.run`."""
        return await self._connection.run(bound(statement), self._named(parameters))

    async def run_keys(self, statement: Statement, keys: Collection[str]) -> int:
        """Write to those of the company's rows that match any of `KEYS`."""
        return sum([await self.run(statement, {KEYS: chunk}) for chunk in self._chunks(keys)])

    async def run_many(self, statement: Statement, rows: Iterable[RowValues]) -> int:
        """Write to the company's rows once for each of `rows`; see `Connection.run_many`."""
        return await self._connection.run_many(bound(statement), map(self._named, rows))

    async def run_unordered(self, statement: Statement, rows: Iterable[RowValues]) -> int:
        """The same in any order, where no two of `rows` write to one row; see `Connection.run_unordered`."""
        return await self._connection.run_unordered(bound(statement), map(self._named, rows))

    def all_or_nothing(self) -> AbstractAsyncContextManager[None]:
        """See `Connection.all_or_nothing`."""
        return self._connection.all_or_nothing()

    def leave_no_trace(self) -> None:
        """See `Connection.leave_no_trace`."""
        self._connection.leave_no_trace()

    async def _fetch_keys(
        self,
        statement: Statement,
        read: Callable[[Row], Value],
        keys: Collection[str],
        parameters: Parameters = NO_PARAMETERS,
    ) -> list[Value]:
        found: list[Value] = []
        for chunk in self._chunks(keys):
            found += await self._connection.fetch(statement, self._named({**parameters, KEYS: chunk}), read)
        return found

    def _named(self, parameters: Parameters) -> Parameters:
        return {**parameters, TENANT.key: self._company_id}

    def _chunks(self, keys: Collection[str]) -> Iterator[list[str]]:
        # Together they are looked through ten times as fast as one by one, and hardly ever is there anything to find.
        remaining = iter(keys) if is_storable("".join(keys)) else filter(is_storable, keys)
        while chunk := list(islice(remaining, self._connection.keys_at_once)):
            yield chunk


@functools.cache
def bound(statement: Statement) -> Statement:
    """`statement` on the rows of one company, whose id becomes its parameter `tenant`.

    An insertion gets a parameter for each column of its table. Raises `TypeError` for a statement that is not on
    exactly one table. Statements are kept for good: pass only those that the program makes once.
    """
    match statement:
        case Select():
            return statement.where(_owner(_table_of(statement)) == TENANT)
        case Insert(table=Table() as table):
            own = _owner(table)
            return statement.values(
                {column: TENANT if column is own else bindparam(column.name) for column in table.columns}
            )
        case Update(table=Table() as table) | Delete(table=Table() as table):
            return statement.where(_owner(table) == TENANT)
        case _:
            raise TypeError(f"cannot bind {type(statement).__name__} to a company")


def _table_of(statement: Select[*tuple[object, ...]]) -> Table:
    origins = statement.get_final_froms()
    if len(origins) != 1 or not isinstance(origins[0], Table):
        raise TypeError("only a query on one table can be bound to a company")
    return origins[0]


def _owner(table: Table) -> ColumnElement[str]:
    return companies.c.id if table is companies else table.c.company_id
