"""The limits over HTTP: the least that this framework, this server and the databases' drivers can do, and no more.

Each is an application for `serving`. None checks a key, counts a quota or obeys a rule.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from typing import Any

import msgspec
from litestar import Litestar, get, post


@get("/api/v1/ping", sync_to_thread=False)
def ping() -> dict[str, bool]:
    """Answer in JSON."""
    return {"ok": True}


def bare() -> Litestar:
    """Litestar with one handler that answers JSON."""
    return Litestar([ping], openapi_config=None, logging_config=None)


class NewPerson(msgspec.Struct):
    """The body of `POST /api/v1/employees`, as far as it is read."""

    external_id: str
    email: str
    nom: str
    prenom: str
    fonction: str
    telephone: str
    adresse: str


FIND = "SELECT id FROM employees WHERE company_id = ? AND external_id = ?"
COLUMNS = (
    *("company_id", "id", "external_id", "email", "email_key", "email_domain", "held_email_key"),
    *("last_name", "first_name", "job_title", "phone", "address", "state", "has_password"),
    *("created_at", "updated_at", "search_text"),
)
INSERT = f"INSERT INTO employees ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


FIND_IN_POSTGRES = "SELECT id FROM employees WHERE company_id = $1 AND external_id = $2"
INSERT_IN_POSTGRES = (
    f"INSERT INTO employees ({', '.join(COLUMNS)}) "
    f"VALUES ({', '.join(f'${number}' for number in range(1, len(COLUMNS) + 1))})"
)


def postgres_round_trip(url: str) -> Litestar:
    """A handler that looks one thing up."""
    pool = _Pool(url)

    @get("/api/v1/ping")
    async def look_up() -> dict[str, bool]:
        async with pool.connection() as connection:
            await connection.fetchrow("SELECT id FROM companies WHERE id = $1", "unknown")
        return {"ok": True}

    return Litestar([look_up], lifespan=[pool.life], openapi_config=None, logging_config=None)


def postgres_writes(url: str, company_id: str) -> Litestar:
    """A handler with BEGIN, one SELECT, one INSERT, COMMIT, on a connection of its own."""
    pool = _Pool(url)
    numbers = count()

    @post("/api/v1/employees", status_code=200)
    async def write(data: NewPerson) -> dict[str, str]:
        async with pool.connection() as connection, connection.transaction():
            await connection.fetchrow(FIND_IN_POSTGRES, company_id, data.external_id)
            await connection.execute(INSERT_IN_POSTGRES, *row_of(company_id, next(numbers), data))
        return {"action": "created"}

    return Litestar([write], lifespan=[pool.life], openapi_config=None, logging_config=None)


def row_of(company_id: str, number: int, person: NewPerson) -> tuple[object, ...]:
    """The values of `COLUMNS`."""
    return (
        *(company_id, f"{number:036}", person.external_id, person.email, person.email, "example.com"),
        *(person.email, person.nom, person.prenom, person.fonction, person.telephone, person.adresse),
        *("active", False, 0, 0, person.nom),
    )


class _Pool:
    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: Any = None

    @asynccontextmanager
    async def life(self, _: Litestar) -> AsyncIterator[None]:
        import asyncpg

        async with asyncpg.create_pool(self._url, min_size=16, max_size=16) as self._pool:
            yield

    def connection(self) -> AbstractAsyncContextManager[Any]:
        # `acquire` runs nothing, but giving a connection back resets it in a round trip of its own.
        acquired: AbstractAsyncContextManager[Any] = self._pool.acquire()
        return acquired


def sqlite_writes(path: str, company_id: str) -> Litestar:
    """A handler with BEGIN, one SELECT, one INSERT, COMMIT: each request's own, as durable as ours."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    numbers = count()

    @post("/api/v1/employees", status_code=200, sync_to_thread=False)
    def write(data: NewPerson) -> dict[str, str]:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(FIND, (company_id, data.external_id)).fetchone()
        connection.execute(INSERT, row_of(company_id, next(numbers), data))
        connection.execute("COMMIT")
        return {"action": "created"}

    return Litestar([write], openapi_config=None, logging_config=None)
