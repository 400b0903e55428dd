"""The server's start and stop, as ASGI tells of them, around what has to be open in between."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import cast

from litestar.types import LifeSpanReceive, LifeSpanSend, Receive, Send

Lifespan = Callable[[], AbstractAsyncContextManager[None]]


async def live_through(lifespan: Lifespan | None, receive: Receive, send: Send) -> None:
    """Enter `lifespan` when the server starts, leave it when it stops, and tell the server how either went.

    An error of `lifespan` is told, and then raised.
    """
    receive_word, send_word = cast("LifeSpanReceive", receive), cast("LifeSpanSend", send)
    has_started = False
    await receive_word()
    try:
        async with nullcontext() if lifespan is None else lifespan():
            await send_word({"type": "lifespan.startup.complete"})
            has_started = True
            await receive_word()
    except BaseException:
        message = traceback.format_exc()
        if has_started:
            await send_word({"type": "lifespan.shutdown.failed", "message": message})
        else:
            await send_word({"type": "lifespan.startup.failed", "message": message})
        raise
    await send_word({"type": "lifespan.shutdown.complete"})
