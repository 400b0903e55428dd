"""The three cookies: the session's token, what a login form is tied to before there is a session, and the ticket of
somebody who is on the way to their company's identity provider and back.

`__Host-` makes browsers take them from this host alone, for all of it, over HTTPS; none of another host or of plain
HTTP can be slipped in. `Lax` lets them come along when a provider sends the browser back. Browsers count
http://localhost as safe, so development works there.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

SESSION: Final = b"__Host-awareness-session"
VISITOR: Final = b"__Host-awareness-visitor"
ERRAND: Final = b"__Host-awareness-errand"

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


def set_cookie(name: bytes, token: str, *, lifetime: timedelta | None = None) -> Header:
    """Until the browser closes, or for that long; when the session ends is the service's own business."""
    limit = b"" if lifetime is None else b"; Max-Age=%d" % (lifetime // timedelta(seconds=1))
    return b"set-cookie", name + b"=" + token.encode("ascii") + _ATTRIBUTES + limit


def drop_cookie(name: bytes) -> Header:
    """Make the browser forget it."""
    return b"set-cookie", name + b"=" + _ATTRIBUTES + b"; Max-Age=0"
