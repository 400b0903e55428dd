"""A mail server (aiosmtpd) in a process of its own, which takes every letter after a delay and forgets it."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from aiosmtpd.smtp import SMTP, Envelope, Session

from benchmarks.machine import LOAD_CORE, on_core


@contextlib.contextmanager
def mail_server(delay: float) -> Iterator[int]:
    """Its port. `delay` is what it takes for each letter, in seconds."""
    command = [sys.executable, "-m", "benchmarks.mail_server", str(delay)]
    with (
        on_core(LOAD_CORE),
        subprocess.Popen(
            command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


class _Forgetful:
    def __init__(self, delay: float) -> None:
        self._delay = delay

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 (aiosmtpd's)
        await asyncio.sleep(self._delay)
        return "250 OK"


async def _serve(delay: float) -> None:
    listening = await asyncio.get_running_loop().create_server(
        lambda: SMTP(_Forgetful(delay), hostname="mail.example"), "127.0.0.1", 0
    )
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
