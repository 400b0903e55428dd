"""Single questions as a `Connection`: each asked by itself, with no transaction around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Final, NoReturn

from awareness_core.tenants import CompanyId
from awareness_sql.engine import Database, Parameters, Statement, Value
from awareness_sql.rows import Row

_KEYS_AT_ONCE: Final = 1000


class Glance:
    """A `Connection` that only asks. What it answers may be of different moments; it holds nothing in between."""

    keys_at_once = _KEYS_AT_ONCE

    def __init__(self, database: Database, company_id: CompanyId) -> None:
        self._database = database
        self._company_id = company_id

    async def fetch(
        self, statement: Statement, parameters: Parameters, read: Callable[[Row], Value]
    ) -> list[Value]:
        """See `Connection`."""
        return await self._database.fetch(self._company_id, statement, parameters, read)

    async def run(self, statement: Statement, parameters: Parameters) -> int:  # noqa: ARG002 -- see `Connection`
        """Raises `RuntimeError`."""
        _refuse()

    async def run_many(self, statement: Statement, rows: Iterable[Parameters]) -> int:  # noqa: ARG002 -- the same
        """Raises `RuntimeError`."""
        _refuse()

    async def run_unordered(self, statement: Statement, rows: Iterable[Parameters]) -> int:  # noqa: ARG002 -- the same
        """Raises `RuntimeError`."""
        _refuse()

    def all_or_nothing(self) -> AbstractAsyncContextManager[None]:
        """Raises `RuntimeError`."""
        _refuse()

    def leave_no_trace(self) -> None:
        """Raises `RuntimeError`."""
        _refuse()


def _refuse() -> NoReturn:
    raise RuntimeError("only a transaction writes")
