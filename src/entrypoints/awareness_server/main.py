"""The console script: run the command line and turn whatever comes of it into one line and an exit code.

Imports next to nothing by itself, so that a missing extra is told in words. Knows no command.
"""

from __future__ import annotations

import sys
import traceback
from importlib.util import find_spec

from awareness_server.exit_codes import CommandFailed, ExitCode

_EXTRA_OF = {"asyncpg": "postgres", "redis": "redis", "valkey": "redis", "coredis": "redis"}
_OUR_PACKAGES = "awareness_"


def main(arguments: list[str] | None = None) -> int:
    """Run `awareness` with these arguments (the process' own by default) and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter shows its number; that is no reason to fail.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    tokens = sys.argv[1:] if arguments is None else arguments
    try:
        return _run(tokens)
    except ModuleNotFoundError as error:
        return _missing_module(error)


def _run(tokens: list[str]) -> int:
    from cyclopts import CycloptsError

    from awareness_core.errors import AwarenessError, StoreUnavailable
    from awareness_server.cli import app
    from awareness_server.cli.invocation import is_debugging
    from awareness_server.cli.output import OutputClosed

    try:
        result = app.meta(tokens, exit_on_error=False, print_error=False)
        return result if isinstance(result, int) else ExitCode.OK
    except OutputClosed:
        return ExitCode.OUTPUT_CLOSED
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except CycloptsError as error:
        error.verbose = False
        return _end(str(error), ExitCode.USAGE)
    except (CommandFailed, AwarenessError) as error:
        if is_debugging():
            traceback.print_exc()
        if isinstance(error, CommandFailed):
            return _end(error.message, error.code, details=error.details)
        unavailable = isinstance(error, StoreUnavailable)
        return _end(error.message, ExitCode.UNAVAILABLE if unavailable else ExitCode.FAILURE)


def _end(message: str, code: ExitCode, *, details: tuple[str, ...] = ()) -> int:
    lines = (
        f"awareness: {' '.join(message.split())}",
        *(f"  {' '.join(detail.split())}" for detail in details),
    )
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return code


def _missing_module(error: ModuleNotFoundError) -> int:
    root = (error.name or "").partition(".")[0]
    if root.startswith(_OUR_PACKAGES) or not root or find_spec(root) is not None:
        raise error
    extra = _EXTRA_OF.get(root, "server")
    return _end(
        f"'{root}' is not installed; run: pip install \"awareness-core[{extra}]\"", ExitCode.UNAVAILABLE
    )
