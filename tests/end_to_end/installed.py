"""`awareness` as a user has it: the installed program, started in a folder and an environment of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import attrs
import httpx

PROGRAM = Path(sys.executable).with_name("awareness")
PATIENCE_SECONDS = 30.0


@attrs.frozen(kw_only=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 (as json.loads)
        return json.loads(self.out)


class Installation:
    """A working folder with its settings; commands started here see no other `AWARENESS_` variable."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWARENESS_")},
            **{f"AWARENESS_{name.upper()}": value for name, value in settings.items()},
        }
        for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
            # What the tests' own terminal is like is no business of a command started here.
            self.environment.pop(name, None)

    def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> Ended:
        """Run a command to its end."""
        done = subprocess.run(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env={**self.environment, **(env or {})},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Ended(code=done.returncode, out=done.stdout, err=done.stderr)

    def must(self, *arguments: str) -> Any:  # noqa: ANN401 (as json.loads)
        """Run a command that has to succeed and return its JSON."""
        done = self.run(*arguments, "--json")
        assert done.code == 0, done.err
        return done.json

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> Started:
        """Start a command and leave it running."""
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env={**self.environment, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        return Started(process)

    @contextlib.contextmanager
    def serving(
        self, *arguments: str, port: int = 0, env: Mapping[str, str] | None = None
    ) -> Iterator[Server]:
        """A server that answers, on a free port unless told which; killed at the end if it still runs."""
        started = self.start(
            "serve", "--port", str(port), *arguments, env={"AWARENESS_LOG_FORMAT": "json", **(env or {})}
        )
        try:
            event = started.wait_for_event("serving")
            yield Server(started, url=event["url"])
        finally:
            started.kill()

    def company_with_key(self, *scopes: str, name: str = "Example") -> tuple[str, str]:
        """Create a company and return its id and a key with these scopes."""
        company = self.must("company", "create", name)["id"]
        flags = [part for scope in scopes for part in ("--scope", scope)]
        key = self.must("keys", "create", "--company", company, "--name", "test", *flags)["key"]
        return company, key


class Started:
    """A running command whose output is collected as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.out: list[str] = []
        self.err: list[str] = []
        self._readers = [
            threading.Thread(target=_collect, args=(stream, lines), daemon=True)
            for stream, lines in ((process.stdout, self.out), (process.stderr, self.err))
        ]
        for reader in self._readers:
            reader.start()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> Ended:
        """Wait for the end and return all that was said."""
        code = self.process.wait(PATIENCE_SECONDS)
        for reader in self._readers:
            reader.join(PATIENCE_SECONDS)
        return Ended(code=code, out="".join(self.out), err="".join(self.err))

    def kill(self) -> None:
        """SIGKILL to it and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.end()

    def events(self) -> list[dict[str, Any]]:
        """The log lines so far, for a command that logs JSON."""
        return [json.loads(line) for line in list(self.err) if line.startswith("{")]

    def wait_for_event(self, name: str) -> dict[str, Any]:
        """The first log line of that event."""
        found: list[dict[str, Any]] = []

        def is_there() -> bool:
            found[:] = [event for event in self.events() if event["event"] == name]
            return bool(found) or self.process.poll() is not None

        until(is_there)
        assert found, f"ended with {self.process.poll()}: {''.join(self.out)}{''.join(self.err)}"
        return found[0]


@attrs.frozen
class Server:
    """A server that answers on `url`."""

    started: Started
    url: str = attrs.field(kw_only=True)

    def client(self, key: str | None = None) -> httpx.Client:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        # Loading certificates takes longer than most requests; there is no TLS here.
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE_SECONDS, verify=False)

    def get(self, path: str, key: str | None = None) -> httpx.Response:
        with self.client(key) as client:
            return client.get(path)

    def stop(self) -> Ended:
        """SIGTERM, and what came of it."""
        self.started.signal(signal.SIGTERM)
        return self.started.end()


def until(condition: Callable[[], bool], *, patience: float = PATIENCE_SECONDS) -> None:
    """Return once `condition()` is true; fail when that takes longer than `patience` seconds."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.005)


def employee(number: int, **fields: object) -> dict[str, object]:
    """The body of a request that provisions one person."""
    return {
        "email": f"person.{number}@example.com",
        "nom": "Martin",
        "prenom": f"Person {number}",
        "external_id": f"E{number}",
        **fields,
    }


def commands(arguments: Sequence[str]) -> str:
    """For a test's id."""
    return " ".join(arguments)


def _collect(stream: IO[str] | None, lines: list[str]) -> None:
    assert stream is not None
    with stream:
        lines.extend(iter(stream.readline, ""))
