"""What is asked across the wall between companies: these questions, and nothing else ever is.

Whether another company holds an address, as an address has one holder in all of them. And what is asked before it is
known of which company somebody is: whose an API key is, who holds the address that is logged in with, whose a session
is.
"""

from __future__ import annotations

import functools
from typing import Any

import attrs
from sqlalchemy import ColumnElement, Select, Text, bindparam, select

from awareness_sql.access_rows import API_KEY_COLUMNS
from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.tables import api_keys, employees, sessions

TENANT = bindparam("tenant", type_=Text)
"""The company that asks."""


@attrs.frozen(kw_only=True, eq=False)
class Crossing:
    """A question across the wall: the rows of `query` whose `column`, one of its columns, is one of the texts given.

    A database whose wall is `tenancy` runs the query. One that has a wall of its own calls its function of that name,
    which takes the list of texts and returns the columns of the query; that function alone sees through the wall.
    """

    function: str
    query: Select[*tuple[Any, ...]]
    column: ColumnElement[Any]

    @functools.cached_property
    def for_one(self) -> Select[*tuple[Any, ...]]:
        """The query with one text, the parameter `key`."""
        return self.query.where(self.column == bindparam("key", type_=Text))

    @functools.cached_property
    def for_many(self) -> Select[*tuple[Any, ...]]:
        """The query with a list of texts, the parameter `KEYS`."""
        return self.query.where(OneOf(self.column, KEYS))


ADDRESSES_HELD_BY_OTHER_COMPANIES = Crossing(
    function="addresses_held_by_other_companies",
    query=select(employees.c.held_email_key).where(employees.c.company_id != TENANT),
    column=employees.c.held_email_key,
)
API_KEYS_BY_PUBLIC_ID = Crossing(
    function="api_keys_by_public_id", query=select(*API_KEY_COLUMNS), column=api_keys.c.public_id
)
HOLDERS_BY_ADDRESS = Crossing(
    function="holders_by_address",
    query=select(employees.c.held_email_key, employees.c.company_id, employees.c.id),
    column=employees.c.held_email_key,
)
SESSIONS_BY_DIGEST = Crossing(
    function="sessions_by_digest",
    query=select(sessions.c.digest, sessions.c.company_id, sessions.c.employee_id),
    column=sessions.c.digest,
)
