"""What a look at the installation may find: a value that says how bad it is and what to do about it."""

from __future__ import annotations

import enum

import attrs

from awareness_server.exit_codes import ExitCode


class State(enum.Enum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@attrs.frozen(kw_only=True)
class Finding:
    """What was found about one thing, what to do about it, and the exit code when it failed."""

    name: str
    state: State
    detail: str
    remedy: str = ""
    code: ExitCode = ExitCode.UNAVAILABLE


def ok(name: str, detail: str) -> Finding:
    """Nothing to do."""
    return Finding(name=name, state=State.OK, detail=detail)


def failed(name: str, detail: str, remedy: str = "", *, code: ExitCode = ExitCode.UNAVAILABLE) -> Finding:
    """The server would not work so."""
    return Finding(name=name, state=State.FAIL, detail=detail, remedy=remedy, code=code)
