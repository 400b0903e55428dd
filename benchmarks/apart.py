"""A measurement in a process of its own on the server's core, so that nothing else of the run is in its way.

Such a module prints `[wall, cpu]` in JSON when it is run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import attrs

from benchmarks.machine import SERVER_CORE, on_core


@attrs.frozen
class Taken:
    """How long something took, and how much of that was computing; in seconds."""

    wall: float
    cpu: float


def taken_by(module: str, *arguments: str) -> Taken:
    """What a module of this package measures."""
    with on_core(SERVER_CORE):
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{module}", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=Path(__file__).parents[1],
        )
    return Taken(*json.loads(done.stdout))


def tell(taken: Taken) -> None:
    """Print it for who started this process."""
    print(json.dumps([taken.wall, taken.cpu]))
