"""Being told to stop, beside whatever a signal does anyway; and how long it may take."""

from __future__ import annotations

import asyncio
import signal
from types import FrameType

import pytest

from awareness_server.settings import LONGEST_MAIL_SECONDS, Settings
from awareness_server.stopping import grace_seconds, told_to_stop

pytestmark = pytest.mark.anyio


async def test_a_signal_is_heard_and_does_what_it_did() -> None:
    heard: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        heard.append(number)

    before = signal.signal(signal.SIGTERM, note)
    try:
        with told_to_stop() as told:
            was_told = told.is_set()
            signal.raise_signal(signal.SIGTERM)
            await asyncio.wait_for(told.wait(), 20)
        after = signal.getsignal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)

    assert not was_told
    assert [signal.SIGTERM] == heard
    assert note is after


async def test_whoever_ends_at_once_by_a_signal_goes_on_to_do_so() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with told_to_stop():
            inside = signal.getsignal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)

    assert signal.SIG_DFL is inside


async def test_in_a_thread_nothing_is_heard_and_nothing_breaks() -> None:
    async def listen() -> bool:
        with told_to_stop() as told:
            return told.is_set()

    assert not await asyncio.to_thread(asyncio.run, listen())


@pytest.mark.parametrize("mail_seconds", [1, 20, 21, LONGEST_MAIL_SECONDS])
def test_a_call_that_mails_as_long_as_it_may_is_answered(mail_seconds: int) -> None:
    assert max(30, mail_seconds + 10) == grace_seconds(Settings(mail_seconds=mail_seconds))
