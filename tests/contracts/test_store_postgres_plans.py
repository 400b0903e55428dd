"""How PostgreSQL looks for many keys: one by one in the index that knows them, before it has looked into the table."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import pytest
from sqlalchemy import ColumnElement, bindparam, select

from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.postgres.dialect import CompiledStatement
from awareness_sql.results import CHANGED_EVENT
from awareness_sql.tables import campaign_events, employees
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


EVENTS = """
INSERT INTO campaigns (company_id, id, name, state, created_at, listed_at, total, sent, opened, clicked, submitted,
                       reported, errors, machine)
VALUES ('c', 'k', 'K', 'running', 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO campaign_events (company_id, campaign_id, key, email_key, step, at, place, signs)
SELECT 'c', 'k', n, n || '@c.example', 'opened', n, n || ' 1', 0 FROM generate_series(1, 5000) AS n;
"""


@pytest.fixture(scope="module")
def young(postgres: PlacedDatabase) -> Iterator[PlacedDatabase]:
    """A database to which people and events have just come for the first time."""
    database = attrs.evolve(postgres, name=f"{postgres.name}_plans")
    drop = f"DROP DATABASE IF EXISTS {database.name} (FORCE)"
    database.as_superuser(drop)
    database.make()
    database.within(PEOPLE, EVENTS)
    yield database
    database.as_superuser(drop)


@pytest.mark.parametrize("name", BY_KEYS)
def test_a_list_of_keys_is_looked_for_in_their_own_index(young: PlacedDatabase, name: str) -> None:
    column: ColumnElement[str] = BY_KEYS[name]
    statement = CompiledStatement(bound(select(employees.c.id).where(OneOf(column, KEYS))))

    plan = psql(young.url, f"EXPLAIN (GENERIC_PLAN) {statement.sql}")

    conditions = [line for line in plan if "Index Cond" in line]
    assert [True] == [name in line and "company_id" in line for line in conditions]


@pytest.mark.parametrize("name", ["key", "email_key", "place"])
def test_events_of_a_campaign_are_looked_for_in_the_index_that_knows_them(
    young: PlacedDatabase, name: str
) -> None:
    """All three begin with the company and the campaign, so that each of them could be read to its end."""
    events = select(campaign_events.c.key).where(campaign_events.c.campaign_id == bindparam("campaign_id"))
    statement = CompiledStatement(bound(events.where(OneOf(campaign_events.c[name], KEYS))))

    plan = psql(young.url, f"EXPLAIN (GENERIC_PLAN) {statement.sql}")

    conditions = [line for line in plan if "Index Cond" in line]
    assert [True] == [f"({name} = " in line for line in conditions]


def test_an_event_is_changed_through_the_index_of_keys(young: PlacedDatabase) -> None:
    plan = psql(young.url, f"EXPLAIN (GENERIC_PLAN) {CompiledStatement(bound(CHANGED_EVENT)).sql}")

    assert [True] == ["(key = " in line for line in plan if "Index Cond" in line]


def test_what_is_sorted_or_limited_is_left_as_it_is() -> None:
    plain = select(employees.c.id).where(OneOf(employees.c.id, KEYS))

    assert "LATERAL" in CompiledStatement(plain).sql
    assert "LATERAL" not in CompiledStatement(plain.order_by(employees.c.id)).sql
    assert "LATERAL" not in CompiledStatement(plain.limit(1)).sql
