"""The codes that `awareness` ends with: the one table that code, documentation and tests share.

69 and 78 are `EX_UNAVAILABLE` and `EX_CONFIG` of BSD's sysexits(3). Choice: decisions/020. Nothing here knows a
command.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType


class ExitCode(enum.IntEnum):
    """What a shell script may rely on."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    PARTIAL = 3
    UNAVAILABLE = 69
    BAD_SETTINGS = 78
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141


MEANINGS: Mapping[ExitCode, str] = MappingProxyType(
    {
        ExitCode.OK: "done",
        ExitCode.FAILURE: "refused or failed; nothing was changed unless the message says so",
        ExitCode.USAGE: "the command line is wrong: an unknown command or option, a value that cannot be read",
        ExitCode.PARTIAL: "done in part: some records or mails failed, the others went through",
        ExitCode.UNAVAILABLE: "something it depends on is down or not installed, so it could not begin",
        ExitCode.BAD_SETTINGS: "the settings do not fit: a bad value, an unknown name, an unmigrated database",
        ExitCode.INTERRUPTED: "stopped by Ctrl-C; `serve`, `worker` and `demo`, which have no other end, end with 0",
        ExitCode.OUTPUT_CLOSED: "the reader of the output went away, as in `| head`",
    }
)


class CommandFailed(Exception):
    """A command ends here. The message is one line that says what was wrong and what would be right.

    `details` are further lines, for faults that come in numbers.
    """

    def __init__(
        self, message: str, code: ExitCode = ExitCode.FAILURE, *, details: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.details = details
