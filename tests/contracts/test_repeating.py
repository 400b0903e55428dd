"""What is done again and again: it goes on whatever happens, and ends with its block."""

from __future__ import annotations

import asyncio

import pytest

from awareness_server.repeating import repeating
from tests.contracts.polling import until

pytestmark = pytest.mark.anyio


async def test_a_look_that_fails_is_not_the_last() -> None:
    looks: list[int] = []

    async def look() -> None:
        looks.append(len(looks))
        if len(looks) < 3:
            raise ZeroDivisionError

    async with repeating(look, every=0.001):

        async def goes_on() -> bool:
            return len(looks) > 3

        await until(goes_on)

    assert [0, 1, 2, 3] == looks[:4]


async def test_a_look_under_way_is_broken_off_at_the_end() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def look() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with repeating(look, every=0.001):
        await begun.wait()

    assert ended.is_set()
