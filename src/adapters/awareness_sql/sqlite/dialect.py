"""From SQLAlchemy expressions to what the driver takes: SQL text, and the parameters in its order."""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from awareness_sql.crossings import Crossing
from awareness_sql.engine import Parameters, Statement
from awareness_sql.one_of import OneOf

_DIALECT = sqlite_dialect(paramstyle="qmark")


@compiles(OneOf, "sqlite")
def _compile_one_of(element: OneOf, compiler: SQLCompiler, **options: object) -> str:
    column = compiler.process(element.column, **options)
    elements = compiler.process(element.elements, **options)
    return f"({column} IN (SELECT value FROM json_each({elements})))"  # noqa: S608 -- the compiler's own pieces


class CompiledStatement:
    """One statement, compiled once and run many times."""

    def __init__(self, statement: Statement) -> None:
        plain = statement.for_many if isinstance(statement, Crossing) else statement
        compiled = plain.compile(dialect=_DIALECT)
        self.sql = str(compiled)
        self._order: tuple[str, ...] = tuple(compiled.positiontup or ())
        self._constants = {name: value for name, value in compiled.params.items() if value is not None}

    def arguments(self, parameters: Parameters) -> Sequence[object]:
        """The parameters in the order of the statement."""
        named = {**self._constants, **parameters} if self._constants else parameters
        return [_plain(named[name]) for name in self._order]

    def arguments_of_each(self, rows: Iterable[Parameters]) -> Iterator[Sequence[object]]:
        """The same for many rows without lists, made as they are asked for."""
        if self._constants or len(self._order) == 1:
            return map(self.arguments, rows)
        return map(operator.itemgetter(*self._order), rows)


@functools.cache
def compiled(statement: Statement) -> CompiledStatement:
    """`statement`, compiled. It is kept for good: pass only statements that the program makes once."""
    return CompiledStatement(statement)


def _plain(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
