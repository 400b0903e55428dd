"""A real Granian in a process of its own, and a raw socket to send it what no client library would."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs

from tests.http.contract import check_answer
from tests.http.served import DATABASE, MAIL_SECONDS
from tests.http.service import Answer

ROOT: Final = Path(__file__).parents[2]
HEADER_MILLISECONDS: Final = 700
_PATIENCE: Final = 60.0


@attrs.frozen
class Served:
    """A running server. `key` opens its only company."""

    process: subprocess.Popen[str]
    port: int
    key: str
    log: Path

    def connect(self) -> socket.socket:
        """Open a connection to it."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=_PATIENCE)

    def send(self, request: bytes) -> bytes:
        """Send these bytes and return all that comes back until the server closes the connection."""
        with self.connect() as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(request)
            return receive_all(connection)

    def ask(self, method: str, path: str, *headers: str, body: bytes = b"", key: str | None = "") -> Answer:
        """Send one well-formed request and check the answer against the contract."""
        answer = self.send(self.request(method, path, *headers, "Connection: close", body=body, key=key))
        parsed = parse(answer)
        check_answer(method, path.partition("?")[0], parsed.status, parsed.headers, parsed.body)
        return parsed

    def request(
        self, method: str, path: str, *headers: str, body: bytes = b"", key: str | None = ""
    ) -> bytes:
        """Return the bytes of a request, with a key and a length unless the test brings its own."""
        lines = [f"{method} {path} HTTP/1.1", "Host: api.example", *headers]
        if key is not None:
            lines.append(f"Authorization: Bearer {key or self.key}")
        if body and not any(
            line.lower().startswith(("content-length", "transfer-encoding")) for line in headers
        ):
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body

    def people(self) -> int:
        """Return how many people there are: what a refused request must not change."""
        return int(self.ask("GET", "/api/v1/employees?limit=1").json["pagination"]["total"])

    def next_word(self) -> dict[str, Any]:
        """Return the next thing that the application told, waiting for it."""
        return next_word(self.process)


@contextlib.contextmanager
def serving(migrated: Path, folder: Path, *, mail_seconds: float = 0.0) -> Iterator[Served]:
    """Serve on a free port of this machine until the block ends; what an earlier server left in `folder` is there."""
    database, log = folder / "served.db", folder / "granian.log"
    if not database.exists():
        shutil.copy(migrated, database)
    environment = {**os.environ, DATABASE: str(database), MAIL_SECONDS: str(mail_seconds)}
    # Granian shares its port with us, who keep it from everybody else but never listen.
    with socket.socket() as claim, log.open("w") as stderr:
        claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        claim.bind(("127.0.0.1", 0))
        port = claim.getsockname()[1]
        command = [
            *(sys.executable, "-m", "granian", "--interface", "asgi", "--factory", "--no-ws", "--no-log"),
            *("--host", "127.0.0.1", "--port", str(port), "--http", "1", "--loop", "uvloop"),
            *("--http1-header-read-timeout", str(HEADER_MILLISECONDS), "tests.http.served:create"),
        ]
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as process:
            try:
                key = next_word(process)["key"]
                _wait_until_it_listens(port)
                yield Served(process, port, key, log)
            finally:
                process.terminate()
                process.wait()


def _wait_until_it_listens(port: int) -> None:
    # Granian begins to listen after the application has started, and tells nobody.
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "the server never listened"
        else:
            return


def next_word(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the next line of a process that is one of ours."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("{"):
            told: dict[str, Any] = json.loads(line)
            return told
    raise AssertionError("the server ended before it told anything")


def receive_all(connection: socket.socket) -> bytes:
    """Return what comes until the other side closes."""
    received = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65_536):
            received.append(part)
    return b"".join(received)


def parse(answer: bytes) -> Answer:
    """Read one response that ends with the connection."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    found = re.fullmatch(r"HTTP/1\.[01] (\d{3}) .*", status_line)
    assert found, f"no response: {answer[:200]!r}"
    pairs = [line.split(": ", 1) for line in lines]
    headers = {name.lower(): value for name, value in pairs}
    assert len(headers) == len(pairs), f"a header is repeated: {lines}"
    return Answer(status=int(found[1]), headers=headers, body=body)
