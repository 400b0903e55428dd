"""Addresses on the web that an operator types: what is one, and whether nobody on the way there can read along."""

from __future__ import annotations

import ipaddress
import re

_URL = re.compile(
    r"(?P<scheme>https?)://(?:(?P<host>[a-z0-9._~-]+)|\[(?P<ipv6>[0-9a-f:.]+)\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/[a-z0-9._~!$&'()*+,;=:@/%-]*)?",
    re.ASCII | re.IGNORECASE,
)
_LAST_PORT = 65_535
_HERE = frozenset({"localhost", "127.0.0.1"})


def is_web_url(url: str) -> bool:
    """Whether it is an address of http or https, without user, query or fragment."""
    return _found(url) is not None


def is_safe_url(url: str) -> bool:
    """Whether it is one that nobody on the way can read along with: https, or this very computer."""
    found = _found(url)
    if found is None:
        return False
    if found["ipv6"] is not None:
        is_here = ipaddress.IPv6Address(found["ipv6"]).is_loopback
    else:
        is_here = found["host"].lower() in _HERE
    return is_here or found["scheme"].lower() == "https"


def _found(url: str) -> re.Match[str] | None:
    found = _URL.fullmatch(url)
    if found is None or not 0 < int(found["port"] or 1) <= _LAST_PORT:
        return None
    if found["ipv6"] is not None:
        try:
            ipaddress.IPv6Address(found["ipv6"])
        except ValueError:
            return None
    return found
