"""Who had to give way to other writers again and again goes alone the next time.

Companies that want each other's addresses at the same moment make each other's transactions fail: one takes what the
other was about to, or both wait for each other. Trying again works unless there are always others. So writing
transactions share a lock, and whoever has failed twice takes it for itself: it waits for those who are at work, lets
nobody begin meanwhile, and then meets nobody. That is as rare as three such failures in a row.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import attrs

from awareness_core.errors import ConstraintViolated

_FAILURES_BEFORE = 2
_PATIENCE = 10
"""Seconds for which everybody may be made to wait for those who are at work."""

_LOCK = 0x61776177
# Of this task: its next transaction is its next attempt.
_failures: ContextVar[int] = ContextVar("failures", default=0)


@attrs.frozen(kw_only=True)
class Precedence:
    """Whether a transaction goes alone, and the SQL to begin with for that, before any other lock is taken."""

    is_alone: bool
    sql: str


def precedence() -> Precedence:
    """That of the next transaction of this task."""
    if _failures.get() < _FAILURES_BEFORE:
        return Precedence(is_alone=False, sql=f"SELECT pg_advisory_xact_lock_shared({_LOCK})")
    sql = f"SET LOCAL lock_timeout = '{_PATIENCE}s'; SELECT pg_advisory_xact_lock({_LOCK})"
    return Precedence(is_alone=True, sql=sql)


@contextlib.contextmanager
def noting_refusals() -> Iterator[None]:
    """Put this around a transaction."""
    try:
        yield
    except ConstraintViolated:
        _failures.set(_failures.get() + 1)
        raise
    _failures.set(0)
