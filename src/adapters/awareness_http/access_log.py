"""One line a request, through structlog; never with a key, a query or an address of a person in it."""

from __future__ import annotations

import re
import traceback
from typing import Final

import structlog

from awareness_core.errors import StoreUnavailable
from awareness_http.exchange import Exchange

_MAX_PATH: Final = 200
_HIDDEN: Final = "***"
_TELLING = re.compile(r"@|%40|awk_", re.IGNORECASE)

_log = structlog.get_logger("awareness_http")


def log_request(exchange: Exchange, *, raw_path: bytes, milliseconds: float) -> None:
    """What was asked and what came of it."""
    caller = exchange.caller
    _log.info(
        "request",
        method=exchange.method,
        path=shown_path(raw_path),
        status=exchange.status,
        ms=round(milliseconds, 2),
        request_id=exchange.request_id,
        company=None if caller is None else caller.company_id,
        key_id=None if caller is None else caller.api_key_id,
        **({} if exchange.refused_with is None else {"code": exchange.refused_with}),
    )


def log_failure(error: Exception, *, request_id: str) -> None:
    """An error that no caller may see the inside of: with its traceback, unless it says itself what is away."""
    if isinstance(error, StoreUnavailable):
        _log.warning("store_unavailable", request_id=request_id, error=error.message)
        return
    # Spelt out here: given the exception itself, a console renderer shows local variables, keys among them.
    spelt = "".join(traceback.format_exception(error))
    _log.error("request_failed", request_id=request_id, error=type(error).__name__, exception=spelt)


def shown_path(raw_path: bytes) -> str:
    """The path as a log may hold it: on one line, not endless, without parts that look like a key or an e-mail."""
    path = raw_path[:_MAX_PATH].decode("ascii", "backslashreplace")
    if not path.isprintable():
        path = "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in path)
    if _TELLING.search(path) is None:
        return path
    return "/".join(_HIDDEN if _TELLING.search(part) else part for part in path.split("/"))
