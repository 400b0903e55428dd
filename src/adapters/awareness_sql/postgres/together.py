"""Changes of many rows in one statement, which takes a list of each parameter in the place of one row's.

Run once for each row, an UPDATE is begun and ended as often; joined with the lists it is so once.
"""

from __future__ import annotations

import typing
from typing import Any

from sqlalchemy import BindParameter, Text, Update, cast, func
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.sql import visitors
from sqlalchemy.types import TypeEngine

from awareness_sql.crossings import TENANT

LISTS = "incoming"
"""What the rows of the lists are called in the statement."""


def together(statement: Update) -> Update:
    """The same for lists: of each parameter but `tenant`, whose name is a column's, one value a row.

    Rows are written in any order; one that several would write to is written by one of them.
    """
    columns = statement.table.c
    names = sorted(_parameters(statement) - {TENANT.key})
    lists = (
        func.unnest(*(cast(BindParameter(name), ARRAY(_element_type(columns[name].type))) for name in names))
        .table_valued(*names)
        .render_derived(name=LISTS)
    )

    def replaced(element: Any, **_: object) -> Any:  # noqa: ANN401 -- SQLAlchemy's own signature
        if isinstance(element, BindParameter) and element.key != TENANT.key:
            return lists.c[element.key]
        return None

    return typing.cast("Update", visitors.replacement_traverse(statement, {}, replaced))


def _parameters(statement: Update) -> set[str]:
    return {
        element.key
        for element in visitors.iterate(statement)
        if isinstance(element, BindParameter) and isinstance(element.key, str)
    }


def _element_type(kind: TypeEngine[Any]) -> TypeEngine[Any]:
    # A collation belongs to a column, not to what is compared with it.
    return Text() if isinstance(kind, Text) else kind
