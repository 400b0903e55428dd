"""The databases that are measured on: made once a run, copied for each measurement, so that all begin alike.

A `Backend` is what the rows take as their parameter; nothing else but the limits knows which database it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import attrs

from awareness_core.absent import ABSENT
from awareness_core.api_keys import Scope
from awareness_core.ports import Ports
from awareness_core.records import RawEmployee, check_record
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.companies import create_company
from awareness_core.use_cases.issue_api_key import issue_api_key
from awareness_core.use_cases.provision import provision
from awareness_memory import memory_ports
from awareness_sql import SqlStorage, open_storage
from awareness_sql.migration import migrate
from benchmarks.people import Person, directory

Statement = tuple[str, Sequence[Sequence[object]]]
"""SQL whose parameters are `$1` and so on, and those of each run."""

_AT_ONCE = 10_000


@attrs.frozen(kw_only=True)
class World:
    """A database with a company in it, whose key holds every scope."""

    url: str
    company_id: CompanyId
    key: str


class Backend(Protocol):
    """A kind of database."""

    @property
    def name(self) -> str:
        """As people call it."""

    def world(self, *, others: int = 0) -> contextlib.AbstractContextManager[World]:
        """A new world with an empty company and so many people of two other ones; gone when the block ends."""

    @property
    def ping_bar(self) -> float:
        """Which share of its limit a checked key should reach."""

    @property
    def ping_limit_is(self) -> str:
        """What that limit does."""

    def ping_limit(self, world: World) -> tuple[str, ...]:
        """What `serving` is told to serve the limit of a checked key in that world."""

    @property
    def write_bar(self) -> float:
        """Which share of its limit a single write should reach."""

    @property
    def changes_are(self) -> str:
        """Where `changes` come from."""

    def changes(self, world: World) -> int:
        """A number that is another one once anybody has committed a change to anything."""

    def write_limit(self, world: World) -> tuple[str, ...]:
        """What `serving` is told to serve the limit of a single write in that world."""

    def directory_limit(self, world: World, what: str) -> tuple[str, ...]:
        """What `directory_limits` is told to measure the limit of a sync, `load` or `compare`, in that world."""

    @property
    def history(self) -> int:
        """How many events of campaigns are many here."""

    @property
    def writes_events_by(self) -> str:
        """How the limit of taking in events does it."""

    def write(self, world: World, statements: Sequence[Statement]) -> None:
        """Run the statements in their order, past all walls and most checks."""

    def result_limit(self, world: World, what: str) -> tuple[str, ...]:
        """What `result_limits` is told to measure a limit, `page` or `events`, in that world."""


class SqliteBackend:
    """SQLite, in files below a folder that is removed at the end."""

    name = "SQLite"
    ping_bar = 0.40
    ping_limit_is = "bare Litestar"
    write_bar = 0.60
    changes_are = "`PRAGMA data_version` of another connection"
    history = 1_000_000
    writes_events_by = "`executemany`"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[int, World] = {}
        self._witnesses: dict[str, sqlite3.Connection] = {}

    @contextlib.contextmanager
    def world(self, *, others: int = 0) -> Iterator[World]:
        """See `Backend`."""
        template = self._made.get(others)
        if template is None:
            url = f"sqlite:///{self._folder / f'{others}-others.db'}"
            template = self._made[others] = make_world(url, others=others)
            _put_all_in_one_file(path_of(template))
        with TemporaryDirectory(dir=self._folder) as folder:
            path = Path(shutil.copy(path_of(template), Path(folder) / "awareness.db"))
            world = attrs.evolve(template, url=f"sqlite:///{path}")
            yield world
            witness = self._witnesses.pop(world.url, None)
            if witness is not None:
                witness.close()

    def changes(self, world: World) -> int:
        """See `Backend`."""
        if world.url not in self._witnesses:
            self._witnesses[world.url] = sqlite3.connect(path_of(world))
        (version,) = self._witnesses[world.url].execute("PRAGMA data_version").fetchone()
        return int(version)

    def ping_limit(self, world: World) -> tuple[str, ...]:
        """See `Backend`."""
        return ("bare",)

    def write_limit(self, world: World) -> tuple[str, ...]:
        """See `Backend`."""
        return ("sqlite-writes", str(path_of(world)), world.company_id)

    def directory_limit(self, world: World, what: str) -> tuple[str, ...]:
        """See `Backend`."""
        return (f"sqlite-{what}", str(path_of(world)), world.company_id)

    def write(self, world: World, statements: Sequence[Statement]) -> None:
        """See `Backend`."""
        connection = sqlite3.connect(path_of(world), isolation_level=None)
        connection.execute("PRAGMA cache_size = -262144")
        connection.execute("BEGIN IMMEDIATE")
        for statement, parameters in statements:
            for values in parameters:
                connection.execute(statement.replace("$", "?"), values)
        connection.execute("COMMIT")
        connection.close()
        _put_all_in_one_file(path_of(world))

    def result_limit(self, world: World, what: str) -> tuple[str, ...]:
        """See `Backend`."""
        return (f"sqlite-{what}", str(path_of(world)), world.company_id)


def path_of(world: World) -> Path:
    """The file of a world on SQLite."""
    return Path(world.url.removeprefix("sqlite:///"))


def make_world(url: str, *, others: int) -> World:
    """Make the tables at `url`, the company, its key, and the people of others."""
    migrate(url)
    return asyncio.run(settle(url, others))


async def settle(url: str, others: int) -> World:
    """Make in the tables at `url` the company, its key, and the people of others."""
    async with open_storage(url) as storage:
        ports = ports_of(storage)
        for number in (1, 2) if others else ():
            other = await create_company(ports, name=f"Other {number}")
            await hire(ports, other.id, directory(others // 2, domain=f"other{number}.example"))
        company = await create_company(ports, name="Measured")
        issued = await issue_api_key(ports, company.id, name="benchmark", scopes=list(Scope))
        # A use is noted once a minute; in this run it shall not be noted, so that what is written is what was asked.
        await ports.api_keys.record_api_key_use(issued.key.id, at=ports.clock.now() + timedelta(days=365))
    return World(url=url, company_id=company.id, key=issued.text)


def ports_of(storage: SqlStorage) -> Ports:
    """What use cases need, with a database behind it and nothing else."""
    memory = memory_ports()
    return Ports(
        clock=memory.clock,
        entropy=memory.entropy,
        companies=storage.companies,
        api_keys=storage.api_keys,
        store=storage.store,
        sources=storage.sources,
        mailer=memory.mailer,
        quota=memory.quota,
    )


async def hire(ports: Ports, company_id: CompanyId, people: list[Person]) -> None:
    """Let the company know these people."""
    for start in range(0, len(people), _AT_ONCE):
        records = [
            check_record(
                RawEmployee(
                    email=person["email"],
                    last_name=person["nom"],
                    first_name=person["prenom"],
                    external_id=person["external_id"],
                    job_title=person["fonction"],
                    phone=person["telephone"],
                    address=person["adresse"],
                    sector_name=person["secteur"],
                    sector_id=ABSENT,
                )
            )
            for person in people[start : start + _AT_ONCE]
        ]
        await provision(ports, company_id, records)


def _put_all_in_one_file(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
