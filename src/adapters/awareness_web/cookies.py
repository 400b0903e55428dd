"""The two cookies: the session's token, and what a login form is tied to before there is a session.

`__Host-` makes browsers take them from this host alone, for all of it, over HTTPS; none of another host or of plain
HTTP can be slipped in. Browsers count http://localhost as safe, so development works there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SESSION: Final = b"__Host-awareness-session"
VISITOR: Final = b"__Host-awareness-visitor"

Header = tuple[bytes, bytes]

_ATTRIBUTES: Final = b"; Path=/; Secure; HttpOnly; SameSite=Lax"


def read_cookie(headers: Iterable[Header], name: bytes) -> str | None:
    """The value of that cookie, the first if there are several, or None."""
    for header, value in headers:
        if header == b"cookie":
            for pair in value.split(b";"):
                found, _, content = pair.strip().partition(b"=")
                if found == name and content:
                    return content.decode("latin-1")
    return None


def set_cookie(name: bytes, token: str) -> Header:
    """Until the browser closes; when the session ends is the service's own business."""
    return b"set-cookie", name + b"=" + token.encode("ascii") + _ATTRIBUTES


def drop_cookie(name: bytes) -> Header:
    """Make the browser forget it."""
    return b"set-cookie", name + b"=" + _ATTRIBUTES + b"; Max-Age=0"
