"""What pages for people who are not in yet have in common: a form tied to their browser, and how long to wait."""

from __future__ import annotations

import attrs

from awareness_core.errors import RateLimitExceeded
from awareness_core.sessions import TOKEN_BYTES, form_token, spell_token
from awareness_web.answers import HeaderPairs
from awareness_web.cookies import VISITOR, set_cookie
from awareness_web.visiting import AnyRequest, Desk, visitor_token


@attrs.frozen(kw_only=True)
class WaitingRoom:
    """The form's token, the headers that go with it, and the minutes to wait after a refusal."""

    form_token: str
    headers: HeaderPairs
    minutes: int


def waiting_room(desk: Desk, request: AnyRequest, refusal: RateLimitExceeded | None) -> WaitingRoom:
    """For this browser: with the cookie that it has, or a new one."""
    token = visitor_token(request)
    fresh = token or spell_token(desk.ports.entropy.take(TOKEN_BYTES))
    wait = 0 if refusal is None else refusal.retry_after
    return WaitingRoom(
        form_token=form_token(fresh),
        headers=(
            *(() if token else (set_cookie(VISITOR, fresh),)),
            *(() if refusal is None else ((b"retry-after", b"%d" % wait),)),
        ),
        minutes=-(-wait // 60),
    )
