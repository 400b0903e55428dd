"""Where the portal's pages are."""

from __future__ import annotations

from typing import Final

ROOT: Final = "/"
LOGIN: Final = "/login"
COMPANY_LOGIN: Final = "/login/company"
RETURN: Final = "/login/oidc"
HOME: Final = "/portal"
CHOOSE: Final = "/portal/choose"
PASSWORD: Final = "/portal/password"  # noqa: S105 (a path)
LOG_OUT: Final = "/portal/log-out"
LOG_OUT_EVERYWHERE: Final = "/portal/log-out-everywhere"
STATIC: Final = "/portal/static"
COMPANY_SHEET: Final = "/portal/static/company.css"

_EXACT = frozenset(path.encode() for path in (ROOT, LOGIN, COMPANY_LOGIN, RETURN, HOME))
_SLASHED = frozenset(path + b"/" for path in _EXACT)
_BELOW = f"{HOME}/".encode()


def is_portal_path(raw_path: bytes) -> bool:
    """Whether the portal answers there, found or not. The path is as it was sent, so that no encoding leads here.

    A slash too many at the end is led to the page without it.
    """
    return raw_path in _EXACT or raw_path in _SLASHED or raw_path.startswith(_BELOW)
