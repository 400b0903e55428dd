"""Which web pages may call the API from a browser: none, unless a setting lists their origins.

No cookie is ever involved, so what a page may do is what the key it holds may do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from awareness_http.errors import HeaderPairs

_ORIGIN = re.compile(r"https?://[^/?#\s@,]+")
_EXPOSED: Final = (
    b"Allow, Idempotency-Replayed, RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, RateLimit-Reset, "
    b"Retry-After, WWW-Authenticate, X-Request-Id"
)
_ACCEPTED: Final = b"Authorization, Content-Type, Idempotency-Key, X-Api-Key, X-Request-Id"
_PREFLIGHT_SECONDS: Final = b"600"
_VARY: Final = (b"vary", b"Origin")


class CrossOrigin:
    """The answer to a browser that asks for a page of another origin."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origin.encode("ascii") for origin in map(_checked, origins))

    def headers(self, origin: bytes | None) -> HeaderPairs:
        """What every answer to that origin carries; nothing while no origin is allowed."""
        if not self._origins:
            return ()
        if origin not in self._origins or origin is None:
            return (_VARY,)
        return (
            _VARY,
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", _EXPOSED),
        )

    def preflight(self, origin: bytes | None, *, allow: bytes) -> HeaderPairs:
        """What the answer to OPTIONS says besides."""
        if origin is None or origin not in self._origins:
            return ()
        return (
            (b"access-control-allow-methods", allow),
            (b"access-control-allow-headers", _ACCEPTED),
            (b"access-control-max-age", _PREFLIGHT_SECONDS),
        )


def _checked(origin: str) -> str:
    if not _ORIGIN.fullmatch(origin):
        raise ValueError(f"an origin looks like https://app.example.com, not {origin!r}")
    return origin.lower()
