"""The process itself: how long until it answers, how much memory it takes, and whether that stays so."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.figures import Bar, Line, absolute, mebibytes, seconds
from benchmarks.machine import SERVER_CORE, on_core, resident_bytes
from benchmarks.measuring import Bench
from benchmarks.serving import serving
from benchmarks.wrk import put_load, require_wrk

_PROGRAM = str(Path(sys.executable).with_name("awareness"))
_WARM, _REQUESTS = 10_000, 100_000
_PATIENCE = 60.0


def start(bench: Bench) -> Iterable[Line]:
    """`awareness --help`, and `awareness serve` until a request is answered."""
    helped, served, least = [], [], []
    with bench.backend.world() as world, TemporaryDirectory() as folder, on_core(SERVER_CORE):
        environment = {**os.environ, "AWARENESS_DATABASE_URL": world.url}
        for number in range(bench.rounds):
            bench.say(f"round {number + 1} of {bench.rounds}")
            helped.append(_seconds_to_end([_PROGRAM, "--help"]))
            served.append(_seconds_to_answer([_PROGRAM, "serve", "--port"], Path(folder), environment))
            least.append(_seconds_to_end([sys.executable, "-c", "pass"]))
    yield absolute("start", "`awareness --help`", ours=helped, spell=seconds, bar=Bar(0.3))
    yield absolute(
        "start",
        f"`awareness serve` until it answers, {bench.backend.name}",
        ours=served,
        spell=seconds,
        bar=Bar(2.5),
    )
    yield absolute(
        "start", "for comparison: Python itself, `python -c pass`", ours=least, spell=seconds, bar=None
    )


def memory(bench: Bench) -> Iterable[Line]:
    """What a worker holds when it is idle, and after 100,000 requests of both kinds."""
    require_wrk()
    idle, grown = [], []
    for number in range(bench.rounds):
        bench.say(f"round {number + 1} of {bench.rounds}")
        with bench.backend.world() as world, serving("ours", world.url) as server:
            put_load(
                server, "/api/v1/ping", script="get.lua", connections=1, seconds=1, arguments=[world.key]
            )
            idle.append(float(resident_bytes(server.pid)))
            held = []
            for requests in (_WARM, _REQUESTS):
                done = 0
                while done < requests:
                    done += put_load(
                        server,
                        "/api/v1/ping",
                        script="get.lua",
                        connections=32,
                        seconds=2,
                        arguments=[world.key],
                    ).requests
                    done += put_load(
                        server,
                        "/api/v1/employees",
                        script="post_person.lua",
                        connections=16,
                        seconds=1,
                        arguments=[world.key, "0", "500"],
                    ).requests
                held.append(resident_bytes(server.pid))
            grown.append(float(held[1] - held[0]))
    yield absolute(
        "memory", f"a worker, idle, {bench.backend.name}", ours=idle, spell=mebibytes, bar=Bar(100 * 2**20)
    )
    yield absolute(
        "memory",
        f"its growth over {_REQUESTS:,} requests, after {_WARM:,} to warm up, {bench.backend.name}",
        ours=grown,
        spell=mebibytes,
        bar=Bar(2**20),
    )


def _seconds_to_end(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _seconds_to_answer(command: list[str], folder: Path, environment: dict[str, str]) -> float:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    began = time.perf_counter()
    with subprocess.Popen(
        [*command, str(port)],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            while not _answers(port):
                if process.poll() is not None or time.perf_counter() - began > _PATIENCE:
                    raise RuntimeError(f"{' '.join(command)} never answered")
                time.sleep(0.005)
            return time.perf_counter() - began
        finally:
            process.send_signal(signal.SIGTERM)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=_PATIENCE) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
