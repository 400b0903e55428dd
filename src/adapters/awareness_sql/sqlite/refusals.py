"""What SQLite's errors mean to the core, and what an operator should do about each."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from awareness_core.errors import ConstraintViolated, StoreUnavailable
from awareness_sql.unfit import DatabaseUnfit

_ADVICE: Mapping[int, str] = {
    sqlite3.SQLITE_BUSY: "is locked by another program; try again",
    sqlite3.SQLITE_LOCKED: "is locked by another program; try again",
    sqlite3.SQLITE_READONLY: "cannot be written to: check the permissions of the file and of its folder",
    sqlite3.SQLITE_PERM: "cannot be opened: check the permissions of the file and of its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: check that the folder exists and its permissions",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error, or is full",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full",
    sqlite3.SQLITE_CORRUPT: "is damaged: restore it from a backup",
    sqlite3.SQLITE_NOTADB: "is not an SQLite database: check the setting, or restore it from a backup",
    sqlite3.SQLITE_NOLFS: "cannot grow: the file system does not take files that large",
    sqlite3.SQLITE_PROTOCOL: "is locked by another program; try again",
    sqlite3.SQLITE_NOMEM: "cannot be used: the computer is out of memory",
}
"""By primary result code (https://www.sqlite.org/rescode.html)."""


def refuse(error: sqlite3.Error, path: Path) -> NoReturn:
    """Raise what `error` means: `ConstraintViolated`, `StoreUnavailable`, or itself when it is a mistake of ours."""
    code = _primary_code(error)
    if isinstance(error, sqlite3.IntegrityError):
        raise ConstraintViolated(f"The database refused the write: {error}") from error
    advice = _ADVICE.get(code)
    if advice is not None:
        raise StoreUnavailable(f"The database {path} {advice} ({error}).") from error
    if code == sqlite3.SQLITE_ERROR and str(error).startswith(("no such table", "no such column")):
        raise DatabaseUnfit(
            f"The database {path} has not the tables of this release; run `awareness migrate` ({error})."
        ) from error
    raise error


def is_busy(error: sqlite3.Error) -> bool:
    """Whether the same statement may succeed in a moment, as another connection only has to finish."""
    return _primary_code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}


def _primary_code(error: sqlite3.Error) -> int:
    # Absent from errors of the Python module itself, such as the use of a closed connection.
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE)
    return code & 0xFF
