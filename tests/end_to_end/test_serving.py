"""The installed server as a user runs it: it starts, answers, stops, and loses nothing that it acknowledged."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.contracts.redis_server import RedisServer
from tests.end_to_end.installed import PATIENCE_SECONDS, Installation, Server, employee, until


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A migrated database with a company, and a key of it that may do everything here."""
    installation = Installation(tmp_path_factory.mktemp("example"))
    installation.must("migrate")
    company, key = installation.company_with_key("write:employees", "read:employees", "read:results")
    return installation.folder / "awareness.db", company, key


@pytest.fixture
def installation(example: tuple[Path, str, str], tmp_path: Path) -> Installation:
    shutil.copy(example[0], tmp_path)
    return Installation(tmp_path)


@pytest.fixture
def key(example: tuple[Path, str, str]) -> str:
    return example[2]


def test_it_provisions_reads_back_and_lists(installation: Installation, key: str) -> None:
    with installation.serving() as server, server.client(key) as client:
        ping = client.get("/api/v1/ping")
        created = client.post("/api/v1/employees", json=employee(1))
        repeated = client.post("/api/v1/employees", json=employee(1))
        read = client.get("/api/v1/employees", params={"external_id": "E1"})
        campaigns = client.get("/api/v1/campaigns")

    assert (200, True) == (ping.status_code, ping.json()["ok"])
    assert "created" == created.json()["employee"]["action"]
    assert "skipped" == repeated.json()["employee"]["action"]
    assert ["person.1@example.com"] == [entry["email"] for entry in read.json()["data"]]
    assert [] == campaigns.json()["data"]


def test_it_tells_at_its_start_what_it_uses(installation: Installation) -> None:
    started = installation.start("serve", "--port", "0")
    until(lambda: any("limits" in entry for entry in started.err))
    started.signal(signal.SIGTERM)
    done = started.end()
    lines = [entry.split(maxsplit=1) for entry in done.err.splitlines()]

    assert 0 == done.code
    assert lines[0][1].startswith("on http://localhost:")
    assert ["database", "sqlite:///awareness.db"] == lines[1]
    assert ["mail", "off: every invitation is answered delivery_failed (no smtp_url is set)"] == lines[2]
    assert ["limits", "counted in this process"] == lines[3]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_at_once_even_with_open_connections(
    installation: Installation, number: signal.Signals
) -> None:
    with installation.serving() as server, server.client() as client:
        client.get("/health/live")
        began = time.monotonic()
        server.started.signal(number)
        done = server.started.end()

    assert 0 == done.code
    assert time.monotonic() - began < 5
    assert "Traceback" not in done.err
    assert "stopped" == server.started.events()[-1]["event"]


def test_sigterm_under_load_drops_no_request_that_was_begun(installation: Installation, key: str) -> None:
    answered: list[int] = []
    broken: list[str] = []

    def ask(server: Server, number: int) -> None:
        with server.client(key) as client:
            for turn in range(1000):
                try:
                    response = client.post("/api/v1/employees", json=employee(number * 1000 + turn))
                except httpx.ConnectError:
                    return
                except httpx.RemoteProtocolError as error:
                    # An idle connection that the server closed before it read the request; anything else is a loss.
                    if "without sending a response" not in str(error):
                        broken.append(repr(error))
                    return
                except httpx.HTTPError as error:
                    broken.append(repr(error))
                    return
                answered.append(response.status_code)

    with installation.serving() as server, ThreadPoolExecutor() as threads:
        for number in range(8):
            threads.submit(ask, server, number)
        until(lambda: len(answered) > 100)
        done = server.stop()

    with contextlib.closing(sqlite3.connect(installation.folder / "awareness.db")) as database:
        (stored,) = database.execute("SELECT count(*) FROM employees").fetchone()

    assert (0, []) == (done.code, broken)
    assert {200} == set(answered) - {429}
    assert answered.count(200) == stored


@pytest.mark.slow
def test_a_request_in_flight_is_waited_for_unless_a_second_signal_comes(
    installation: Installation, key: str
) -> None:
    with installation.serving() as server:
        address = httpx.URL(server.url)
        with socket.create_connection(("127.0.0.1", address.port or 0)) as connection:
            head = f"POST /api/v1/employees HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n"
            connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n".encode())
            # The first byte of an answer to another request: the one above has been read by then.
            server.get("/health/live")
            server.started.signal(signal.SIGTERM)
            until(lambda: not _listens(address.port or 0))
            is_waiting = server.started.process.poll() is None
            server.started.signal(signal.SIGTERM)
            done = server.started.end()

    assert is_waiting
    assert 1 == done.code
    assert (
        "awareness: stopped before every request in flight was answered\n"
        == done.err.splitlines(keepends=True)[-1]
    )
    assert "Traceback" not in done.err


def test_what_it_acknowledged_outlives_kill_9(installation: Installation, key: str) -> None:
    acknowledged: list[str] = []
    with installation.serving() as server:

        def provision() -> None:
            with server.client(key) as client, contextlib.suppress(httpx.HTTPError):
                for number in range(500):
                    response = client.post("/api/v1/employees", json=employee(number))
                    if response.status_code == 200:
                        acknowledged.append(response.json()["employee"]["external_id"])

        writer = threading.Thread(target=provision)
        writer.start()
        until(lambda: len(acknowledged) >= 50)
        server.started.kill()
        writer.join()

    with installation.serving() as server, server.client(key) as client:
        found = [
            entry["external_id"]
            for page in range(1, 7)
            for entry in client.get("/api/v1/employees", params={"page": page, "limit": 100}).json()["data"]
        ]

    assert set() == set(acknowledged) - set(found)
    assert len(found) <= len(acknowledged) + 1


def test_a_key_revoked_by_the_command_line_is_refused_on_the_next_request(
    installation: Installation, key: str
) -> None:
    with installation.serving() as server, server.client(key) as client:
        before = client.get("/api/v1/ping").status_code
        installation.must("keys", "revoke", "_".join(key.split("_")[:2]))
        after = client.get("/api/v1/ping")

    assert (200, 401, "API_KEY_INVALID") == (before, after.status_code, after.json()["code"])


def test_a_key_created_by_the_command_line_is_good_on_the_next_request(installation: Installation) -> None:
    with installation.serving() as server:
        _, key = installation.company_with_key("read:results", name="Newcomer")
        answer = server.get("/api/v1/ping", key)

    assert 200 == answer.status_code


def test_without_mail_an_invitation_is_refused_and_not_pretended(
    installation: Installation, key: str
) -> None:
    with installation.serving() as server, server.client(key) as client:
        answer = client.post("/api/v1/employees", json=employee(1, send_invitation=True)).json()

    assert (False, {"status": "failed", "code": "delivery_failed"}) == (answer["ok"], answer["invitation"])


def test_a_mail_folder_gets_the_invitation_and_nothing_else_gets_the_password(
    installation: Installation, key: str
) -> None:
    with installation.serving(
        env={"AWARENESS_MAIL_FOLDER": "mails", "AWARENESS_LOG_LEVEL": "debug"}
    ) as server:
        with server.client(key) as client:
            answer = client.post("/api/v1/employees", json=employee(1, send_invitation=True)).json()
        done = server.stop()
    (mail,) = (installation.folder / "mails").glob("*.eml")

    assert "invited" == answer["invitation"]["status"]
    assert b"person.1@example.com" in mail.read_bytes()
    assert key not in done.out + done.err


def test_no_secret_reaches_output_log_or_database(installation: Installation, key: str) -> None:
    secrets = {
        "AWARENESS_SMTP_URL": "smtp://mailer:hunter2-mail@127.0.0.1:1",
        "AWARENESS_LIMITS_URL": "redis://:hunter2-limits@127.0.0.1:1/0",
        "AWARENESS_METRICS_TOKEN": "hunter2-metrics-token",
        "AWARENESS_MAIL_FROM": "a@example.com",
        "AWARENESS_LOG_LEVEL": "debug",
    }
    other = "awk_0123456789A_" + "x" * 49
    with installation.serving(env=secrets) as server, server.client(key) as client:
        client.post("/api/v1/employees", json=employee(1, send_invitation=True))
        client.get("/api/v1/ping", params={"key": key})
        client.get(f"/api/v1/{key}")
        client.get("/api/v1/ping", headers={"x-api-key": other, "Authorization": f"Bearer {other}"})
        client.get("/metrics", headers={"Authorization": "Bearer hunter2-metrics-wrong"})
        client.get("/metrics", headers={"Authorization": "Bearer hunter2-metrics-token"})
        client.get("/health/ready")
        done = server.stop()
    doctor = installation.run("doctor", env=secrets)
    shown = installation.run("config", "show", env=secrets)
    said = "".join(part for ended in (done, doctor, shown) for part in (ended.out, ended.err))
    kept = b"".join(path.read_bytes() for path in installation.folder.glob("awareness.db*"))

    assert "hunter2" not in said
    assert key.rpartition("_")[2] not in said
    assert "x" * 49 not in said
    assert key.rpartition("_")[2].encode() not in kept


def test_log_lines_are_json_with_the_id_of_their_request(installation: Installation) -> None:
    with installation.serving() as server:
        with server.client() as client:
            client.get("/health/live", headers={"X-Request-Id": "from-outside"})
        done = server.stop()
    events = [json.loads(entry) for entry in done.err.splitlines()]

    assert ["from-outside"] == [event["request_id"] for event in events if event["event"] == "request"]
    assert all({"event", "level", "timestamp"} <= event.keys() for event in events)


def test_secrets_can_come_from_files(installation: Installation) -> None:
    (installation.folder / "token").write_text("0123456789abcdef\n")
    with installation.serving(env={"AWARENESS_METRICS_TOKEN_FILE": "token"}) as server:
        refused = server.get("/metrics").status_code
        allowed = httpx.get(
            f"{server.url}/metrics", headers={"Authorization": "Bearer 0123456789abcdef"}
        ).status_code

    assert (401, 200) == (refused, allowed)


def test_metrics_can_be_turned_off(installation: Installation) -> None:
    with installation.serving(env={"AWARENESS_METRICS": "off"}) as server:
        answer = server.get("/metrics")

    assert (404, "NOT_FOUND") == (answer.status_code, answer.json()["code"])


def test_two_servers_never_share_a_port(installation: Installation) -> None:
    with installation.serving() as server:
        port = server.url.rpartition(":")[2]
        second = installation.run("serve", "--port", port)

    assert 1 == second.code
    assert f"awareness: port {port} of 127.0.0.1 is in use" in second.err


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_a_host_that_is_not_this_machines_is_refused_in_one_line(
    installation: Installation, host: str
) -> None:
    done = installation.run("serve", "--host", host, "--port", "0")

    assert done.code in {1, 78}
    assert 1 == len(done.err.splitlines())
    assert host in done.err


def test_several_workers_without_shared_limits_are_refused(installation: Installation) -> None:
    done = installation.run("serve", "--workers", "2", "--port", "0")

    assert 78 == done.code
    assert "limits_url" in done.err


def test_two_workers_admit_exactly_one_quota_and_stop_together(
    installation: Installation, key: str, tmp_path: Path
) -> None:
    codes: list[int] = []
    with RedisServer(tmp_path) as redis, _two_workers(installation, redis) as server:

        def ask() -> None:
            # A connection each time, as the kernel chooses the worker when one is opened.
            codes.extend(server.get("/api/v1/ping", key).status_code for _ in range(101))

        with ThreadPoolExecutor(6) as threads:
            for _ in range(6):
                threads.submit(ask)
        figures = server.get("/metrics").text
        children = _children(server.started.process.pid)
        done = server.stop()

    assert re.search(r'route="/api/v1/ping"[^\n]*status="200"[^\n]* 600\.0$', figures, re.MULTILINE)
    assert (600, 6) == (codes.count(200), codes.count(429))
    assert 2 <= len(children)
    assert 0 == done.code
    assert [] == [child for child in children if _is_running(child)]


def test_workers_stop_when_the_process_that_started_them_is_killed(
    installation: Installation, tmp_path: Path
) -> None:
    with RedisServer(tmp_path) as redis, _two_workers(installation, redis) as server:
        children = _children(server.started.process.pid)
        os.kill(server.started.process.pid, signal.SIGKILL)

        # One that was still starting may miss the signal; it is killed 30 seconds later.
        until(lambda: not any(_is_running(child) for child in children), patience=2 * PATIENCE_SECONDS)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _two_workers(installation: Installation, redis: RedisServer) -> contextlib.AbstractContextManager[Server]:
    return installation.serving("--workers", "2", env={"AWARENESS_LIMITS_URL": redis.url})


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
