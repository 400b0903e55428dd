"""The PostgreSQL database under test: made once for a run of the tests, with the roles that operators are told to make.

TEST_DATABASE_URL, of a superuser, has a database made on a server that runs already; else a server is started.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import attrs
import pytest

from awareness_sql import SqlStorage, open_storage
from awareness_sql.migration import migrate
from awareness_sql.postgres.roles import MAKING_A_ROLE
from awareness_sql.tables import metadata, quota_windows
from tests.contracts.polling import until
from tests.contracts.postgres_server import (
    DATABASE,
    OWNER,
    PASSWORD,
    SERVICE,
    SUPERUSER,
    PostgresServer,
    make_url,
    psql,
)

# To truncate a table is to make its files anew, which takes longer than most tests; worth it where many rows were.
_EMPTYING = f"""
DO $$ DECLARE emptied text; BEGIN
  FOREACH emptied IN ARRAY string_to_array(
    '{" ".join([*(table.name for table in reversed(metadata.sorted_tables)), quota_windows.name])}', ' '
  ) LOOP
    IF pg_relation_size(emptied::regclass) > 262144 THEN
      EXECUTE format('TRUNCATE %I CASCADE', emptied);
    ELSE
      EXECUTE format('DELETE FROM %I', emptied);
    END IF;
  END LOOP;
END $$
"""


@attrs.frozen
class PlacedDatabase:
    """A migrated database. `url` is the service's; `place` is a host and a port."""

    place: str
    superuser_url: str
    name: str = DATABASE

    @property
    def url(self) -> str:
        return make_url(self.place, self.name, SERVICE)

    @property
    def owner_url(self) -> str:
        return make_url(self.place, self.name, OWNER)

    def make(self) -> None:
        """The roles, if they are not there, and the database, with all tables."""
        for role in (OWNER, SERVICE):
            self.as_superuser(
                f"DO $$ BEGIN CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'; "
                "EXCEPTION WHEN duplicate_object THEN END $$"
            )
        self.as_superuser(
            f"DROP DATABASE IF EXISTS {self.name} (FORCE)", f"CREATE DATABASE {self.name} OWNER {OWNER}"
        )
        _, *grants = MAKING_A_ROLE.replace("TO awareness;", f"TO {SERVICE};").splitlines()
        psql(self.owner_url, *grants)
        migrate(self.owner_url)

    def empty(self) -> None:
        """Forget all rows, but the version of the schema."""
        self.within(_EMPTYING)

    def within(self, *statements: str) -> list[str]:
        """Run statements in this database as somebody to whom walls say nothing."""
        parts = urlsplit(self.superuser_url)
        return psql(parts._replace(path=f"/{self.name}").geturl(), *statements)

    def as_superuser(self, *statements: str) -> list[str]:
        """Run statements on the server's own database."""
        parts = urlsplit(self.superuser_url)
        return psql(parts._replace(path="/postgres").geturl(), *statements)


@contextlib.asynccontextmanager
async def open_postgres(database: PlacedDatabase) -> AsyncIterator[SqlStorage]:
    """A new, empty store. Afterwards nothing of it may be left open."""
    database.empty()
    async with open_storage(database.url) as storage:
        yield storage
    await until(lambda: _is_left_alone(database))


async def _is_left_alone(database: PlacedDatabase) -> bool:
    return ["0"] == database.as_superuser(
        f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database.name}' AND usename = '{SERVICE}'"
    )


def database_on(server: PostgresServer, name: str = DATABASE) -> PlacedDatabase:
    """A database of that name, made anew."""
    made = PlacedDatabase(f"127.0.0.1:{server.port}", server.url(name, SUPERUSER), name)
    made.make()
    return made


@pytest.fixture(scope="session")
def postgres() -> Iterator[PlacedDatabase]:
    """The one database of this run. Whoever uses it empties it first."""
    yield _database()
    server = _server()
    if server is not None:
        server.__exit__()


@functools.cache
def _server() -> PostgresServer | None:
    # Not a fixture, as the folders that use it would each have their own.
    return None if os.environ.get("TEST_DATABASE_URL") else PostgresServer().__enter__()


@functools.cache
def _database() -> PlacedDatabase:
    server = _server()
    if server is not None:
        return database_on(server)
    parts = urlsplit(os.environ["TEST_DATABASE_URL"])
    # Several processes may be testing at once.
    name = f"{DATABASE}_{os.getpid()}"
    made = PlacedDatabase(
        parts.netloc.rpartition("@")[2], parts._replace(scheme="postgresql", path=f"/{name}").geturl(), name
    )
    made.make()
    return made
