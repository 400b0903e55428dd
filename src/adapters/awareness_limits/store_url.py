"""How the place of a shared counter store is written, and how it is shown without its secrets.

Refuses what it does not understand by naming what would be right. No message repeats the URL: it may hold a password.
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import attrs

_PORT = 6379
# Valkey speaks Redis' protocol, so one client serves both and `valkey` is only another spelling.
_SCHEMES = {
    "redis": "redis",
    "valkey": "redis",
    "rediss": "rediss",
    "valkeys": "rediss",
    "redis+unix": "redis+unix",
    "valkey+unix": "redis+unix",
}


class InvalidStoreUrl(ValueError):
    """The URL of the counter store cannot be used. The message says what would be right."""


@attrs.frozen(kw_only=True)
class StoreUrl:
    """A checked URL. `text` is for the client, `shown` (no user, password or options) is for people."""

    text: str = attrs.field(repr=False)
    shown: str
    password: str | None = attrs.field(repr=False)


def parse_store_url(url: str) -> StoreUrl:
    """The place that `url` names: `redis://[user:password@]host[:6379][/db]`, with `rediss` for TLS.

    `valkey` and `valkeys` mean the same; `redis+unix:///path/to/socket` is a local socket. Options after `?` go to the
    client. Raises `InvalidStoreUrl`.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise InvalidStoreUrl(f"host or port cannot be read; {_EXPECTED}") from None
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None:
        raise InvalidStoreUrl(f"the scheme must be one of {', '.join(_SCHEMES)}; {_EXPECTED}")
    password = None if parts.password is None else unquote(parts.password)
    if scheme == "redis+unix":
        if not parts.path.strip("/"):
            raise InvalidStoreUrl("the path of the socket is missing; write redis+unix:///path/to/socket")
        return StoreUrl(
            # urllib drops the empty host of a scheme that it does not know.
            text=f"{scheme}:{url.strip().partition(':')[2]}",
            shown=f"{parts.scheme}://{parts.path}",
            password=password,
        )
    if not host:
        raise InvalidStoreUrl(f"the host is missing; {_EXPECTED}")
    database = parts.path.strip("/")
    if database and not (database.isascii() and database.isdigit()):
        raise InvalidStoreUrl(f"after the host comes the number of a database, or nothing; {_EXPECTED}")
    credentials, at, _ = parts.netloc.rpartition("@")
    place = f"{_bracketed(host)}:{port or _PORT}"
    return StoreUrl(
        text=parts._replace(scheme=scheme, netloc=f"{credentials}{at}{place}").geturl(),
        shown=f"{parts.scheme}://{place}/{database or 0}",
        password=password,
    )


_EXPECTED = (
    "write redis://[user:password@]host[:port][/database], rediss:// for TLS, "
    "and percent-encode what is special in a password"
)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
