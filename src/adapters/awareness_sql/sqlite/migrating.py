"""An SQLite file opened for a migration: made when it is not there, locked against everyone else's writes meanwhile."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError

from awareness_core.errors import StoreUnavailable
from awareness_sql.sqlite.refusals import is_busy, refuse

_PATIENCE = 60.0
"""Seconds to wait for another migration, or for what a running service is writing."""


@contextlib.contextmanager
def migrating(path: Path) -> Iterator[Connection]:
    """A connection in a transaction that nobody writes beside; committed when the block ends.

    Foreign keys are not enforced meanwhile, as SQLite alters a table by replacing it. Raises `StoreUnavailable`.
    """
    _make(path)
    engine = create_engine("sqlite://", creator=lambda: _connect(path), poolclass=NullPool)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            refuse(error.orig, path)
        raise


def _make(path: Path) -> None:
    """Create the file for its owner alone: it will hold people's names and addresses. One that exists is left alone."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StoreUnavailable(f"The database {path} cannot be created: {error.strerror}.") from error


def _connect(path: Path) -> sqlite3.Connection:
    driver = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw", uri=True, timeout=_PATIENCE, isolation_level=None
    )
    try:
        _use_write_ahead_log(driver, path)
        driver.execute("PRAGMA synchronous = FULL")
    except BaseException:
        driver.close()
        raise
    return driver


def _use_write_ahead_log(driver: sqlite3.Connection, path: Path) -> None:
    """Kept in the file from now on. SQLite does not wait for the lock that this takes, so it is asked for again."""
    gives_up_at = time.monotonic() + _PATIENCE
    while True:
        try:
            if driver.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",):
                return
        except sqlite3.Error as error:
            if not is_busy(error) or time.monotonic() > gives_up_at:
                raise
            time.sleep(0.01)
        else:
            raise StoreUnavailable(
                f"The database {path} cannot have a write-ahead log: it needs a local disk, not a network share."
            )
