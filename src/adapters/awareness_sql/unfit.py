"""A database that answers and yet must not be used: waiting will not help, somebody has to set it up."""

from __future__ import annotations

from awareness_core.errors import StoreUnavailable


class DatabaseUnfit(StoreUnavailable):
    """Not migrated, or of a newer release, or opened as a role that must not or may not use it.

    The message is one line that says what to do; `statements` are the lines of SQL to do it with, where that takes any.
    """

    def __init__(self, message: str, *, statements: str = "") -> None:
        super().__init__(message)
        self.statements = tuple(statements.splitlines())
