"""Commands that are killed and started again, and the count of their deaths.

Each life is a fork of a process that has imported everything: starting the installed program takes seconds of a busy
machine, and hundreds of lives would be spent on little else.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from tests.end_to_end.installed import PATIENCE_SECONDS, Installation, until

_forking = multiprocessing.get_context("forkserver")
_forking.set_forkserver_preload(
    [
        "awareness_gophish",
        "awareness_http",
        "awareness_limits",
        "awareness_passwords",
        "awareness_server.asgi",
        "awareness_server.chores",
        "awareness_server.cli",
        "awareness_server.serving",
        "awareness_smtp",
        "awareness_sql.postgres.database",
        "awareness_sql.sqlite.database",
        "awareness_web",
        "granian.server.embed",
        "tests.end_to_end.mortal_places",
        "tests.end_to_end.reckoning",
    ]
)


@attrs.define(kw_only=True)
class Toll:
    """So many deaths are wanted, whoever dies; counted by several threads."""

    wanted: int
    done: Counter[str] = attrs.field(factory=Counter)

    @property
    def is_paid(self) -> bool:
        return self.done.total() >= self.wanted

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        return min(1.0, self.done.total() / self.wanted) if self.wanted else 1.0


class Mortal:
    """`awareness` with these arguments. `url` is there while it answers, `born_at` when its present life began."""

    def __init__(self, installation: Installation, *arguments: str, says_when_ready: str) -> None:
        self._installation = installation
        self._arguments = arguments
        self._says = says_when_ready
        self._process: Any = None
        self._lives = 0
        self.born_at = 0.0
        self.url: str | None = None

    def start(self) -> None:
        self.born_at = time.time()
        self._lives += 1
        wanted = (self._arguments, self._installation.environment, self._installation.folder, self._output)
        self._process = _forking.Process(target=_live, args=wanted)
        self._process.start()

    def live(self) -> bool:
        """Start, and whether it got as far as being ready: without its database it ends by itself."""
        self.start()
        until(lambda: self._is_ready() or not self._process.is_alive())
        return self._is_ready()

    def kill(self) -> bool:
        """SIGKILL; whether it was still alive. Nothing when it was not started."""
        if self._process is None:
            return False
        self.url = None
        was_alive: bool = self._process.is_alive()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.join(PATIENCE_SECONDS)
        return was_alive

    def stop(self) -> int:
        """SIGTERM, and the exit code that came of it."""
        os.kill(self._process.pid, signal.SIGTERM)
        self._process.join(PATIENCE_SECONDS)
        return int(self._process.exitcode)

    def said(self) -> bytes:
        """All that every life has written."""
        return b"".join(path.read_bytes() for path in self._installation.folder.glob(f"{self._name}.*.log"))

    @property
    def _name(self) -> str:
        return self._arguments[0]

    @property
    def _output(self) -> Path:
        return self._installation.folder / f"{self._name}.{self._lives}.log"

    def _is_ready(self) -> bool:
        with contextlib.suppress(FileNotFoundError):
            for line in self._output.read_text().splitlines(keepends=True):
                if line.startswith("{") and line.endswith("\n") and json.loads(line)["event"] == self._says:
                    self.url = json.loads(line).get("url")
                    return True
        return False


def _live(arguments: tuple[str, ...], environment: Mapping[str, str], folder: Path, output: Path) -> None:
    """What a user's shell does for the installed program."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    from awareness_server.main import main

    sys.exit(main([*arguments]))
