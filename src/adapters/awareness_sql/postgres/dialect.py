"""From SQLAlchemy expressions to what the driver takes: SQL text with numbered parameters, and their order."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence

from sqlalchemy import Delete, Insert, Select, Update, literal_column
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from awareness_sql.crossings import TENANT, Crossing
from awareness_sql.engine import Parameters, Statement
from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.postgres.seeking import seeking
from awareness_sql.postgres.together import together

_DIALECT = PGDialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]


@compiles(OneOf, "postgresql")
def _compile_one_of(element: OneOf, compiler: SQLCompiler, **options: object) -> str:
    column = compiler.process(element.column, **options)
    return f"({column} = ANY ({compiler.process(element.elements, **options)}))"


class CompiledStatement:
    """One statement, compiled once and run many times. `table` and `columns` are those of a plain insertion."""

    def __init__(self, statement: Statement) -> None:
        self.table: str | None = None
        self.columns: Sequence[str] = ()
        if isinstance(statement, Crossing):
            self.sql = _call(statement)
            self._order: tuple[str, ...] = (KEYS,)
            self._constants: dict[str, object] = {}
        else:
            sought = seeking(statement) if isinstance(statement, Select) else None
            compiled = (statement if sought is None else sought).compile(dialect=_DIALECT)
            self.sql = str(compiled)
            self._order = tuple(compiled.positiontup or ())
            self._constants = {name: value for name, value in compiled.params.items() if value is not None}
            self._find_columns(statement)

    def arguments(self, parameters: Parameters) -> Sequence[object]:
        """The parameters in the order of the statement."""
        return self._pick({**self._constants, **parameters} if self._constants else parameters)

    def lists(self, rows: Sequence[Parameters]) -> Sequence[object]:
        """The parameters of a statement of `together`: a list for each but the company, which is the same for all."""
        return [rows[0][name] if name == TENANT.key else [row[name] for row in rows] for name in self._order]

    def arguments_of_each(self, rows: Iterable[Parameters]) -> Iterator[Sequence[object]]:
        """The same for many rows, made as they are asked for."""
        return map(self.arguments, rows)

    @functools.cached_property
    def _pick(self) -> Callable[[Parameters], Sequence[object]]:
        if len(self._order) > 1:
            return operator.itemgetter(*self._order)
        return lambda parameters: [parameters[name] for name in self._order]

    def _find_columns(self, statement: Statement) -> None:
        # Only where each column has one parameter, in their order, may rows take another way than as parameters.
        head, _, values = self.sql.partition(" VALUES ")
        placeholders = ", ".join(f"${number}" for number in range(1, len(self._order) + 1))
        if isinstance(statement, Insert) and values == f"({placeholders})":
            self.table = statement.table.name
            self.columns = head.partition("(")[2].rstrip(")").split(", ")


@functools.cache
def compiled(statement: Statement) -> CompiledStatement:
    """`statement`, compiled. It is kept for good: pass only statements that the program makes once."""
    return CompiledStatement(statement)


@functools.cache
def compiled_to_count(statement: Statement) -> CompiledStatement:
    """The same with one row returned for each that is written."""
    if not isinstance(statement, Insert | Update | Delete):
        raise TypeError(f"{type(statement).__name__} writes nothing")
    return CompiledStatement(statement.returning(literal_column("1")))


@functools.cache
def compiled_together(statement: Statement) -> CompiledStatement:
    """The same for many rows at once, as lists."""
    if not isinstance(statement, Update):
        raise TypeError(f"{type(statement).__name__} changes nothing")
    return CompiledStatement(together(statement))


def _call(crossing: Crossing) -> str:
    columns = ", ".join(column.name for column in crossing.query.selected_columns)
    return f"SELECT {columns} FROM {crossing.function}($1)"  # noqa: S608 -- names of ours
