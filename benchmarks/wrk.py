"""The load generator: one thread, connections that are kept, on a core of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import attrs

from benchmarks.machine import LOAD_CORE, cpu_seconds, on_core
from benchmarks.serving import Served

EX_UNAVAILABLE = 69
_SCRIPTS = Path(__file__).with_name("load")


@attrs.frozen(kw_only=True)
class Load:
    """What came of it."""

    requests: int
    seconds: float
    median: float
    """Seconds that half of the answers took at most."""

    cpu_seconds: float
    """What the server computed meanwhile."""

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    @property
    def cpu_share(self) -> float:
        """Seconds of the server's computing for each request."""
        return self.cpu_seconds / self.requests


def require_wrk() -> None:
    """Nothing, or the end of the program with exit code 69 after saying how to get it."""
    if shutil.which("wrk") is None:
        sys.stderr.write(
            "benchmarks: 'wrk', which makes the load, is not installed; run: apt-get install wrk\n"
        )
        raise SystemExit(EX_UNAVAILABLE)


def put_load(
    server: Served, path: str, *, script: str, connections: int, seconds: float, arguments: Sequence[str] = ()
) -> Load:
    """Ask for `path` as fast as it is answered. `script` is one of `load/`, `arguments` are what it takes.

    Raises `RuntimeError` when anything but 200 was answered.
    """
    command = [
        *("wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds:g}s"),
        *("--timeout", "30s", "--script", str(_SCRIPTS / script), server.url + path, "--", *arguments),
    ]
    before = cpu_seconds(server.pid)
    with on_core(LOAD_CORE):
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=_SCRIPTS)
    told = json.loads(done.stdout.splitlines()[-1])
    if told["failed"]:
        raise RuntimeError(f"{told['failed']} of {told['requests']} requests to {path} failed")
    return Load(
        requests=told["requests"],
        seconds=told["microseconds"] / 1_000_000,
        median=told["median"] / 1_000_000,
        cpu_seconds=cpu_seconds(server.pid) - before,
    )
