"""What PostgreSQL's and asyncpg's errors mean to the core, and what an operator should do about each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import asyncpg

from awareness_core.errors import ConstraintViolated, StoreUnavailable
from awareness_sql.unfit import DatabaseUnfit

DRIVER_ERRORS = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
"""All that the driver raises for what a server or a network does."""

_SERIALIZATION_FAILURE = "40001"
_DEADLOCK_DETECTED = "40P01"
_READ_ONLY = "25006"
_INSUFFICIENT_PRIVILEGE = "42501"
_INTEGRITY = "23"
# Where PostgreSQL tells that row-level security refused a row; the code is that of any missing right.
_WALL = "ExecWithCheckOptions"

_ADVICE: Mapping[str, str] = {
    "08": "cannot be reached; try again",
    "28": "refused the user or the password: check the setting",
    "3D": "does not exist: check the setting, or create it",
    "53": "is out of room or of connections",
    "55": "is busy with other work; try again",
    "57": "did not finish or is being shut down; try again",
    "58": "reports a failure of its disk or its machine",
    "XX": "is damaged or failed internally: look into the server's log",
    "25P03": "gave up a transaction that was left alone for too long; try again",
    "25P04": "gave up a transaction that took too long; try again",
    "3F000": "has not the tables of this release; run `awareness migrate`",
    "42P01": "has not the tables of this release; run `awareness migrate`",
    "42703": "has not the tables of this release; run `awareness migrate`",
    "42883": "has not the functions of this release; run `awareness migrate`",
    "53100": "cannot grow: the disk is full",
    "53300": "takes no more connections: lower pool_size or the number of workers, or raise its max_connections",
    "57014": "did not finish in time; try again",
    "57P03": "is starting or recovering; try again",
    _READ_ONLY: "takes no writes now: it is a standby, or was set read-only",
    _INSUFFICIENT_PRIVILEGE: "does not let this role do what the service does: grant it the rights on all tables "
    "and functions",
}
"""By code, or by class of codes (https://www.postgresql.org/docs/current/errcodes-appendix.html)."""

_UNFIT = frozenset({"28", "3D", "3F000", "42P01", "42703", "42883", _INSUFFICIENT_PRIVILEGE})
"""Those of them that waiting does not heal."""


def refuse(error: Exception, place: str, *, is_lost: bool) -> NoReturn:
    """Raise what `error` means: `ConstraintViolated`, `StoreUnavailable`, or itself when it is a mistake of ours.

    `is_lost` says that the connection is of no more use, which explains whatever the driver says about it. A
    transaction that was given up for another one's sake (40001, 40P01) is `ConstraintViolated` as well: what it had
    read may have changed, so whoever decided on it has to look again.
    """
    code = code_of(error)
    if code[:2] == _INTEGRITY:
        raise ConstraintViolated(f"The database refused the write: {_first_line(error)}.") from error
    if code in {_SERIALIZATION_FAILURE, _DEADLOCK_DETECTED}:
        raise ConstraintViolated(
            f"The database gave the write up for another one: {_first_line(error)}."
        ) from error
    if not is_from_the_wall(error) and (is_lost or _advice(code)):
        refuse_connection(error, place)
    raise error


def refuse_connection(error: Exception, place: str) -> NoReturn:
    """Raise `StoreUnavailable` for whatever kept the database from being connected to, or from answering.

    It is `DatabaseUnfit` when somebody has to set something right first.
    """
    if isinstance(error, TimeoutError):
        raise StoreUnavailable(f"The database {place} did not answer in time; try again.") from error
    code = code_of(error)
    advice = _advice(code) or "cannot be reached"
    kind = DatabaseUnfit if code in _UNFIT or code[:2] in _UNFIT else StoreUnavailable
    raise kind(f"The database {place} {advice} ({_first_line(error)}).") from error


def code_of(error: BaseException) -> str:
    """The five characters that PostgreSQL calls SQLSTATE; none for errors that did not come from the server."""
    code: str | None = getattr(error, "sqlstate", None)
    return code or ""


def is_farewell(error: BaseException) -> bool:
    """Whether the server ends the connection, or is not the one any more that takes writes."""
    code = code_of(error)
    return code[:2] in {"08", "58"} or code[:3] == "57P" or code in {_READ_ONLY, "25P03", "25P04"}


def is_from_the_wall(error: BaseException) -> bool:
    """Whether row-level security refused a row: a mistake of ours that must not pass for an outage."""
    return (
        code_of(error) == _INSUFFICIENT_PRIVILEGE and getattr(error, "server_source_function", None) == _WALL
    )


def _advice(code: str) -> str | None:
    return _ADVICE.get(code) or _ADVICE.get(code[:2])


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")
