"""A whole directory cut off in the middle, on each database: nothing of it is there, and it can be sent again."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

import attrs
import httpx
import pytest

from tests.contracts.postgres_database import PlacedDatabase, database_on
from tests.contracts.postgres_server import DURABLE, SERVICE, PostgresServer
from tests.end_to_end.installed import Installation, Server, employee, until

pytestmark = pytest.mark.slow

SYNC = "/api/v1/employees/sync"
NDJSON = {"Content-Type": "application/x-ndjson"}
LEAVERS, NEWCOMERS = range(10), range(100, 10_100)
REPLACING = {"deactivate_missing": "true", "confirm_deactivations": str(len(LEAVERS))}
"""Whoever is there is to leave, and many others come."""


@attrs.frozen(kw_only=True)
class Placed:
    """An installation, and whether somebody is writing in its database now."""

    installation: Installation
    is_written_to: Callable[[], bool]


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer(DURABLE) as running:
        yield running


@pytest.fixture(scope="module")
def made(postgres: PostgresServer) -> PlacedDatabase:
    return database_on(postgres)


@pytest.fixture(params=["sqlite", "postgres"])
def placed(request: pytest.FixtureRequest, tmp_path: Path) -> Placed:
    if request.param == "postgres":
        return _on_postgres(request.getfixturevalue("made"), tmp_path)
    installation = Installation(tmp_path)
    installation.must("migrate")
    return Placed(installation=installation, is_written_to=lambda: _is_locked(tmp_path / "awareness.db"))


def test_kill_9_in_the_middle_leaves_nothing_and_it_can_be_sent_again(placed: Placed) -> None:
    _, key = placed.installation.company_with_key("write:employees", "read:employees")
    with placed.installation.serving() as server, ThreadPoolExecutor(1) as threads:
        assert 200 == _sync(server, key, LEAVERS).status_code
        sending = threads.submit(_sync, server, key, NEWCOMERS, REPLACING)
        until(placed.is_written_to)
        server.started.kill()
        failure = sending.exception()

    assert isinstance(failure, httpx.TransportError)
    with placed.installation.serving() as server:
        assert (len(LEAVERS), 0) == _active_and_archived(server, key)
        _send_again(server, key)


def test_a_restart_of_the_database_in_the_middle_is_told_and_leaves_nothing(
    made: PlacedDatabase, postgres: PostgresServer, tmp_path: Path
) -> None:
    placed = _on_postgres(made, tmp_path)
    _, key = placed.installation.company_with_key("write:employees", "read:employees")
    with placed.installation.serving() as server, ThreadPoolExecutor(1) as threads:
        assert 200 == _sync(server, key, LEAVERS).status_code
        sending: Future[httpx.Response] = threads.submit(_sync, server, key, NEWCOMERS, REPLACING)
        until(placed.is_written_to)
        postgres.stop()
        postgres.start()
        answer = sending.result()

        assert (503, "SERVICE_UNAVAILABLE") == (answer.status_code, answer.json()["code"])
        assert 0 < int(answer.headers["Retry-After"])
        assert (len(LEAVERS), 0) == _active_and_archived(server, key)
        _send_again(server, key)


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_a_connection_cut_before_the_end_line_archives_nobody(placed: Placed, framing: str) -> None:
    _, key = placed.installation.company_with_key("write:employees", "read:employees")
    body = _lines(range(100, 300))
    with placed.installation.serving() as server:
        assert 200 == _sync(server, key, LEAVERS).status_code
        url = httpx.URL(server.url, path=SYNC, params=REPLACING)
        head = [f"POST {url.raw_path.decode()} HTTP/1.1", "Host: x", f"x-api-key: {key}"]
        head += ["Content-Type: application/x-ndjson", "X-Request-Id: cut"]
        with socket.create_connection(("127.0.0.1", url.port or 0)) as connection:
            if framing == "length":
                head += [f"Content-Length: {len(body)}"]
                sent = body[: -len('{"end": {"count": 200}}')]
            else:
                head += ["Transfer-Encoding: chunked"]
                sent = b"%x\r\n%s\r\n" % (len(body) - 30, body[:-30])
            connection.sendall("\r\n".join([*head, "", ""]).encode() + sent)
        until(lambda: any(event.get("request_id") == "cut" for event in server.started.events()))

        assert (len(LEAVERS), 0) == _active_and_archived(server, key)
        assert 400 == _sync(server, key, NEWCOMERS, REPLACING, count=9_999).status_code
        assert (len(LEAVERS), 0) == _active_and_archived(server, key)
        _send_again(server, key)


@pytest.mark.parametrize("seed", range(2))
def test_six_syncs_of_two_companies_at_once_all_come_through(placed: Placed, seed: int) -> None:
    """Shuffled, overlapping people, in as many processes as the database allows."""
    chance = random.Random(seed)
    keys = [
        placed.installation.company_with_key("write:employees", "read:employees", name=name)[1]
        for name in ("Acme", "Globex")
    ]
    syncs = [(keys[number % 2], chance.sample(range(400), 300)) for number in range(6)]
    workers = "1" if "DATABASE_URL" not in "".join(placed.installation.environment) else "2"
    with placed.installation.serving("--workers", workers) as server, ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda sync: _sync(server, *sync), syncs))
        held = [address for key in keys for address in _addresses(server, key)]
        again = [_sync(server, key, people) for key, people in syncs]

    assert {200} == {answer.status_code for answer in answers + again}
    assert {"email_conflict_other_tenant"} >= {
        result["error"] for answer in answers for result in _results(answer) if result["action"] == "failed"
    }
    assert len(set(held)) == len(held)
    assert {number for _, people in syncs for number in people} == {
        int(address.split("@")[0].split(".")[1]) for address in held
    }
    assert {"skipped", "failed"} >= {result["action"] for answer in again for result in _results(answer)}


def _on_postgres(made: PlacedDatabase, folder: Path) -> Placed:
    made.empty()

    def is_written_to() -> bool:
        # A transaction gets its number when it first writes.
        sql = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{SERVICE}' AND backend_xid IS NOT NULL"
        return ["0"] != made.as_superuser(sql)

    return Placed(installation=Installation(folder, database_url=made.url), is_written_to=is_written_to)


def _is_locked(path: Path) -> bool:
    with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        connection.execute("ROLLBACK")
        return False


def _send_again(server: Server, key: str) -> None:
    """The right end state: those who were to leave have left, the others are here, and once is enough."""
    first = _totals(_sync(server, key, NEWCOMERS, REPLACING))
    stored = _active_and_archived(server, key)
    second = _totals(_sync(server, key, NEWCOMERS, {"deactivate_missing": "true"}))

    assert (len(NEWCOMERS), len(LEAVERS)) == (first["created"], first["deactivated"])
    assert (len(NEWCOMERS), len(LEAVERS)) == stored
    assert len(NEWCOMERS) == second["skipped"]


def _sync(
    server: Server,
    key: str,
    people: Iterable[int],
    options: Mapping[str, str] = MappingProxyType({}),
    *,
    count: int | None = None,
) -> httpx.Response:
    with server.client(key) as client:
        return client.post(SYNC, params=options, content=_lines(people, count=count), headers=NDJSON)


def _lines(people: Iterable[int], *, count: int | None = None) -> bytes:
    records = [json.dumps(employee(number)) for number in people]
    end = json.dumps({"end": {"count": len(records) if count is None else count}})
    return "\n".join([*records, end]).encode()


def _results(answer: httpx.Response) -> Sequence[dict[str, str]]:
    return [json.loads(line) for line in answer.text.splitlines()[:-1]]


def _totals(answer: httpx.Response) -> dict[str, int]:
    assert 200 == answer.status_code
    summary: dict[str, int] = json.loads(answer.text.splitlines()[-1])["summary"]
    return summary


def _active_and_archived(server: Server, key: str) -> tuple[int, int]:
    with server.client(key) as client:
        active, archived = (
            client.get("/api/v1/employees", params={"statut": state, "limit": 1}).json()["pagination"][
                "total"
            ]
            for state in ("actif", "archive")
        )
    return active, archived


def _addresses(server: Server, key: str) -> list[str]:
    found: list[str] = []
    with server.client(key) as client:
        for page in range(1, 6):
            query: dict[str, str | int] = {"statut": "actif", "limit": 100, "page": page}
            found += [
                entry["email"] for entry in client.get("/api/v1/employees", params=query).json()["data"]
            ]
    return found
