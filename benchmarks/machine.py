"""The machine: what it is, for the page, and who runs on which of its cores."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

_SHOWN = ("litestar", "granian", "uvloop", "msgspec", "sqlalchemy", "aiosmtplib")
_CORES = sorted(os.sched_getaffinity(0))

SERVER_CORE = _CORES[0]
LOAD_CORE = _CORES[-1]
"""Another one than the server's, where there are two."""


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """What is started in the block runs on that core alone, and so does the block."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def described() -> str:
    """The machine and the versions, in one line."""
    versions = ", ".join(f"{name} {version(name)}" for name in _SHOWN)
    return (
        f"{len(_CORES)} cores ({_processor()}), {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {versions}"
    )


def load() -> float:
    """How many processes wanted to run in the last minute: more than there are cores means that others were there."""
    return os.getloadavg()[0]


def resident_bytes(pid: int) -> int:
    """The memory of a process that is in RAM, what it shares with others included."""
    return _status(pid, "VmRSS")


def peak_resident_bytes(pid: int) -> int:
    """The most it was since `forget_peak`."""
    return _status(pid, "VmHWM")


def forget_peak(pid: int) -> None:
    """Begin to look for the peak anew."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def cpu_seconds(pid: int) -> float:
    """The time that the process has computed, in the kernel included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _status(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
