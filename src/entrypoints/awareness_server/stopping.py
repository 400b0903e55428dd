"""Being told to stop: how soon a server is gone, and who hears of it first."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

from awareness_server.http_server import GRACE_SECONDS
from awareness_server.settings import Settings

_BEYOND_MAIL_SECONDS: Final = 10


def grace_seconds(settings: Settings) -> int:
    """So long after SIGTERM the last request in flight may be answered; then it is broken off.

    A call that mails takes `mail_seconds`, a goodbye to the mail server and a commit.
    """
    return max(GRACE_SECONDS, settings.mail_seconds + _BEYOND_MAIL_SECONDS)


@contextlib.contextmanager
def told_to_stop() -> Iterator[asyncio.Event]:
    """What SIGTERM or SIGINT sets, beside what they do anyway.

    A server that is told to stop finishes what is in flight before it ends its lifespan, which takes as long as mails
    do. What goes on beside it has to hear of it now. Outside the main thread nothing is ever heard.
    """
    told, loop = asyncio.Event(), asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield told
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def hear(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(told.set)
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number, handler in before.items():
        if callable(handler):
            # Who has none ends at once, and there is nothing to tell.
            signal.signal(number, hear)
    try:
        yield told
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is hear:
                signal.signal(number, handler)
