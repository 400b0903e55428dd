"""The limits over HTTP: the least that this framework, this server and the databases' drivers can do, and no more.

Each is an application for `serving`. None checks a key, counts a quota or obeys a rule.
"""

from __future__ import annotations

import sqlite3
from itertools import count

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
        row = (
            *(company_id, f"{next(numbers):036}", data.external_id, data.email, data.email, "example.com"),
            *(
                data.email,
                data.nom,
                data.prenom,
                data.fonction,
                data.telephone,
                data.adresse,
                "active",
                False,
            ),
            *(0, 0, data.nom),
        )
        connection.execute(INSERT, row)
        connection.execute("COMMIT")
        return {"action": "created"}

    return Litestar([write], openapi_config=None, logging_config=None)
