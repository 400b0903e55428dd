"""How a database gets its schema, and that the schema serves the questions it is asked."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import subprocess
import sys
import textwrap
from datetime import timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

import awareness_sql
from awareness_core.api_keys import ApiKeyId, PublicId
from awareness_core.campaigns import CampaignQuery, CampaignState
from awareness_core.emails import EmailKey
from awareness_core.employees import EmployeeChange, archive
from awareness_core.errors import StoreUnavailable
from awareness_core.periods import Period
from awareness_core.ports import EmployeeQuery
from awareness_core.sectors import Sector, SectorId
from awareness_sql import SqlStorage, open_storage
from awareness_sql.migration import migrate
from awareness_sql.tables import SCHEMA_VERSION, metadata
from tests.contracts.storages import ACME, NOW, Seen, campaign, hired, password, person, receipt, seen
from tests.contracts.test_store_portal import chosen, session

pytestmark = pytest.mark.anyio

SCRIPTS = ScriptDirectory(str(Path(awareness_sql.__file__).with_name("migrations")))
STEPS = tuple(revision.revision for revision in SCRIPTS.walk_revisions())[::-1]


def test_migrating_an_empty_folder_takes_every_step_and_again_none(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new 100% #1?.db'}"

    assert STEPS == migrate(url)
    assert () == migrate(url)


def test_the_migrations_lead_to_the_schema_that_the_code_expects(path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert [] == compare_metadata(context, metadata)
    engine.dispose()
    assert [SCHEMA_VERSION] == SCRIPTS.get_heads()


def test_constraints_and_partial_indexes_are_those_that_the_code_declares(path: Path, tmp_path: Path) -> None:
    """Alembic's comparison sees neither checks, nor the names of constraints, nor where a partial index ends."""
    declared = tmp_path / "declared.db"
    engine = create_engine(f"sqlite:///{declared}")
    metadata.create_all(engine)
    engine.dispose()

    assert _definitions(declared) == _definitions(path)


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new.db"

    migrate(f"sqlite:///{path}")

    assert 0o600 == path.stat().st_mode & 0o777


@pytest.mark.slow
def test_processes_that_migrate_at_once_take_each_step_once(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    program = """
        import sys
        from awareness_sql.migration import migrate
        sys.stdin.readline()
        print(migrate(sys.argv[1]))
    """
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), f"sqlite:///{path}"],
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


def test_a_folder_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be created"):
        migrate(f"sqlite:///{tmp_path / 'nowhere' / 'new.db'}")


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear customer, " * 100)

    with pytest.raises(StoreUnavailable, match="is not an SQLite database"):
        migrate(f"sqlite:///{path}")

    assert "Dear customer, " * 100 == path.read_text()


@pytest.mark.parametrize(
    ("version", "advice"), [("0000", "run `awareness migrate`"), ("9999", "upgrade this program")]
)
async def test_a_schema_of_another_release_is_told_with_what_to_do(
    path: Path, version: str, advice: str
) -> None:
    _set_version(path, version)

    async with open_storage(f"sqlite:///{path}") as storage:
        with pytest.raises(StoreUnavailable, match=re.escape(advice)):
            await storage.store.check()


def test_migrating_a_database_of_a_newer_release_changes_nothing(path: Path) -> None:
    _set_version(path, "9999")
    before = _definitions(path)

    with pytest.raises(StoreUnavailable, match="upgrade this program"):
        migrate(f"sqlite:///{path}")

    assert before == _definitions(path)


async def test_every_statement_finds_its_rows_through_an_index(
    sqlite: SqlStorage, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each statement that runs is written down with its values and explained afterwards."""
    ran: set[str] = set()
    connect = sqlite3.connect

    def connect_and_listen(*arguments: object, **options: object) -> sqlite3.Connection:
        driver: sqlite3.Connection = connect(*arguments, **options)  # type: ignore[call-overload]
        driver.set_trace_callback(ran.add)
        return driver

    monkeypatch.setattr(sqlite3, "connect", connect_and_listen)
    async with open_storage(f"sqlite:///{path}") as storage:
        await use_everything(storage)
    monkeypatch.undo()

    statements = {
        statement for statement in ran if statement.startswith(("SELECT", "UPDATE", "DELETE", "INSERT"))
    }
    assert len(statements) > 25
    with contextlib.closing(sqlite3.connect(path)) as other:
        plans = {
            statement: [row[3] for row in other.execute(f"EXPLAIN QUERY PLAN {statement}")]
            for statement in statements
            # All companies and all keys are read whole; they are few, and that is what was asked for.
            if "WHERE" in statement
        }
    assert {} == {
        statement: plan
        for statement, plan in plans.items()
        if any(step.startswith("SCAN") and "json_each" not in step for step in plan)
    }
    assert ["SEARCH employees USING INDEX employees_awaiting_password_idx (company_id=?)"] in plans.values()
    for column in ("id", "external_id", "email_key", "sector_id"):
        narrowed = [
            plan
            for statement, plan in plans.items()
            if re.search(rf"WHERE .*\bemployees\.{column} (=|IN) ", statement, re.DOTALL)
        ]
        assert narrowed
        assert [] == [plan for plan in narrowed if f"{column}=?" not in plan[0]]


async def use_everything(storage: SqlStorage) -> None:
    from tests.contracts.test_api_keys import api_key

    always = Period(start=NOW - timedelta(days=1), end=NOW + timedelta(days=1))
    anna, bob = person(1, external_id="E1"), person(2, sector_id=SectorId(1))
    await storage.companies.list_companies()
    await storage.api_keys.add_api_key(api_key(1))
    await storage.api_keys.find_api_key(PublicId("00000000001"))
    await storage.api_keys.list_api_keys(ACME.id)
    await storage.api_keys.record_api_key_use(ApiKeyId("key-1"), at=NOW)
    await storage.api_keys.revoke_api_key(ApiKeyId("key-1"), at=NOW)
    async with storage.store.transaction(ACME.id) as transaction:
        await transaction.apply(changes=hired(anna, bob), sectors=[Sector(id=SectorId(1), name="Sales")])
        await transaction.record_attempts([password(bob)])
        await transaction.record_deliveries([password(bob)])
        gone = archive(anna, now=NOW)
        await transaction.apply(changes=[EmployeeChange(before=anna, after=gone)])
        await transaction.forget_passwords([bob.id])
        await transaction.save_campaigns([campaign(1)])
        await transaction.save_campaigns([campaign(1, name="Other")])
        await transaction.save_receipt(receipt(), answer=[b"answer"])
        await transaction.purge_receipts(at=NOW + timedelta(days=2), at_most=2)
        await transaction.save_chosen_password(chosen(bob))
        await transaction.save_session(session(1, bob))
        await transaction.purge_sessions(at=NOW, at_most=2)
    await storage.visitors.find_holder(bob.email.key)
    await storage.visitors.find_session(session(1, bob).digest)
    async with storage.store.reading(ACME.id) as reading:
        await reading.company()
        await reading.matching_employees(external_ids=["E1"], email_keys=[anna.email.key])
        await reading.addresses_held_by_other_companies([EmailKey("x@y")])
        await reading.unchanged_people([seen(anna, bytes(16)), Seen(bytes(16), None, "x@y")])
        await reading.rostered_employees()
        await reading.count_rostered_employees()
        await reading.employees_by_id([anna.id])
        await reading.employees_without_password()
        await reading.temporary_passwords(bob.id)
        await reading.chosen_password(bob.id)
        await reading.session(session(1, bob).digest)
        await reading.campaigns_by_id([campaign(1).id])
        await reading.receipt(receipt().id)
        [part async for part in reading.kept_answer(receipt().id)]
        for query in (
            EmployeeQuery(),
            EmployeeQuery(external_id="E1"),
            EmployeeQuery(email_key=anna.email.key),
            EmployeeQuery(sector_id=SectorId(1)),
        ):
            await reading.list_employees(query)
        await reading.list_campaigns(CampaignQuery(period=always))
        await reading.list_campaigns(CampaignQuery(period=always, state=CampaignState.DRAFT))


def _set_version(path: Path, version: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE alembic_version SET version_num = ?", (version,))


def _definitions(path: Path) -> dict[str, str]:
    with contextlib.closing(sqlite3.connect(path)) as other:
        found = other.execute(
            "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'alembic%' AND sql <> ''"
        )
        return {name: _without_order(sql) for name, sql in found}


def _without_order(sql: str) -> str:
    """A definition with its clauses sorted, as their order means nothing and Alembic has its own.

    SQLite writes a column that was added later behind all others, on one line.
    """
    head, _, clauses = sql.partition("(")
    depth, parts = 0, [""]
    for character in clauses.rpartition(")")[0]:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return "\n".join([head.strip(), *sorted(" ".join(part.split()) for part in parts)])
