"""A real service for the pages that talk to one: its own database and mailbox folder, one company, one key."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

AWARENESS = Path(sys.executable).with_name("awareness")
_KEY_SCOPES = ("write:employees", "read:employees", "read:results")


@contextlib.contextmanager
def running_service(folder: Path) -> Iterator[Mapping[str, str]]:
    """Serve from `folder`, and give the variables `AWARENESS_URL` and `AWARENESS_KEY` that pages ask to be set."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWARENESS_")},
        "AWARENESS_DATABASE_URL": f"sqlite:///{folder}/awareness.db",
        "AWARENESS_MAIL_FOLDER": f"{folder}/mails",
        "AWARENESS_LOG_FORMAT": "json",
    }

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [AWARENESS, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("migrate")
    run("company", "create", "Example SA")
    scopes = [word for scope in _KEY_SCOPES for word in ("--scope", scope)]
    key = json.loads(run("keys", "create", "--company", "Example SA", "--name", "HR", *scopes, "--json"))[
        "key"
    ]
    with subprocess.Popen(
        [AWARENESS, "serve", "--port", "0"], cwd=folder, env=environment, stderr=subprocess.PIPE
    ) as process:
        try:
            yield {"AWARENESS_URL": _url(process), "AWARENESS_KEY": key}
        finally:
            process.terminate()
            process.communicate()


def _url(process: subprocess.Popen[bytes]) -> str:
    """Return the address that the service says it answers on, in the log line that it writes when it does."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        with contextlib.suppress(ValueError):
            url = json.loads(line).get("url")
            if url:
                return str(url)
    raise AssertionError(b"".join(lines).decode())
