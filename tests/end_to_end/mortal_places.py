"""Where a service that is killed again and again keeps its rows: in a file, or on a PostgreSQL that is killed, too.

Each place answers what only somebody at the machine can ask, and does what only time does: let leases run out.
"""

from __future__ import annotations

import contextlib
import random
import sqlite3
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import attrs

from awareness_core.outbox import GIVE_UP_AFTER, LONGEST_WAIT, lease
from tests.contracts.postgres_database import PlacedDatabase, database_on
from tests.contracts.postgres_server import DURABLE, PostgresServer, dump
from tests.end_to_end.installed import Installation


class DatabaseAway(Exception):
    """It does not answer at the moment."""


class MortalPlace(Protocol):
    """One installation and its database."""

    @property
    def installation(self) -> Installation: ...

    def ask(self, sql: str) -> list[int]:
        """The first column of what is found, by somebody who sees all rows. Raises `DatabaseAway`."""

    def restart(self, chance: random.Random) -> None:
        """Kill the database, or stop it in a hurry, and start it again."""

    def remains(self) -> Iterator[tuple[str, bytes]]:
        """All that the database keeps, write-ahead logs included, each part with its name."""


def let_leases_run_out(place: MortalPlace, *, taken_before: float) -> None:
    """As when their leases have passed, for whoever began to mail before that moment and died.

    Those that were taken longest ago stay first.
    """
    leases = " ".join(f"WHEN {attempts} THEN {_milliseconds(lease(attempts))}" for attempts in range(1, 10))
    taken_at = f"due_at - CASE attempts {leases} ELSE {_milliseconds(LONGEST_WAIT)} END"
    with contextlib.suppress(DatabaseAway):
        place.ask(
            f"UPDATE pending_invitations SET due_at = {taken_at} - {_milliseconds(GIVE_UP_AFTER)} "
            f"WHERE due_at > {time.time() * 1000:.0f} AND (holder IS NULL OR {taken_at} < {taken_before * 1000:.0f})"
        )


def _milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


@attrs.frozen(kw_only=True)
class InFile:
    installation: Installation

    def ask(self, sql: str) -> list[int]:
        database = sqlite3.connect(self.installation.folder / "awareness.db", timeout=30)
        try:
            with contextlib.closing(database), database:
                return [row[0] for row in database.execute(sql)]
        except sqlite3.OperationalError as error:
            raise DatabaseAway from error

    def restart(self, chance: random.Random) -> None:
        raise NotImplementedError("a file has no server")

    def remains(self) -> Iterator[tuple[str, bytes]]:
        return ((path.name, path.read_bytes()) for path in self.installation.folder.glob("awareness.db*"))


@attrs.frozen(kw_only=True)
class OnPostgres:
    installation: Installation
    server: PostgresServer
    database: PlacedDatabase

    def ask(self, sql: str) -> list[int]:
        try:
            return [int(line) for line in self.database.within(sql)]
        except RuntimeError as error:
            raise DatabaseAway from error

    def restart(self, chance: random.Random) -> None:
        how = chance.choice(["kill", "immediate", "fast"])
        if how == "kill":
            self.server.kill()
        else:
            self.server.stop(how)
        self.server.start()

    def remains(self) -> Iterator[tuple[str, bytes]]:
        yield "pg_dump", dump(self.database.superuser_url)
        self.server.stop()
        for path in self.server.files.rglob("*"):
            if path.is_file():
                yield path.name, path.read_bytes()


@contextlib.contextmanager
def in_file(folder: Path, **settings: str) -> Iterator[MortalPlace]:
    installation = Installation(folder, **settings)
    installation.must("migrate")
    yield InFile(installation=installation)


@contextlib.contextmanager
def on_postgres(folder: Path, **settings: str) -> Iterator[MortalPlace]:
    with PostgresServer(DURABLE) as server:
        database = database_on(server)
        installation = Installation(folder, database_url=database.url, **settings)
        yield OnPostgres(installation=installation, server=server, database=database)


PLACES = {"sqlite": in_file, "postgres": on_postgres}
