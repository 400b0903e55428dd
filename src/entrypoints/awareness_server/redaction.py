"""Showing settings, URLs and log lines without the secrets, and log lines without the addresses, in them.

Rather hides too much than too little. Knows how secrets look, not where they come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, unquote, urlsplit

HIDDEN = "***"

_API_KEY = re.compile(r"(awk_[0-9A-Za-z]{11})_[0-9A-Za-z]{20,}")
_URL_CREDENTIALS = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/?#@'\"]+@", re.IGNORECASE)
# Anything around an at sign; a URL's place, whose credentials are hidden already, is left.
_ADDRESS = re.compile(r"[^\s<>()\[\],:;\"/]+")
# Of a database that has several.
_PLACE = re.compile(r"[0-9A-Za-z.-]+(:[0-9]{1,5})?")
# Up to the last "@", since a password may hold what ought to have been encoded.
_PASSWORD = re.compile(r"[^:/]+://[^:@/]*:(.+)@")
# What says how a server is reached, not how to get in; a value with any other sign may be something misplaced.
_OPEN_OPTION = re.compile(
    "(starttls|sslmode|sslnegotiation|target_session_attrs|host|port|pool_size|(connect|statement)_timeout)"
    r"=[0-9A-Za-z._,/-]*"
)
# Shorter ones would blot out innocent words.
_SHORTEST_SECRET = 5


def shown_url(url: str) -> str:
    """The URL without its password, and without its user too when there is none.

    Of the options after `?` the values are left out, but of those that are known to be no secret.
    """
    try:
        parts = urlsplit(url)
        place = _places(parts)
    except ValueError:
        return HIDDEN
    query = parts.query
    rest = parts.path + query + parts.fragment
    if not parts.scheme or (parts.netloc and "@" in rest):
        # A password with a bare / ? or # in it has been cut in two.
        return f"{parts.scheme}://{HIDDEN}" if parts.scheme else HIDDEN
    user = (
        f"{parts.username}:{HIDDEN}@"
        if parts.password is not None
        else f"{HIDDEN}@"
        if parts.username
        else ""
    )
    options = "&".join(map(_shown_option, query.split("&"))) if query else ""
    return (
        f"{parts.scheme}://{user}{place}{parts.path}"
        f"{f'?{options}' if options else ''}{f'#{HIDDEN}' if parts.fragment else ''}"
    )


def _shown_option(option: str) -> str:
    name, equals, _ = option.partition("=")
    if _OPEN_OPTION.fullmatch(option):
        return option
    return f"{name}={HIDDEN}" if equals else HIDDEN


def _places(parts: SplitResult) -> str:
    """Host and port, or several of them; raises `ValueError` for what may be a piece of a password."""
    hosts = parts.netloc.rpartition("@")[2]
    if "," in hosts and all(map(_PLACE.fullmatch, hosts.split(","))):
        return hosts
    host, port = parts.hostname or "", parts.port
    return f"{f'[{host}]' if ':' in host else host}{f':{port}' if port else ''}"


class Scrubber:
    """Takes out of texts that go to a log API keys, credentials in URLs, mail addresses, and the given secrets."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST_SECRET}
        self._known = (
            re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True)))) if known else None
        )

    def __call__(self, text: str) -> str:
        """`text` with every secret and address replaced."""
        # A plain search first: nearly no line holds any, and every request writes one.
        if "awk_" in text:
            text = _API_KEY.sub(rf"\1_{HIDDEN}", text)
        if "://" in text:
            text = _URL_CREDENTIALS.sub(rf"\1{HIDDEN}@", text)
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        # The last: it would leave the other half of a secret that holds an at sign.
        return _ADDRESS.sub(_without_address, text) if "@" in text else text


def _without_address(word: re.Match[str]) -> str:
    return HIDDEN if "@" in word[0].removeprefix(f"{HIDDEN}@") else word[0]


def _forms(secret: str) -> Iterable[str]:
    """The secret as it may turn up: of a URL its password, as written and decoded."""
    if "://" not in secret:
        return {secret}
    in_url = _PASSWORD.match(secret)
    return {in_url[1], unquote(in_url[1])} if in_url else set()
