"""A condition that SQLAlchemy has no word for which all databases understand: a column is one of many texts."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Text, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.operators import OperatorType
from sqlalchemy.types import Boolean, TypeEngine

KEYS = "keys"
"""The usual name of the list."""


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
