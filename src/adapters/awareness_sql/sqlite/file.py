"""The database file: how it is opened, and whether it is still the same one.

A file that is moved away, deleted or restored under a running program stays readable and writable through open
connections, whose writes nobody would ever see again. So each use asks whether the path still leads to the same file,
which costs about a microsecond, and connections to another one are given up.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

from sqlalchemy import URL

from awareness_core.errors import StoreUnavailable
from awareness_sql.sqlite.refusals import refuse
from awareness_sql.unfit import DatabaseUnfit

Identity: TypeAlias = tuple[int, int]
"""The device and the inode of a file."""

_PAGES_KEPT = 32 * 1024
"""KiB of the file that the writing connection keeps in memory: with SQLite's 2 MiB a whole directory's indexes are read
and written again and again."""


def path_from(url: URL) -> Path:
    """The file that `url` names: `sqlite:///relative.db` or `sqlite:////absolute.db`.

    Raises `ValueError` for a database in memory, which no second connection would see, and for options.
    """
    if url.database in {None, "", ":memory:"}:
        raise ValueError(
            "an SQLite database must be a file, such as sqlite:///awareness.db; for one that lives in memory use the "
            "awareness_memory adapter"
        )
    if url.query or url.host or url.drivername != "sqlite":
        raise ValueError("an SQLite database is named by its file alone, such as sqlite:///awareness.db")
    return Path(str(url.database)).absolute()


class DatabaseFile:
    """One SQLite file. Nothing here keeps it open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._name = str(path)

    def identity(self) -> Identity:
        """Which file the path leads to now. Raises `DatabaseUnfit` when there is none."""
        try:
            # Half the time of `Path.stat`, and this is part of the look-up of every API key.
            status = os.stat(self._name)  # noqa: PTH116
        except OSError as error:
            raise DatabaseUnfit(
                f"The database {self.path} cannot be found ({error.strerror}); `awareness migrate` creates it."
            ) from error
        return status.st_dev, status.st_ino

    def require_writable(self) -> None:
        """Nothing, or `StoreUnavailable` when this program may not write to the file or beside it."""
        self.identity()
        for place in (self.path, self.path.parent):
            if not os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
                raise StoreUnavailable(
                    f"The database {self.path} cannot be written to: check the permissions of {place}."
                )

    def connect_to_write(self) -> sqlite3.Connection:
        """A connection that commits durably: write-ahead log, fsync at each commit, foreign keys enforced.

        What it removes is overwritten, always: pages that an earlier write left free hold of people, too.
        """
        return self._connect(
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "PRAGMA foreign_keys = ON",
            "PRAGMA secure_delete = ON",
            f"PRAGMA cache_size = -{_PAGES_KEPT}",
        )

    def connect_to_read(self) -> sqlite3.Connection:
        """A connection that can write nothing."""
        return self._connect("PRAGMA query_only = ON")

    def _connect(self, *pragmas: str) -> sqlite3.Connection:
        """Never waits for a lock: waiting is done in the event loop. Never creates the file."""
        try:
            # Shared between threads because a commit runs in one; never used by two at the same time.
            connection = sqlite3.connect(
                f"file:{quote(self._name)}?mode=rw",
                uri=True,
                timeout=0,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
        except sqlite3.Error as error:
            refuse(error, self.path)
        try:
            for pragma in pragmas:
                connection.execute(pragma)
        except BaseException:
            connection.close()
            raise
        return connection
