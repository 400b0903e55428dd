"""The second wall: what PostgreSQL keeps apart by itself when the program forgets to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import asyncpg
import pytest
from sqlalchemy import Table, delete, func, insert, literal, select, update

from awareness_core.anonymity import AddressMark, ErasedAddress
from awareness_core.errors import StoreUnavailable
from awareness_core.kpis import Step
from awareness_core.outbox import decided
from awareness_core.results_plan import ResultChanges
from awareness_core.sectors import Sector, SectorId
from awareness_core.sources import CampaignReading
from awareness_core.verdict_rules import DEFAULT_RULES
from awareness_sql import DatabaseUnfit, SqlStorage, open_storage
from awareness_sql.crossings import (
    ADDRESSES_HELD_BY_OTHER_COMPANIES,
    API_KEYS_BY_PUBLIC_ID,
    HOLDERS_BY_ADDRESS,
    SESSIONS_BY_DIGEST,
    Crossing,
)
from awareness_sql.engine import NO_PARAMETERS, Connection
from awareness_sql.glance import Glance
from awareness_sql.one_of import KEYS
from awareness_sql.postgres.address import parse_address
from awareness_sql.postgres.database import PostgresDatabase
from awareness_sql.tables import companies, metadata
from tests.contracts.postgres_database import PlacedDatabase, open_postgres
from tests.contracts.postgres_server import OWNER, PASSWORD, SERVICE, make_url, psql
from tests.contracts.storages import ACME, GLOBEX, NOW, campaign, hired, password, person, receipt
from tests.contracts.test_api_keys import api_key
from tests.contracts.test_identity_providers import provider
from tests.contracts.test_sources import source
from tests.contracts.test_store_portal import chosen, session
from tests.core.tellings import happened, targeted

pytestmark = pytest.mark.anyio

TABLES = list(metadata.tables.values())
DEPENDENTS = (
    "erased_addresses",
    "erasure_secrets",
    "receipt_parts",
    "receipts",
    "temporary_passwords",
    "pending_invitations",
    "chosen_passwords",
    "sessions",
    "verdict_rules",
    "source_readings",
    "sources",
    "identity_providers",
    "api_keys",
    "campaign_events",
    "recipients",
    "campaigns",
    "employees",
    "sectors",
    "companies",
)
OPERATORS = {
    "companies",
    "api_keys",
    "sources",
    "source_readings",
    "identity_providers",
    "pending_invitations",
}
CROSSINGS = (
    ADDRESSES_HELD_BY_OTHER_COMPANIES,
    API_KEYS_BY_PUBLIC_ID,
    HOLDERS_BY_ADDRESS,
    SESSIONS_BY_DIGEST,
)
RESULTS = ResultChanges(new_recipients=[targeted("a")], new_events=[happened("a", Step.SENT).event])
THEIRS = person(1, email="theirs@globex.example", sector_id=SectorId(1))


@pytest.fixture
async def both(postgres: PlacedDatabase) -> AsyncIterator[SqlStorage]:
    """Two companies with a row in every table."""
    async with open_postgres(postgres) as storage:
        for number, company in enumerate((ACME, GLOBEX)):
            await storage.companies.add_company(company)
            await storage.api_keys.add_api_key(api_key(number, company_id=company.id))
            await storage.sources.add_source(source(number, company_id=company.id))
            await storage.sources.record_campaign_reading(
                source(number).id, "1", CampaignReading(digest="d", read_at=NOW)
            )
            someone = person(1, email=f"theirs@{company.id}.example", sector_id=SectorId(1))
            async with storage.store.transaction(company.id) as transaction:
                await transaction.apply(
                    changes=hired(someone), sectors=[Sector(id=SectorId(1), name=f"Sector of {company.name}")]
                )
                await transaction.record_attempts([password(someone)])
                await transaction.save_pending([decided(someone.id, holder=company.name, now=NOW)])
                await transaction.save_verdict_rules(DEFAULT_RULES)
                await transaction.save_campaigns([campaign(1)])
                await transaction.save_results(campaign(1).id, RESULTS)
                await transaction.save_receipt(receipt(), answer=[b"answer"])
                await transaction.save_erasure_secret(b"secret")
                await transaction.save_erased_addresses([ErasedAddress(mark=AddressMark("m"), until=NOW)])
                await transaction.save_chosen_password(chosen(someone))
                await transaction.save_session(session(number, someone))
                await transaction.save_identity_provider(provider(company))
        yield storage


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[PostgresDatabase]:
    """The database under the first wall."""
    database = PostgresDatabase(parse_address(url))
    yield database
    await database.close()


@pytest.fixture(params=[SERVICE, OWNER])
async def database(
    request: pytest.FixtureRequest, both: SqlStorage, postgres: PlacedDatabase
) -> AsyncIterator[PostgresDatabase]:
    """As the service reaches it, and as the owner of the tables does."""
    async with opened(make_url(postgres.place, postgres.name, request.param)) as database:
        yield database


async def _owners(connection: Connection, table: Table) -> list[str]:
    column = companies.c.id if table is companies else table.c.company_id
    return sorted(await connection.fetch(select(column), NO_PARAMETERS, lambda row: str(row[0])))


@pytest.mark.parametrize("table", TABLES, ids=str)
async def test_a_question_that_names_no_company_is_answered_for_one(
    database: PostgresDatabase, table: Table
) -> None:
    for company in (ACME, GLOBEX):
        async with database.reading(company.id) as connection:
            assert [company.id] == await _owners(connection, table)
        async with database.writing(company.id) as connection:
            assert [company.id] == await _owners(connection, table)
        assert [company.id] == await _owners(Glance(database, company.id), table)


async def test_companies_that_glance_in_turns_see_their_own_and_leave_nothing_open(
    both: SqlStorage, postgres: PlacedDatabase
) -> None:
    sectors = metadata.tables["sectors"]
    companies_in_turns = [ACME.id, GLOBEX.id, GLOBEX.id, ACME.id]
    async with opened(postgres.url) as database:
        # One after the other on one connection, and then at the same time on several.
        seen = [await _owners(Glance(database, company_id), sectors) for company_id in companies_in_turns]
        at_once = await asyncio.gather(
            *(_owners(Glance(database, company_id), sectors) for company_id in companies_in_turns * 5)
        )

        assert [[company_id] for company_id in companies_in_turns] == seen
        assert [[company_id] for company_id in companies_in_turns * 5] == at_once
        assert 0 == await database.look_up(
            select(func.count()).select_from(sectors), NO_PARAMETERS, lambda row: int(row[0])
        )


async def test_a_glance_writes_nothing(database: PostgresDatabase) -> None:
    sectors = metadata.tables["sectors"]
    glance = Glance(database, ACME.id)
    for write in (
        glance.run(delete(sectors), NO_PARAMETERS),
        glance.run_many(delete(sectors), [NO_PARAMETERS]),
    ):
        with pytest.raises(RuntimeError, match="only a transaction writes"):
            await write
    with pytest.raises(RuntimeError, match="only a transaction writes"):
        glance.all_or_nothing()
    with pytest.raises(RuntimeError, match="only a transaction writes"):
        glance.leave_no_trace()

    assert [ACME.id] == await _owners(glance, sectors)


async def test_a_write_that_names_no_company_reaches_one(database: PostgresDatabase) -> None:
    # Each after those that refer to it.
    tables = [metadata.tables[name] for name in DEPENDENTS]
    async with database.writing(ACME.id) as connection:
        for table in tables:
            column = list(table.columns)[-1]
            assert 1 == await connection.run(update(table).values({column: column}), NO_PARAMETERS)
        for table in tables:
            assert 1 == await connection.run(delete(table), NO_PARAMETERS)

    async with database.writing(GLOBEX.id) as connection:
        assert [[GLOBEX.id]] * len(DEPENDENTS) == [await _owners(connection, table) for table in tables]


async def test_a_row_of_another_company_is_refused_as_a_mistake_not_as_an_outage(
    database: PostgresDatabase,
) -> None:
    theirs = insert(metadata.tables["sectors"]).values(
        company_id=literal(GLOBEX.id), id=literal(7), name=literal("x"), name_key=literal("x")
    )
    moved = update(metadata.tables["sectors"]).values(company_id=literal(GLOBEX.id), id=literal(8))
    for statement in (theirs, moved):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            async with database.writing(ACME.id) as connection:
                await connection.run(statement, NO_PARAMETERS)

    async with database.reading(GLOBEX.id) as connection:
        assert [GLOBEX.id] == await _owners(connection, metadata.tables["sectors"])


@pytest.mark.parametrize("table", TABLES, ids=str)
async def test_an_operators_transaction_sees_companies_keys_sources_and_whose_mail_is_due_and_nothing_else(
    database: PostgresDatabase, table: Table
) -> None:
    both = [ACME.id, GLOBEX.id] if table.name in OPERATORS else []

    async with database.reading(None) as connection:
        assert both == await _owners(connection, table)
    async with database.writing(None) as connection:
        assert both == await _owners(connection, table)


@pytest.mark.parametrize("table", TABLES, ids=str)
async def test_whoever_says_nothing_sees_nothing(database: PostgresDatabase, table: Table) -> None:
    count = select(func.count()).select_from(table)

    assert 0 == await database.look_up(count, NO_PARAMETERS, lambda row: int(row[0]))
    # Nor on a connection that has been a company's, and an operator's.
    for company_id in (ACME.id, None):
        async with database.writing(company_id):
            pass
        assert 0 == await database.look_up(count, NO_PARAMETERS, lambda row: int(row[0]))


@pytest.mark.parametrize("table", TABLES, ids=str)
async def test_a_question_across_the_wall_leaves_no_door_open(
    database: PostgresDatabase, table: Table
) -> None:
    keys = {KEYS: [THEIRS.email.key, f"{1:011}", session(1, THEIRS).digest]}
    async with database.writing(ACME.id) as connection:
        held = await connection.fetch(ADDRESSES_HELD_BY_OTHER_COMPANIES, keys, tuple)
        others = (API_KEYS_BY_PUBLIC_ID, HOLDERS_BY_ADDRESS, SESSIONS_BY_DIGEST)
        found = [await connection.fetch(crossing, keys, tuple) for crossing in others]

        assert [(THEIRS.email.key,)] == held
        assert [[GLOBEX.id]] * 3 == [[row[1] for row in rows] for rows in found]
        assert [ACME.id] == await _owners(connection, table)


@pytest.mark.parametrize("table", TABLES, ids=str)
@pytest.mark.parametrize("crossing", CROSSINGS, ids=lambda crossing: crossing.function)
async def test_the_service_cannot_open_the_door_by_itself(
    both: SqlStorage, postgres: PlacedDatabase, table: Table, crossing: Crossing
) -> None:
    seen = psql(
        postgres.url,
        f"SET app.crossing = '{crossing.function}'; SELECT count(*) FROM {table.name}",
    )

    assert ["0"] == seen


async def test_the_functions_are_nobodys_who_was_not_given_them(
    both: SqlStorage, postgres: PlacedDatabase
) -> None:
    with _role(postgres, "awareness_stranger"):
        for function in (crossing.function for crossing in CROSSINGS):
            with pytest.raises(RuntimeError, match=f"permission denied for function {function}"):
                psql(_url_of(postgres, "awareness_stranger"), f"SELECT {function}('{{a}}')")


async def test_the_functions_find_no_tables_but_their_own(both: SqlStorage, postgres: PlacedDatabase) -> None:
    """A temporary table of the caller's comes first in every search path that does not say otherwise."""
    seen = psql(
        postgres.url,
        "CREATE TEMPORARY TABLE employees (LIKE public.employees); "
        "CREATE TEMPORARY TABLE api_keys (LIKE public.api_keys); "
        "CREATE TEMPORARY TABLE sessions (LIKE public.sessions); "
        "SELECT set_config('app.tenant', 'acme', false); "
        f"SELECT * FROM addresses_held_by_other_companies('{{{THEIRS.email.key}}}'); "
        f"SELECT company_id FROM api_keys_by_public_id('{{{1:011}}}'); "
        f"SELECT company_id FROM holders_by_address('{{{THEIRS.email.key}}}'); "
        f"SELECT company_id FROM sessions_by_digest('{{{session(1, THEIRS).digest}}}')",
    )

    assert ["acme", THEIRS.email.key, "globex", "globex", "globex"] == seen


async def test_every_table_with_a_company_is_walled(both: SqlStorage, postgres: PlacedDatabase) -> None:
    walled = psql(
        postgres.owner_url,
        "SELECT tablename FROM pg_policies JOIN pg_class ON oid = tablename::regclass "
        "WHERE policyname = 'tenant' AND relrowsecurity AND relforcerowsecurity ORDER BY 1",
    )

    assert sorted(metadata.tables) == walled


# Which roles are refused


@pytest.mark.parametrize("attribute", ["SUPERUSER", "BYPASSRLS"])
async def test_a_role_above_the_wall_is_refused_with_how_to_make_another(
    both: SqlStorage, postgres: PlacedDatabase, attribute: str
) -> None:
    with _role(postgres, "awareness_above", attribute):
        psql(postgres.superuser_url, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO awareness_above")
        async with open_storage(_url_of(postgres, "awareness_above")) as storage:
            with pytest.raises(DatabaseUnfit, match="a superuser or a role with BYPASSRLS") as refused:
                await storage.store.check()
        psql(postgres.superuser_url, "DROP OWNED BY awareness_above")

    assert "as 'awareness_above'" in refused.value.message
    assert "CREATE ROLE awareness LOGIN PASSWORD '...';" == refused.value.statements[0]


@pytest.mark.parametrize("user", [SERVICE, OWNER])
async def test_the_service_and_the_owner_are_admitted(
    both: SqlStorage, postgres: PlacedDatabase, user: str
) -> None:
    async with open_storage(make_url(postgres.place, postgres.name, user)) as storage:
        await storage.store.check()


@pytest.mark.parametrize("taken_down", ["DISABLE ROW LEVEL SECURITY", "NO FORCE ROW LEVEL SECURITY"])
async def test_a_wall_that_somebody_took_down_is_noticed(
    both: SqlStorage, postgres: PlacedDatabase, taken_down: str
) -> None:
    psql(postgres.owner_url, f"ALTER TABLE campaigns {taken_down}")
    try:
        async with open_storage(postgres.owner_url) as storage:
            with pytest.raises(DatabaseUnfit, match="no row-level security on campaigns") as refused:
                await storage.store.check()
        psql(postgres.owner_url, *refused.value.statements)
    finally:
        psql(postgres.owner_url, "ALTER TABLE campaigns ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    await both.store.check()


async def test_a_role_without_rights_is_told_which_it_lacks(
    both: SqlStorage, postgres: PlacedDatabase
) -> None:
    with _role(postgres, "awareness_stranger"):
        async with open_storage(_url_of(postgres, "awareness_stranger")) as storage:
            for use in (
                storage.store.check(),
                storage.companies.list_companies(),
                storage.companies.add_company(ACME),
            ):
                with pytest.raises(StoreUnavailable, match="grant it the rights on all tables"):
                    await use


async def test_a_role_without_temporary_tables_is_told_so(both: SqlStorage, postgres: PlacedDatabase) -> None:
    psql(postgres.owner_url, f"REVOKE TEMPORARY ON DATABASE {postgres.name} FROM PUBLIC")
    try:
        with pytest.raises(DatabaseUnfit, match="does not let 'awareness_service' make temporary") as refused:
            await both.store.check()
        psql(postgres.owner_url, *refused.value.statements)
        await both.store.check()
    finally:
        psql(
            postgres.owner_url,
            f"REVOKE TEMPORARY ON DATABASE {postgres.name} FROM {SERVICE}",
            f"GRANT TEMPORARY ON DATABASE {postgres.name} TO PUBLIC",
        )


@contextmanager
def _role(postgres: PlacedDatabase, name: str, attribute: str = "") -> Iterator[None]:
    """A role that is there while the block runs."""
    postgres.as_superuser(f"CREATE ROLE {name} LOGIN {attribute} PASSWORD '{PASSWORD}'")
    try:
        yield
    finally:
        postgres.as_superuser(f"DROP ROLE {name}")


def _url_of(postgres: PlacedDatabase, user: str) -> str:
    return make_url(postgres.place, postgres.name, user)
