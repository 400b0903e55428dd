"""The console script: run the command line and turn whatever comes of it into one line and an exit code.

Imports next to nothing by itself, so that a missing extra is told in words, and Ctrl-C ends it at once from the very
beginning. Knows no command.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from awareness_server.exit_codes import CommandFailed

_EXTRA_OF = {"asyncpg": "postgres", "redis": "redis", "valkey": "redis", "coredis": "redis"}
_OUR_PACKAGES = "awareness_"


def main(arguments: list[str] | None = None) -> int:
    """Run `awareness` with these arguments (the process' own by default) and return its exit code."""
    may_be_interrupted = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if may_be_interrupted:
        # While there is nothing yet to clean up, the signal itself may end it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from awareness_server.exit_codes import ExitCode

    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter shows its number; that is no reason to fail.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    tokens = sys.argv[1:] if arguments is None else arguments
    try:
        return _run(tokens, may_be_interrupted=may_be_interrupted)
    except ImportError as error:
        return _missing_module(error)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:
        # The last stop: a user is told in one line, and how to see the rest.
        if "--debug" in tokens:
            raise
        kind = f"{type(error).__module__}.{type(error).__qualname__}"
        return _end(
            f"unexpected {kind}: {error}; this is a fault of the program, --debug shows where",
            ExitCode.FAILURE,
        )


def _run(tokens: list[str], *, may_be_interrupted: bool) -> int:
    from cyclopts import CycloptsError

    from awareness_server.cli import app
    from awareness_server.cli.invocation import is_debugging
    from awareness_server.cli.output import OutputClosed
    from awareness_server.exit_codes import ExitCode

    if may_be_interrupted:
        # Not Python's own handler: that one asyncio replaces, and Ctrl-C waits until a command awaits something.
        signal.signal(signal.SIGINT, _interrupt)
    try:
        result = app.meta(tokens, exit_on_error=False, print_error=False)
        return result if isinstance(result, int) else ExitCode.OK
    except OutputClosed:
        return ExitCode.OUTPUT_CLOSED
    except CycloptsError as error:
        error.verbose = False
        return _end(str(error), ExitCode.USAGE)
    except Exception as error:
        failed = _as_failure(error)
        if failed is None:
            raise
        if is_debugging():
            import traceback

            traceback.print_exc()
        return _end(failed.message, failed.code, details=failed.details)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _as_failure(error: Exception) -> CommandFailed | None:
    """The failure that a refusal of the core is to a user; None for what nobody expected."""
    from awareness_server.exit_codes import CommandFailed, ExitCode

    if isinstance(error, CommandFailed):
        return error
    # Imported here because help needs none of the core, and the core takes as long to import as all the rest.
    from awareness_core.errors import AwarenessError, ProviderUnavailable, StoreUnavailable, ValidationFailed

    if isinstance(error, StoreUnavailable | ProviderUnavailable):
        return CommandFailed(error.message, ExitCode.UNAVAILABLE)
    if isinstance(error, ValidationFailed):
        details = tuple(f"{fault.field}: {fault.message}" for fault in error.faults)
        if len(details) > 1:
            return CommandFailed("what was given is not valid", ExitCode.USAGE, details=details)
        return CommandFailed(error.message, ExitCode.USAGE)
    return CommandFailed(error.message) if isinstance(error, AwarenessError) else None


def _missing_module(error: ImportError) -> int:
    from awareness_server.exit_codes import ExitCode

    # A command's module is imported by cyclopts, which wraps what went wrong there.
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ModuleNotFoundError):
        cause = cause.__cause__
    if cause is None:
        raise error
    root = (cause.name or "").partition(".")[0]
    if not root:
        # Raised by hand, with the extra in the message.
        return _end(str(cause), ExitCode.UNAVAILABLE)
    if root.startswith(_OUR_PACKAGES):
        raise error
    extra = _EXTRA_OF.get(root, "server")
    return _end(
        f"'{root}' is not installed; run: pip install \"awareness-core[{extra}]\"", ExitCode.UNAVAILABLE
    )


def _end(message: str, code: int, *, details: Sequence[str] = ()) -> int:
    lines = [f"awareness: {_on_one_line(message)}", *(f"  {_on_one_line(detail)}" for detail in details)]
    if sys.stderr is not None:
        try:
            sys.stderr.write("".join(f"{line}\n" for line in lines))
        except OSError:
            # Nobody listens; the exit code still tells.
            return code
    return code


def _on_one_line(text: str) -> str:
    # What users typed may be in it: a terminal must not act on it.
    one_line = " ".join(text.splitlines())
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in one_line)
