"""Connections that several calls share: never more than are allowed, none lost, and each call gets its turn."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_smtp import parse_mail_server, parse_sender
from awareness_smtp.smtp_connections import SmtpConnections
from awareness_smtp.smtp_session import SmtpSession
from tests.contracts.smtp_server import trusting_context

CONTEXT = trusting_context()


def session() -> SmtpSession:
    """One that is never opened."""
    return SmtpSession(
        parse_mail_server("smtp://localhost"),
        sender=parse_sender("a@b.example"),
        step_timeout=timedelta(seconds=1),
        tls_context=CONTEXT,
    )


class Pool:
    """Connections, and who has how many of them."""

    def __init__(self, at_most: int) -> None:
        self._connections = SmtpConnections(at_most)
        self.made: list[SmtpSession] = []
        self.lent: list[str] = []

    def ask(self, call: str) -> asyncio.Task[None]:
        """Have one until cancelled."""
        return asyncio.create_task(self._have(call))

    async def close_idle(self) -> None:
        await self._connections.close_idle()

    def _make(self) -> SmtpSession:
        self.made.append(session())
        return self.made[-1]

    async def _have(self, call: str) -> None:
        async with self._connections.one(call, self._make):
            self.lent.append(call)
            try:
                await asyncio.Event().wait()
            finally:
                self.lent.remove(call)


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


STEPS = ["a", "b", "c", "close", "end", "end last", "end two at once", "end two in turn"]


@given(at_most=st.integers(1, 3), steps=st.lists(st.sampled_from(STEPS), max_size=20))
@example(at_most=1, steps=["a", "b", "end two at once", "c"])
@example(at_most=1, steps=["a", "b", "end two in turn", "c"])
def test_as_many_are_lent_as_are_wanted_and_allowed_whoever_goes_away(
    at_most: int, steps: Sequence[str]
) -> None:
    async def story() -> None:
        pool, wanting = Pool(at_most), list[asyncio.Task[None]]()
        for step in steps:
            match step.split():
                case ["close"]:
                    await pool.close_idle()
                case ["end", *which]:
                    for _ in range(2 if "two" in which else 1):
                        if wanting:
                            wanting.pop(-1 if "last" in which else 0).cancel()
                        if "turn" in which:
                            # By now it is the next one's turn, which does not know of it yet.
                            await asyncio.sleep(0)
                case _:
                    wanting.append(pool.ask(step))
            await settled()
            assert min(at_most, len(wanting)) == len(pool.lent)
        for task in wanting:
            task.cancel()
        await asyncio.gather(*wanting, return_exceptions=True)
        await pool.close_idle()
        assert "close" in steps or len(pool.made) <= at_most
        assert [] == pool.lent

    asyncio.run(story())


@pytest.mark.anyio
async def test_whoever_has_fewest_is_next_and_of_equals_whoever_waits_longest() -> None:
    pool = Pool(3)
    tasks = [pool.ask(call) for call in ("many", "many", "many", "many", "few", "other")]
    await settled()
    order = [list(pool.lent)]
    for task in (tasks[0], tasks[1], tasks[4]):
        task.cancel()
        await settled()
        order.append(list(pool.lent))

    assert [
        ["many", "many", "many"],
        ["many", "many", "few"],
        ["many", "few", "other"],
        ["many", "other", "many"],
    ] == order
    assert 3 == len(pool.made)
    for task in tasks:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
