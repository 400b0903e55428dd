"""How a PostgreSQL database gets its schema, and that the schema serves the questions it is asked."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, MetaData

from awareness_core.errors import StoreUnavailable
from awareness_sql import open_storage
from awareness_sql.migration import migrate
from awareness_sql.postgres import database as postgres_module
from awareness_sql.postgres.address import Address, parse_address
from awareness_sql.postgres.driver import Driver, connect
from awareness_sql.postgres.migrating import run_migrating
from awareness_sql.tables import SCHEMA_VERSION, metadata, quota_windows
from tests.contracts.postgres_database import PlacedDatabase, open_postgres
from tests.contracts.postgres_server import OWNER, psql
from tests.contracts.storages import ACME, GLOBEX
from tests.contracts.test_store_schema import STEPS, use_everything

pytestmark = pytest.mark.anyio

EVERYTHING: list[MetaData] = [metadata, quota_windows.metadata]


@pytest.fixture
def unmade(postgres: PlacedDatabase) -> Iterator[PlacedDatabase]:
    """An empty database, without any tables."""
    with _made(attrs.evolve(postgres, name=f"{postgres.name}_new")) as database:
        yield database


@contextmanager
def _made(database: PlacedDatabase, options: str = "") -> Iterator[PlacedDatabase]:
    drop = f"DROP DATABASE IF EXISTS {database.name} (FORCE)"
    database.as_superuser(drop, f"CREATE DATABASE {database.name} OWNER {OWNER} {options}")
    yield database
    database.as_superuser(drop)


def test_migrating_takes_every_step_and_again_none(unmade: PlacedDatabase) -> None:
    assert STEPS == migrate(unmade.owner_url)
    assert () == migrate(unmade.owner_url)


async def test_migrating_from_within_an_event_loop_is_no_trouble(unmade: PlacedDatabase) -> None:
    assert STEPS == migrate(unmade.owner_url)


def test_the_migrations_lead_to_the_schema_that_the_code_expects(postgres: PlacedDatabase) -> None:
    def compare(connection: Connection) -> object:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return compare_metadata(context, EVERYTHING)  # type: ignore[arg-type] # several are taken, too

    assert [] == run_migrating(parse_address(postgres.owner_url), compare)


def test_all_that_the_catalogue_knows_is_what_the_code_declares(
    postgres: PlacedDatabase, unmade: PlacedDatabase
) -> None:
    """Collations, checks, names, partial indexes, what is logged: Alembic's comparison sees none of it."""

    def create_all(connection: Connection) -> None:
        for tables in EVERYTHING:
            tables.create_all(connection)

    run_migrating(parse_address(unmade.owner_url), create_all)

    declared = _definitions(unmade)
    assert len(declared) > 100
    assert declared == _definitions(postgres)


@pytest.mark.slow
def test_processes_that_migrate_at_once_take_each_step_once(unmade: PlacedDatabase) -> None:
    program = """
        import sys
        from awareness_sql.migration import migrate
        sys.stdin.readline()
        print(migrate(sys.argv[1]))
    """
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), unmade.owner_url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate() for process in processes]

    expected = ["()\n"] * 3 + [f"{STEPS}\n"]
    assert sorted(expected) == sorted(printed for printed, _ in outputs), outputs


def test_a_migration_that_fails_leaves_nothing(unmade: PlacedDatabase) -> None:
    psql(unmade.owner_url, "CREATE TABLE quota_windows (something text)")

    with pytest.raises(StoreUnavailable, match='relation "quota_windows" already exists'):
        migrate(unmade.owner_url)

    assert ["quota_windows"] == psql(
        unmade.owner_url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    )


def test_migrating_as_the_service_is_refused(unmade: PlacedDatabase) -> None:
    with pytest.raises(StoreUnavailable, match="permission denied for schema public"):
        migrate(unmade.url)


@pytest.mark.parametrize(
    ("version", "advice"), [("0000", "run `awareness migrate`"), ("9999", "upgrade this program")]
)
async def test_a_schema_of_another_release_is_told_with_what_to_do(
    postgres: PlacedDatabase, version: str, advice: str
) -> None:
    async with open_postgres(postgres) as storage:
        psql(postgres.owner_url, f"UPDATE alembic_version SET version_num = '{version}'")
        try:
            with pytest.raises(StoreUnavailable, match=re.escape(advice)):
                await storage.store.check()
            if version == "9999":
                with pytest.raises(StoreUnavailable, match="upgrade this program"):
                    migrate(postgres.owner_url)
        finally:
            psql(postgres.owner_url, f"UPDATE alembic_version SET version_num = '{SCHEMA_VERSION}'")
        await storage.store.check()


async def test_an_empty_database_asks_for_a_migration(unmade: PlacedDatabase) -> None:
    async with open_storage(unmade.url) as storage:
        for use in (
            storage.store.check(),
            storage.companies.list_companies(),
            storage.api_keys.find_api_key(ACME.id),  # type: ignore[arg-type] # any text will do
        ):
            with pytest.raises(StoreUnavailable, match="run `awareness migrate`"):
                await use

        migrate(unmade.owner_url)
        psql(unmade.owner_url, "GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC")
        await storage.companies.add_company(ACME)
        assert [ACME] == await storage.companies.list_companies()


async def test_a_database_that_cannot_hold_every_text_is_refused(postgres: PlacedDatabase) -> None:
    latin = attrs.evolve(postgres, name=f"{postgres.name}_latin")
    with _made(latin, "ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'"):
        with pytest.raises(StoreUnavailable, match="keeps texts as LATIN1"):
            migrate(latin.owner_url)
        async with open_storage(latin.url) as storage:
            with pytest.raises(StoreUnavailable, match="ENCODING 'UTF8'"):
                await storage.store.check()


async def test_every_statement_finds_its_rows_through_an_index(
    postgres: PlacedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each statement that runs is written down and explained afterwards, for any values."""
    ran: set[str] = set()

    async def connect_and_listen(address: Address) -> Driver:
        driver: Any = await connect(address)
        driver.add_query_logger(lambda record: ran.add(record.query))
        return driver  # type: ignore[no-any-return]

    monkeypatch.setattr(postgres_module, "connect", connect_and_listen)
    async with open_postgres(postgres) as storage:
        await storage.companies.add_company(ACME)
        await storage.companies.add_company(GLOBEX)
        await use_everything(storage)
    postgres.within(_MANY_ROWS)

    asked = {sql for sql in ran if sql.startswith(("SELECT", "UPDATE", "DELETE")) and "WHERE" in sql}
    assert len(asked) > 20
    plans = {sql: await asyncio.to_thread(_plan, postgres, sql) for sql in asked if "pg_" not in sql}
    assert {} == {sql: plan for sql, plan in plans.items() if "Seq Scan" in plan}
    assert [] != [plan for plan in plans.values() if "employees_awaiting_password_idx" in plan]
    for column in ("id", "external_id", "email_key", "sector_id"):
        narrowed = [
            plan
            for sql, plan in plans.items()
            if re.search(rf"WHERE .*\bemployees\.{column} = ", sql, re.DOTALL)
        ]
        assert narrowed, column
        assert [] == [plan for plan in narrowed if not re.search(rf"Index Cond: .*\b{column} = ", plan)]


# Of a few rows a server would rather read all.
_MANY_ROWS = """
INSERT INTO companies SELECT 'c' || n, n, n, 'fr', '', 0, 0 FROM generate_series(1, 3000) n;
INSERT INTO api_keys (id, company_id, public_id, secret_digest, name, scopes, created_at)
    SELECT 'c' || n, 'c' || n % 100 + 1, 'c' || n, '', '', '', n FROM generate_series(1, 10000) n;
INSERT INTO sectors SELECT 'c' || n % 100 + 1, n, n, n FROM generate_series(1, 10000) n;
INSERT INTO employees (company_id, id, external_id, email, email_key, email_domain, held_email_key, last_name,
        first_name, sector_id, state, has_password, created_at, updated_at, search_text, fingerprint)
    SELECT 'c' || n % 100 + 1, 'c' || n, n, n, n, '', n, '', '', n, 'active', n % 50 > 0, 0, 0, n, n
    FROM generate_series(1, 10000) n;
INSERT INTO temporary_passwords SELECT company_id, id, '', '', 0, 0 FROM employees;
INSERT INTO pending_invitations SELECT company_id, id, 0, 1, id, n
    FROM (SELECT company_id, id, row_number() OVER () AS n FROM employees) numbered;
INSERT INTO campaigns SELECT 'c' || n % 100 + 1, n, '', 'draft', 0, 0, 0, n, 0, 0, 0, 0, 0, 0, 0, 0
    FROM generate_series(1, 10000) n;
INSERT INTO chosen_passwords SELECT company_id, id, '', 0 FROM employees WHERE fingerprint > '';
INSERT INTO sessions SELECT id, company_id, id, false, 0, 0, created_at + 1 FROM employees;
INSERT INTO recipients (company_id, campaign_id, email_key, email, employee_id, machine, with_machine)
    SELECT campaigns.company_id, campaigns.id, '', '', campaigns.id, 0, 0 FROM campaigns;
INSERT INTO receipts SELECT 'c' || n % 100 + 1, n, '', '', 'claimed', 0, n FROM generate_series(1, 10000) n;
INSERT INTO receipt_parts SELECT company_id, id, 0, '' FROM receipts;
ANALYZE;
"""


def _plan(postgres: PlacedDatabase, sql: str) -> str:
    return "\n".join(psql(postgres.url, f"EXPLAIN (GENERIC_PLAN) {sql}"))


def _definitions(database: PlacedDatabase) -> list[str]:
    return psql(
        database.owner_url,
        """
        SELECT line FROM (
            SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace
            UNION ALL
            SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE relnamespace = 'public'::regnamespace
            UNION ALL
            SELECT format('%s %s %s %s', oid::regclass, relkind, relpersistence, reloptions) FROM pg_class
            WHERE relnamespace = 'public'::regnamespace
            UNION ALL
            SELECT format('%s.%s %s %s %s %s', attrelid::regclass, attname,
                format_type(atttypid, atttypmod), attnotnull, collname, pg_get_expr(adbin, adrelid))
            FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            LEFT JOIN pg_collation ON pg_collation.oid = attcollation
            LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
            WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
        ) AS lines WHERE line NOT LIKE '%alembic_version%' ORDER BY line COLLATE "C"
        """,
    )
