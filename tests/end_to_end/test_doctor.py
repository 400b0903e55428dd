"""`awareness doctor` against real servers: what it finds, what it says to do, and how it ends."""

from __future__ import annotations

import contextlib
import shutil
import socket
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink

from tests.contracts.redis_server import RedisServer, free_port
from tests.end_to_end.installed import Installation

SIGNING = {
    "AWARENESS_DKIM_KEY_FILE": str(Path(__file__).parents[1] / "contracts" / "dkim.pem"),
    "AWARENESS_DKIM_SELECTOR": "awareness2026",
}
MAIL = {"AWARENESS_MAIL_FROM": "no-reply@example.com"}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    installation = Installation(tmp_path_factory.mktemp("example"))
    installation.must("migrate")
    installation.must("company", "create", "Example")
    return installation.folder / "awareness.db"


@pytest.fixture
def installation(database: Path, tmp_path: Path) -> Installation:
    shutil.copy(database, tmp_path)
    return Installation(tmp_path, port=str(free_port()))


def found(installation: Installation, **env: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit code, and state and detail by the name of the check."""
    done = installation.run("doctor", "--json", env=env)
    assert done.err == ""
    return done.code, {check["name"]: (check["state"], check["detail"]) for check in done.json["checks"]}


def test_an_installation_that_works_is_told_so(installation: Installation) -> None:
    code, checks = found(installation)

    assert 0 == code
    assert {
        "settings": "ok",
        "database": "ok",
        "clock": "ok",
        "disk": "ok",
        "mail": "warn",
        "limits": "ok",
        "port": "ok",
    } == {name: state for name, (state, _) in checks.items()}


def test_the_table_says_what_to_do(installation: Installation) -> None:
    done = installation.run("doctor", env={"AWARENESS_LIMITS_URL": "redis://127.0.0.1:1"})

    assert 69 == done.code
    assert "limits" in done.out
    assert "start it, or see that limits_url is right" in done.out
    assert "1 of 7 checks failed.\n" == done.err


def test_an_unmigrated_database_fails_with_78(tmp_path: Path) -> None:
    code, checks = found(Installation(tmp_path))

    assert (78, "fail") == (code, checks["database"][0])
    assert "`awareness migrate`" in checks["database"][1]


def test_a_database_that_is_none_fails_with_69(installation: Installation) -> None:
    (installation.folder / "awareness.db").write_text("no database")
    code, checks = found(installation)

    assert (69, "fail") == (code, checks["database"][0])


def test_wrong_settings_fail_with_78_each_for_itself(installation: Installation) -> None:
    done = installation.run("doctor", "--json", env={"AWARENESS_PORT": "x", "AWARENESS_XYZ": "1"})

    assert 78 == done.code
    assert ["settings", "settings"] == [check["name"] for check in done.json["checks"]]


def test_a_database_that_others_may_read_is_a_warning(installation: Installation) -> None:
    path = installation.folder / "awareness.db"
    path.chmod(0o644)
    open_to_all = found(installation)[1]["permissions"][0]
    path.chmod(0o600)
    closed = found(installation)[1]

    assert "warn" == open_to_all
    assert "permissions" not in closed


def test_a_clock_behind_the_database_is_a_warning(installation: Installation) -> None:
    with contextlib.closing(sqlite3.connect(installation.folder / "awareness.db")) as open_database:
        (created,) = open_database.execute("SELECT created_at FROM companies").fetchone()
        later = created + 10**9 if isinstance(created, int) else f"2999{str(created)[4:]}"
        open_database.execute("UPDATE companies SET created_at = ?", (later,))
        open_database.commit()
    code, checks = found(installation)

    assert (0, "warn") == (code, checks["clock"][0])


def test_a_port_in_use_is_a_warning(installation: Installation) -> None:
    with socket.create_server(("127.0.0.1", int(installation.environment["AWARENESS_PORT"]))):
        code, checks = found(installation)

    assert (0, "warn") == (code, checks["port"][0])


def test_several_workers_without_shared_limits_fail_with_78(installation: Installation) -> None:
    code, checks = found(installation, AWARENESS_WORKERS="2")

    assert (78, "fail") == (code, checks["limits"][0])


def test_a_counter_store_is_asked(installation: Installation, tmp_path: Path) -> None:
    with RedisServer(tmp_path, password="hunter2") as redis:
        up = found(installation, AWARENESS_LIMITS_URL=redis.url)
    down = found(installation, AWARENESS_LIMITS_URL=redis.url)

    assert (0, "ok") == (up[0], up[1]["limits"][0])
    assert (69, "fail") == (down[0], down[1]["limits"][0])
    assert "hunter2" not in repr(up) + repr(down)


@pytest.fixture
def mail_port() -> Iterator[int]:
    server = Controller(Sink(), hostname="127.0.0.1", port=free_port())
    server.start()
    yield server.port
    server.stop()


def test_a_mail_server_is_greeted(installation: Installation, mail_port: int) -> None:
    code, checks = found(installation, AWARENESS_SMTP_URL=f"smtp://127.0.0.1:{mail_port}", **MAIL)

    assert (0, "ok") == (code, checks["mail"][0])


def test_signing_is_told_with_where_the_public_key_has_to_be(
    installation: Installation, mail_port: int
) -> None:
    code, checks = found(installation, AWARENESS_SMTP_URL=f"smtp://127.0.0.1:{mail_port}", **MAIL, **SIGNING)

    assert (0, "ok") == (code, checks["dkim"][0])
    assert checks["dkim"][1].endswith("awareness2026._domainkey.example.com")


def test_a_password_is_not_offered_to_a_mail_server_without_encryption(
    installation: Installation, mail_port: int
) -> None:
    url = f"smtp://user:hunter2@127.0.0.1:{mail_port}"
    refused = found(installation, AWARENESS_SMTP_URL=url, **MAIL)
    insisted = found(installation, AWARENESS_SMTP_URL=f"{url}?starttls=never", **MAIL)

    assert (69, "fail") == (refused[0], refused[1]["mail"][0])
    assert (0, "warn") == (insisted[0], insisted[1]["mail"][0])
    assert "hunter2" not in repr(refused) + repr(insisted)


def test_a_mail_server_that_is_down_fails_with_69(installation: Installation) -> None:
    code, checks = found(installation, AWARENESS_SMTP_URL=f"smtp://127.0.0.1:{free_port()}", **MAIL)

    assert (69, "fail") == (code, checks["mail"][0])
    assert "Connection refused" in checks["mail"][1]


@pytest.mark.parametrize("greeting", [b"", b"554 no\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff\xfe"])
def test_a_mail_server_that_is_none_fails_with_69_in_seconds(
    installation: Installation, greeting: bytes
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        held: list[socket.socket] = []

        def answer() -> None:
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                held.append(connection)
                connection.sendall(greeting)
                if greeting:
                    connection.shutdown(socket.SHUT_WR)

        threading.Thread(target=answer, daemon=True).start()
        port = listener.getsockname()[1]
        code, checks = found(installation, AWARENESS_SMTP_URL=f"smtp://127.0.0.1:{port}", **MAIL)
    for connection in held:
        connection.close()

    assert (69, "fail") == (code, checks["mail"][0])


def test_a_mail_folder_is_a_warning_and_one_that_cannot_be_written_fails(installation: Installation) -> None:
    writable = found(installation, AWARENESS_MAIL_FOLDER="mails")
    (installation.folder / "file").touch()
    no_folder = found(installation, AWARENESS_MAIL_FOLDER="file/mails")

    assert (0, "warn") == (writable[0], writable[1]["mail"][0])
    assert (78, "fail") == (no_folder[0], no_folder[1]["mail"][0])
    assert not (installation.folder / "mails").exists()
