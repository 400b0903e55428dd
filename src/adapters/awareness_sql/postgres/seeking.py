"""Rows by many keys, found one key after the other through an index, whatever the planner believes of the table.

`column = ANY (keys)` may be read by an index that knows the company alone, and all of its rows are looked through for
each list: the planner thinks that cheaper than one descent a key, until it has statistics. Within a lateral subquery of
its own one key is looked for at a time, and then an index that knows the key is the better one.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Select, Text, bindparam, cast, func, literal_column, select, true
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.sql.elements import BooleanClauseList, ColumnElement

from awareness_sql.one_of import OneOf


def seeking(statement: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]] | None:
    """The same rows for the same parameters; None for a statement that is not of plain rows by the keys of one list.

    A key that is in the list twice brings its rows twice.
    """
    conditions = _conditions(statement)
    lists = [condition for condition in conditions if isinstance(condition, OneOf)]
    is_plain = not (statement._order_by_clauses or statement._has_row_limiting_clause) and all(  # noqa: SLF001 -- told nowhere else
        # A count would count the rows of each key.
        isinstance(column, Column)
        for column in statement.selected_columns
    )
    if len(lists) != 1 or not is_plain:
        return None
    (wanted,) = lists
    keys = (
        func.unnest(cast(bindparam(wanted.elements.key), ARRAY(Text)))
        .table_valued("key", name="wanted")
        .render_derived()
    )
    others = [condition for condition in conditions if condition is not wanted]
    one = (
        select(*statement.selected_columns)
        .where(wanted.column == keys.c.key.collate("C"), *others)
        .offset(literal_column("0"))
        .lateral("found")
    )
    return select(*one.c).select_from(keys.join(one, true()))


def _conditions(statement: Select[*tuple[Any, ...]]) -> list[ColumnElement[bool]]:
    condition = statement.whereclause
    if isinstance(condition, BooleanClauseList) and condition.operator.__name__ == "and_":
        return list(condition.clauses)
    return [] if condition is None else [condition]
