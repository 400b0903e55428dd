"""`awareness` on a terminal of a given width."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios

from tests.end_to_end.installed import PROGRAM, Installation


def on_terminal(installation: Installation, *arguments: str, columns: int, **env: str) -> str:
    """What a terminal of that width shows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {"TERM": "xterm-256color", **installation.environment, **env}
    process = subprocess.Popen(
        [PROGRAM, *arguments], cwd=installation.folder, env=environment, stdout=slave, stderr=slave
    )
    os.close(slave)
    shown = b""
    while select.select([master], [], [], 30)[0]:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(master)
    process.wait(30)
    return shown.decode()
