"""The installed server on PostgreSQL: what it refuses to start as, how it counts, and how it outlives its database."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import httpx
import psutil
import pytest

from tests.contracts.postgres_database import PlacedDatabase, database_on
from tests.contracts.postgres_server import DURABLE, PASSWORD, SERVICE, PostgresServer, psql
from tests.contracts.redis_server import free_port
from tests.contracts.smtp_server import smtp_server_beside
from tests.end_to_end.installed import Installation, Server, employee, until


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer(DURABLE) as running:
        yield running


@pytest.fixture(scope="module")
def made(postgres: PostgresServer) -> PlacedDatabase:
    return database_on(postgres)


@pytest.fixture
def database(made: PlacedDatabase) -> PlacedDatabase:
    made.empty()
    return made


@pytest.fixture
def installation(database: PlacedDatabase, tmp_path: Path) -> Installation:
    return Installation(tmp_path, database_url=database.url, port=str(free_port()))


@pytest.fixture
def key(installation: Installation) -> str:
    return installation.company_with_key("write:employees", "read:employees")[1]


def test_it_migrates_as_the_owner_and_serves_as_another_role(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    unmade = PlacedDatabase(f"127.0.0.1:{postgres.port}", postgres.url("fresh"), "fresh")
    unmade.as_superuser("DROP DATABASE IF EXISTS fresh (FORCE)")
    unmade.make()
    psql(unmade.owner_url, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    psql(unmade.owner_url, f"GRANT USAGE ON SCHEMA public TO {SERVICE}")
    installation = Installation(tmp_path, database_url=unmade.url, port="0")

    early = installation.run("serve")
    refused = installation.run("migrate")
    steps = installation.run("migrate", "--json", env={"AWARENESS_DATABASE_URL": unmade.owner_url})
    again = installation.run("migrate", "--json", env={"AWARENESS_DATABASE_URL": unmade.owner_url})

    assert (78, True) == (early.code, "run `awareness migrate`" in early.err)
    assert (78, True) == (refused.code, "permission denied for schema public" in refused.err)
    assert "0001" == steps.json["steps"][0]
    assert [] == again.json["steps"]
    assert PASSWORD not in early.err + refused.err + steps.out


def test_it_provisions_and_tells_what_it_uses(
    installation: Installation, key: str, database: PlacedDatabase
) -> None:
    with installation.serving() as server, server.client(key) as client:
        said = server.started.wait_for_event("serving")
        created = client.post("/api/v1/employees", json=employee(1, nom="Été"))
        repeated = client.post("/api/v1/employees", json=employee(1, nom="Été"))
        read = client.get("/api/v1/employees", params={"external_id": "E1"})
        done = server.stop()

    assert f"postgresql://***@{database.place}/{database.name}" == said["database"]
    assert "counted in the database" == said["limits"]
    assert ["created", "skipped"] == [answer.json()["employee"]["action"] for answer in (created, repeated)]
    assert ["Été"] == [entry["nom"] for entry in read.json()["data"]]
    assert 0 == done.code
    assert PASSWORD not in done.out + done.err


def test_it_refuses_to_serve_above_the_wall_and_tells_how_to_make_a_role(
    installation: Installation, database: PlacedDatabase
) -> None:
    done = installation.run("serve", "--port", "0", env={"AWARENESS_DATABASE_URL": database.superuser_url})
    looked = installation.run("doctor", "--json", env={"AWARENESS_DATABASE_URL": database.superuser_url})
    (found,) = [check for check in looked.json["checks"] if check["name"] == "database"]

    assert (78, 78, "fail") == (done.code, looked.code, found["state"])
    assert "as 'postgres', a superuser or a role with BYPASSRLS" in done.err
    assert "  CREATE ROLE awareness LOGIN PASSWORD '...';\n" in done.err
    assert found["remedy"].startswith("CREATE ROLE awareness LOGIN")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ((f"127.0.0.1:{free_port()}", SERVICE), 69),
        (("{place}", "somebody"), 78),
    ],
    ids=["away", "unknown user"],
)
def test_a_database_that_cannot_be_used_is_told_in_a_line(
    installation: Installation, database: PlacedDatabase, change: tuple[str, str], code: int
) -> None:
    place, user = change
    url = (
        f"postgresql://{user}:{quote(PASSWORD, safe='')}@{place.format(place=database.place)}/{database.name}"
    )
    done = installation.run("serve", "--port", "0", env={"AWARENESS_DATABASE_URL": url})

    assert code == done.code
    assert 1 == len(done.err.splitlines())
    assert PASSWORD not in done.err


def test_doctor_and_config_show_tell_what_is_there_without_the_password(installation: Installation) -> None:
    looked = installation.run("doctor", "--json")
    shown = installation.run("config", "show")
    found = {check["name"]: (check["state"], check["detail"]) for check in looked.json["checks"]}

    assert 0 == looked.code
    assert found["database"][1].endswith("its row-level security keeps them apart")
    assert ("ok", "counted in the database") == found["limits"]
    assert "disk" not in found
    for said in (looked.out, shown.out):
        assert f"postgresql://{SERVICE}:***@" in said
        assert quote(PASSWORD, safe="") not in said


def test_four_workers_admit_exactly_one_quota(installation: Installation, key: str) -> None:
    codes: list[int] = []
    with installation.serving("--workers", "4") as server:

        def ask() -> None:
            # A connection each time, as the kernel chooses the worker when one is opened.
            codes.extend(server.get("/api/v1/ping", key).status_code for _ in range(110))

        with ThreadPoolExecutor(6) as threads:
            for _ in range(6):
                threads.submit(ask)
        last = server.get("/api/v1/ping", key)
        done = server.stop()

    assert (600, 60) == (codes.count(200), codes.count(429))
    assert (429, "0") == (last.status_code, last.headers["RateLimit-Remaining"])
    assert 0 == done.code


def test_without_its_counter_it_counts_in_memory_and_says_so(
    installation: Installation, key: str, database: PlacedDatabase
) -> None:
    with installation.serving() as server:
        psql(database.owner_url, "ALTER TABLE quota_windows RENAME TO elsewhere")
        try:
            answers = [server.get("/api/v1/ping", key) for _ in range(3)]
            ready = server.get("/health/ready")
        finally:
            psql(database.owner_url, "ALTER TABLE elsewhere RENAME TO quota_windows")
        until(lambda: "ok" == server.get("/health/ready").json()["status"])
        back = server.get("/api/v1/ping", key)

    assert [(200, "599"), (200, "598"), (200, "597")] == [
        (answer.status_code, answer.headers["RateLimit-Remaining"]) for answer in answers
    ]
    assert (200, "degraded") == (ready.status_code, ready.json()["checks"]["counter_store"])
    assert (200, "599") == (back.status_code, back.headers["RateLimit-Remaining"])


@pytest.mark.parametrize("workers", ["1", "2"])
def test_while_its_database_is_away_it_answers_503_and_it_comes_back_by_itself(
    installation: Installation, key: str, postgres: PostgresServer, workers: str
) -> None:
    with installation.serving("--workers", workers) as server:
        with server.client(key) as client:
            before = client.post("/api/v1/employees", json=employee(1))
            postgres.stop()
            try:
                away = [
                    client.get("/api/v1/ping"),
                    client.post("/api/v1/employees", json=employee(2)),
                    client.get("/api/v1/employees"),
                ]
                ready, live = client.get("/health/ready"), client.get("/health/live")
            finally:
                postgres.start()
            until(lambda: server.get("/health/ready").status_code == 200)
            after = client.post("/api/v1/employees", json=employee(2))
        done = server.stop()

    assert 200 == before.status_code
    for answer in away:
        assert (503, "SERVICE_UNAVAILABLE") == (answer.status_code, answer.json()["code"])
        assert 0 < int(answer.headers["Retry-After"])
        assert "RateLimit-Limit" in answer.headers
    assert (503, "down", 200) == (ready.status_code, ready.json()["checks"]["database"], live.status_code)
    assert (200, "created") == (after.status_code, after.json()["employee"]["action"])
    assert 0 == done.code
    assert [] == [line for line in done.err.splitlines() if "Traceback" in line]


def test_who_was_mailed_is_answered_for_although_the_database_was_restarted_meanwhile(
    database: PlacedDatabase, postgres: PostgresServer, tmp_path: Path
) -> None:
    with smtp_server_beside() as smtp, ThreadPoolExecutor(1) as caller:
        installation = Installation(
            tmp_path,
            database_url=database.url,
            port=str(free_port()),
            smtp_url=f"smtp://127.0.0.1:{smtp.port}",
            mail_from="a@example.com",
        )
        _, key = installation.company_with_key("write:employees")
        with installation.serving() as server, server.client(key) as client:
            sync = {"employees": [employee(number) for number in range(20)]}
            client.post("/api/v1/employees/sync", json=sync).raise_for_status()
            smtp.hold_answers()
            inviting = caller.submit(client.post, "/api/v1/employees/invite-bulk", json={}, timeout=60)
            until(lambda: bool(smtp.handed_over))
            postgres.stop("immediate")
            try:
                smtp.release_answers()
                until(lambda: len(smtp.letters) == 20 and smtp.open_connections == 0)
            finally:
                postgres.start()
            answer = inviting.result()

    assert (200, 20) == (answer.status_code, answer.json()["summary"]["invited"])
    assert 20 == len({*smtp.recipients}) == len(smtp.letters)
    left = "SELECT count(*) FROM pending_invitations", "SELECT count(*) FROM employees WHERE last_sent_at > 0"
    assert ["0", "20"] == psql(database.superuser_url, *left)


def test_a_worker_that_takes_the_place_of_another_may_find_no_database(
    installation: Installation, key: str, postgres: PostgresServer
) -> None:
    with installation.serving("--workers", "2") as server:
        pid = server.started.process.pid
        postgres.stop()
        try:
            killed = psutil.Process(pid).children()[-1]
            killed.kill()
            until(lambda: _workers(pid) == 2 and not killed.is_running())
            away = {server.get("/api/v1/ping", key).status_code for _ in range(20)}
        finally:
            postgres.start()
        until(lambda: all(_pings(server, key) for _ in range(20)))
        done = server.stop()

    assert {503} == away
    assert 0 == done.code
    assert [] == [line for line in done.err.splitlines() if "Traceback" in line]


def test_a_database_that_hangs_holds_nobody_up_for_long(
    installation: Installation, key: str, postgres: PostgresServer
) -> None:
    with installation.serving() as server, server.client(key) as client:
        client.get("/api/v1/ping")
        postgres.hang()
        try:
            began = time.monotonic()
            answer = client.get("/api/v1/ping")
            took = time.monotonic() - began
        finally:
            postgres.resume()
        until(lambda: _pings(server, key))

    assert 503 == answer.status_code
    assert took < 10


def test_a_key_revoked_by_the_command_line_is_refused_by_every_worker(
    installation: Installation, key: str
) -> None:
    with installation.serving("--workers", "2") as server:
        before = {server.get("/api/v1/ping", key).status_code for _ in range(8)}
        installation.must("keys", "revoke", "_".join(key.split("_")[:2]))
        after = {server.get("/api/v1/ping", key).status_code for _ in range(8)}

    assert ({200}, {401}) == (before, after)


def test_what_it_acknowledged_outlives_a_crash_of_the_database(
    installation: Installation, key: str, postgres: PostgresServer
) -> None:
    acknowledged: list[str] = []
    codes: set[int] = set()

    def provision(server: Server, part: int) -> None:
        with server.client(key) as client:
            for number in range(part * 100, part * 100 + 100):
                answer = client.post("/api/v1/employees", json=employee(number))
                codes.add(answer.status_code)
                if answer.status_code == 200:
                    acknowledged.append(answer.json()["employee"]["external_id"])

    with installation.serving() as server, ThreadPoolExecutor(4) as threads:
        for part in range(4):
            threads.submit(provision, server, part)
        until(lambda: len(acknowledged) >= 50)
        postgres.kill()
        postgres.start()
        threads.shutdown()
        until(lambda: _pings(server, key))
        with server.client(key) as client:
            found = [entry["external_id"] for page in range(1, 6) for entry in _page(client, page)]

    assert set() == set(acknowledged) - set(found)
    assert codes <= {200, 503}


def _workers(pid: int) -> int:
    return len([child for child in psutil.Process(pid).children() if child.status() != psutil.STATUS_ZOMBIE])


def _pings(server: Server, key: str) -> bool:
    return server.get("/api/v1/ping", key).status_code == 200


def _page(client: httpx.Client, page: int) -> list[dict[str, str]]:
    answer = client.get("/api/v1/employees", params={"page": page, "limit": 100})
    data: list[dict[str, str]] = answer.json()["data"]
    return data
