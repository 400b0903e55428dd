"""PostgreSQL as a `Backend`: a server of the run's own, durable as it comes, on the core of the load."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Self

import asyncpg
import attrs

from benchmarks.stores import Statement, World, settle
from tests.contracts.postgres_database import PlacedDatabase, database_on
from tests.contracts.postgres_server import SUPERUSER, PostgresServer, psql

_OPTIONS = {"shared_buffers": "256MB", "max_connections": "50", "max_wal_size": "4GB"}
_WRITTEN = ("employees", "sectors", "temporary_passwords")


class PostgresBackend:
    """A context manager, as there is a server to be stopped."""

    name = "PostgreSQL"
    write_bar = 0.50
    changes_are = "row versions by their `xmin`"

    def __init__(self) -> None:
        self._server = PostgresServer(_OPTIONS)
        self._made: dict[int, tuple[PlacedDatabase, World]] = {}
        self._numbers = count()
        self._seen: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *about: object) -> None:
        self._server.__exit__(*about)

    @contextlib.contextmanager
    def world(self, *, others: int = 0) -> Iterator[World]:
        """See `Backend`."""
        template, made = self._template(others)
        name = f"world_{next(self._numbers)}"
        template.as_superuser(f"CREATE DATABASE {name} TEMPLATE {template.name}", "CHECKPOINT")
        try:
            yield attrs.evolve(made, url=attrs.evolve(template, name=name).url)
        finally:
            template.as_superuser(f"DROP DATABASE {name} (FORCE)")

    def changes(self, world: World) -> int:
        """See `Backend`. How many rows were written since it was asked first; not those of the quota."""
        url = self._superuser_url(world)
        total, seen = self._seen.get(world.url, (0, None))
        (now,) = psql(url, "SELECT pg_snapshot_xmax(pg_current_snapshot())")
        if seen is not None:
            for table in _WRITTEN:
                total += int(psql(url, f"SELECT count(*) FROM {table} WHERE xmin::text::bigint >= {seen}")[0])
        self._seen[world.url] = total, int(now)
        return total

    def ping_limit(self, world: World) -> tuple[str, ...]:
        """See `Backend`."""
        return ("postgres-round-trip", self._superuser_url(world))

    ping_limit_is = "one round trip with asyncpg"
    ping_bar = 0.70

    def write_limit(self, world: World) -> tuple[str, ...]:
        """See `Backend`."""
        return ("postgres-writes", self._superuser_url(world), world.company_id)

    def directory_limit(self, world: World, what: str) -> tuple[str, ...]:
        """See `Backend`."""
        return (f"postgres-{what}", self._superuser_url(world), world.company_id)

    history = 10_000_000
    writes_events_by = "COPY"

    def write(self, world: World, statements: Sequence[Statement]) -> None:
        """See `Backend`."""

        async def run() -> None:
            connection = await asyncpg.connect(self._superuser_url(world))
            # Looking each row's campaign up would take longer than writing it.
            await connection.execute("SET session_replication_role = replica")
            for statement, parameters in statements:
                await connection.executemany(statement, parameters)
            await connection.execute("VACUUM ANALYZE")
            await connection.close()

        asyncio.run(run())

    def result_limit(self, world: World, what: str) -> tuple[str, ...]:
        """See `Backend`."""
        return (f"postgres-{what}", self._superuser_url(world), world.company_id)

    def _template(self, others: int) -> tuple[PlacedDatabase, World]:
        if others not in self._made:
            database = database_on(self._server, f"others_{others}")
            made = asyncio.run(settle(database.url, others))
            database.within("VACUUM ANALYZE")
            self._made[others] = database, made
        return self._made[others]

    def _superuser_url(self, world: World) -> str:
        # The limits know no row-level security.
        return self._server.url(world.url.rpartition("/")[2], SUPERUSER)
