"""How PostgreSQL looks for many keys: one by one in the index that knows them, before it has looked into the table."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import pytest
from sqlalchemy import ColumnElement, select

from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.postgres.dialect import CompiledStatement
from awareness_sql.tables import employees
from awareness_sql.tenancy import bound
from tests.contracts.postgres_database import PlacedDatabase
from tests.contracts.postgres_server import psql

BY_KEYS = {column.name: column for column in (employees.c.id, employees.c.external_id, employees.c.email_key)}


PEOPLE = """
INSERT INTO companies (id, name, name_key, language, sso_domains, invitation_lifetime, created_at)
VALUES ('c', 'C', 'c', 'fr', '', 1, 1);
INSERT INTO employees (company_id, id, external_id, email, email_key, email_domain, held_email_key, last_name,
                       first_name, state, has_password, created_at, updated_at, search_text)
SELECT 'c', n, n, n || '@c.example', n || '@c.example', 'c.example', n || '@c.example', 'N', 'P',
       'active', false, 1, 1, 'n p'
FROM generate_series(1, 5000) AS n;
"""
"""As many as a few parts of a large payload bring, and nobody has told the planner of them."""


@pytest.fixture(scope="module")
def young(postgres: PlacedDatabase) -> Iterator[PlacedDatabase]:
    """A database to which people have just come for the first time."""
    database = attrs.evolve(postgres, name=f"{postgres.name}_plans")
    drop = f"DROP DATABASE IF EXISTS {database.name} (FORCE)"
    database.as_superuser(drop)
    database.make()
    database.within(PEOPLE)
    yield database
    database.as_superuser(drop)


@pytest.mark.parametrize("name", BY_KEYS)
def test_a_list_of_keys_is_looked_for_in_their_own_index(young: PlacedDatabase, name: str) -> None:
    column: ColumnElement[str] = BY_KEYS[name]
    statement = CompiledStatement(bound(select(employees.c.id).where(OneOf(column, KEYS))))

    plan = psql(young.url, f"EXPLAIN (GENERIC_PLAN) {statement.sql}")

    conditions = [line for line in plan if "Index Cond" in line]
    assert [True] == [name in line and "company_id" in line for line in conditions]


def test_what_is_sorted_or_limited_is_left_as_it_is() -> None:
    plain = select(employees.c.id).where(OneOf(employees.c.id, KEYS))

    assert "LATERAL" in CompiledStatement(plain).sql
    assert "LATERAL" not in CompiledStatement(plain.order_by(employees.c.id)).sql
    assert "LATERAL" not in CompiledStatement(plain.limit(1)).sql
