"""Fixed windows counted in the database that the service has anyway, exactly over all processes that use it.

What is asked while a round trip is under way goes with the next one, in one statement; so one process needs one
connection for it, whatever its load. The table is not logged, so a hit waits for no disk. Times are the server's, as
the clocks of many machines differ.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta

import attrs

from awareness_core.errors import StoreUnavailable
from awareness_core.quota import QuotaPolicy, QuotaUse
from awareness_sql.postgres.address import Address
from awareness_sql.postgres.driver import Driver, connect
from awareness_sql.postgres.pool import Pool
from awareness_sql.postgres.round_trips import RoundTrips

PATIENCE = timedelta(milliseconds=250)
"""How long a round trip may take, connecting included."""

_ASKED_AT_ONCE = 256
_FORGOTTEN_AT_ONCE = 1000
_FORGETTING_PAUSE = 10.0
"""Seconds between looks for windows that have ended, unless there are more than go at once."""

_LONGEST_SUBJECT = 256
_MILLISECOND = timedelta(milliseconds=1)
_NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint"

# The rows come sorted, so that two processes that count the same subjects wait for each other in one order.
_COUNT = f"""
INSERT INTO quota_windows AS kept (subject, span, count, ends_at)
SELECT subject, span, amount, {_NOW} + span
FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS asked (subject, span, amount)
ON CONFLICT (subject, span) DO UPDATE SET
    count = CASE WHEN kept.ends_at > {_NOW} THEN kept.count ELSE 0 END + excluded.count,
    ends_at = CASE WHEN kept.ends_at > {_NOW} THEN kept.ends_at ELSE excluded.ends_at END
RETURNING subject, span, count, ends_at - {_NOW}
"""  # noqa: S608 -- a constant
_LOOK = f"""
SELECT subject, span, count, ends_at - {_NOW}
FROM quota_windows JOIN unnest($1::bytea[], $2::bigint[]) AS asked (subject, span) USING (subject, span)
WHERE ends_at > {_NOW}
"""  # noqa: S608 -- a constant
_FORGET = f"""
DELETE FROM quota_windows WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM quota_windows WHERE ends_at <= {_NOW} LIMIT {_FORGOTTEN_AT_ONCE} FOR UPDATE SKIP LOCKED
))
"""  # noqa: S608 -- constants


@attrs.frozen
class _Window:
    subject: bytes
    span: int


@attrs.frozen
class _Question:
    window: _Window
    amount: int


class PostgresQuotaCounter:
    """A `QuotaCounter` in a migrated database. Raises `StoreUnavailable` when that does not answer within `patience`.

    Making one connects to nothing. A crash of the server, or another one taking its place, begins all windows anew.
    """

    def __init__(self, address: Address, *, patience: timedelta = PATIENCE) -> None:
        self._patience = patience.total_seconds()
        self._shown = address.shown
        # The server gives up, too, so that a statement nobody waits for any more holds no row.
        self._pool = Pool(
            functools.partial(connect, address, statement_timeout=1), size=1, shown=address.shown
        )
        self._ask: RoundTrips[_Question, QuotaUse] = RoundTrips(self._answer, at_once=_ASKED_AT_ONCE)
        self._forgets_at = 0.0

    async def hit(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        """Count one request, atomically over all who share the database."""
        return await self._ask(_Question(_window(subject, policy), 1))

    async def peek(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        """The same without counting."""
        return await self._ask(_Question(_window(subject, policy), 0))

    async def is_shared_store_down(self) -> bool:
        """False: this counter does not count in memory, it raises."""
        return False

    async def aclose(self) -> None:
        """Wait for what is under way, and let go of the connection."""
        await self._ask.close()
        await self._pool.close()

    async def _answer(self, questions: Sequence[_Question]) -> list[QuotaUse]:
        try:
            async with asyncio.timeout(self._patience):
                driver, uses = await self._pool.take(functools.partial(self._count, questions))
        except TimeoutError as error:
            raise StoreUnavailable(
                f"The database {self._shown} did not count within {self._patience * 1000:g} ms."
            ) from error
        self._pool.give_back(driver)
        return uses

    async def _count(self, questions: Sequence[_Question], driver: Driver) -> list[QuotaUse]:
        amounts: Counter[_Window] = Counter()
        for question in questions:
            amounts[question.window] += question.amount
        hit = sorted((window for window in amounts if amounts[window]), key=attrs.astuple)
        seen = [window for window in amounts if not amounts[window]]
        found: dict[_Window, QuotaUse] = {}
        if hit:
            found |= await _ask(driver, _COUNT, hit, [amounts[window] for window in hit])
        if seen:
            found |= await _ask(driver, _LOOK, seen)
        if hit and time.monotonic() >= self._forgets_at:
            tag = await driver.execute(_FORGET)
            if tag != f"DELETE {_FORGOTTEN_AT_ONCE}":
                self._forgets_at = time.monotonic() + _FORGETTING_PAUSE
        return list(_shared_out(questions, amounts, found))


def _window(subject: str, policy: QuotaPolicy) -> _Window:
    # A subject is anything that a caller may be known by. Bytes hold it whatever it is, an index only when it is short.
    spelt = subject.encode("utf-8", "surrogatepass")
    if len(spelt) > _LONGEST_SUBJECT:
        spelt = b"sha256:" + hashlib.sha256(spelt).digest()
    return _Window(spelt, policy.window // _MILLISECOND)


async def _ask(
    driver: Driver, sql: str, windows: Sequence[_Window], *more: object
) -> dict[_Window, QuotaUse]:
    subjects, spans = [window.subject for window in windows], [window.span for window in windows]
    rows = await driver.fetch(sql, subjects, spans, *more)
    return {
        _Window(subject, span): QuotaUse(count=count, resets_in=min(left, span) * _MILLISECOND)
        for subject, span, count, left in rows
    }


def _shared_out(
    questions: Sequence[_Question], amounts: Counter[_Window], found: dict[_Window, QuotaUse]
) -> Iterator[QuotaUse]:
    """An answer for each question, as if they had been asked one after the other, the hits first."""
    remaining = Counter(amounts)
    for question in questions:
        window = question.window
        use = found.get(window)
        if use is None:
            yield QuotaUse(count=0, resets_in=window.span * _MILLISECOND)
        elif not question.amount:
            yield use
        else:
            remaining[window] -= question.amount
            yield attrs.evolve(use, count=use.count - remaining[window])
