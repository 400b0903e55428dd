"""What a setting's value may be: one check a kind, from what was written to the value that is used.

A check takes a text, or what TOML makes of one, and raises `BadValue` saying what would be right. It never repeats the
value: whether that may be shown is decided where the setting's secrecy is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from email.utils import getaddresses
from ipaddress import ip_network
from pathlib import Path
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

Check: TypeAlias = Callable[[object], object]

# In memory, where no second connection would find it.
_NO_FILE = {"", "/", "/:memory:"}
_TOKEN = re.compile(r"[\x21-\x7e]{16,}")
_SWITCH = {
    "on": True,
    "true": True,
    "yes": True,
    "1": True,
    "off": False,
    "false": False,
    "no": False,
    "0": False,
}


class BadValue(ValueError):
    """The value does not fit. The message completes "must be" or "is", and never holds the value."""


def whole_number(low: int, high: int) -> Check:
    """A whole number from `low` to `high`, both included."""

    def check(value: object) -> int:
        text = str(value).strip()
        if (
            not isinstance(value, bool)
            and text.isascii()
            and text.isdigit()
            and low <= int(text[:20]) <= high
        ):
            return int(text)
        raise BadValue(f"must be a whole number from {low} to {high}")

    return check


def one_of(*choices: str) -> Check:
    """One of these words, in any case."""

    def check(value: object) -> str:
        if isinstance(value, str) and value.strip().lower() in choices:
            return value.strip().lower()
        raise BadValue(f"must be one of {', '.join(choices)}")

    return check


def switch(value: object) -> bool:
    """`on` or `off`, or a truth value of TOML."""
    word = str(value).strip().lower()
    if word in _SWITCH:
        return _SWITCH[word]
    raise BadValue("must be on or off")


def text(value: object) -> str:
    """A text that is not blank, on one line."""
    if isinstance(value, str) and value.strip() and value.strip().isprintable():
        return value.strip()
    raise BadValue("must be a text on one line that is not blank")


def folder(value: object) -> Path:
    """A folder; it need not exist yet. `~` is the user's home."""
    try:
        return Path(text(value)).expanduser()
    except RuntimeError as error:
        raise BadValue("must be a folder; there is no such user's home") from error


def database_url(value: object) -> str:
    """`sqlite:///file` (from the working folder), `sqlite:////absolute/file`, or what names a PostgreSQL database."""
    expected = "must be like sqlite:///awareness.db, or postgresql://user:password@db.example.com/awareness"
    written = text(value)
    if written.partition(":")[0].lower() in {"postgresql", "postgres"}:
        from awareness_sql.postgres.address import parse_address

        try:
            parse_address(written)
        except ValueError as error:
            raise BadValue(f"cannot be used: {error}") from None
        return written
    url = _split(written, expected)
    if url.scheme != "sqlite" or url.netloc or url.query or url.fragment or url.path in _NO_FILE:
        raise BadValue(expected)
    return written


def mail_url(value: object) -> str:
    """What `awareness_smtp` understands."""
    from awareness_smtp import InvalidMailSetting, parse_mail_server

    url = text(value)
    try:
        parse_mail_server(url)
    except InvalidMailSetting as error:
        raise BadValue(f"cannot be used: {error}") from None
    return url


def limits_url(value: object) -> str:
    """What `awareness_limits` understands."""
    from awareness_limits.store_url import InvalidStoreUrl, parse_store_url

    url = text(value)
    if url != "memory://":
        try:
            parse_store_url(url)
        except InvalidStoreUrl as error:
            raise BadValue(f"cannot be used: {error}") from None
    return url


def web_url(value: object) -> str:
    """`http://` or `https://` with a host and maybe a path, nothing else; without a slash at the end."""
    expected = "must be like https://awareness.example.com"
    url = _split(value, expected)
    if url.scheme not in {"http", "https"} or not url.hostname or url.query or url.fragment or url.username:
        raise BadValue(expected)
    return text(value).rstrip("/")


def sender(value: object) -> str:
    """One address, with a name before it or not: `Awareness <no-reply@example.com>`."""
    from awareness_smtp import InvalidMailSetting, parse_sender

    address = text(value)
    if len(getaddresses([address])) != 1:
        raise BadValue("must be one address, like no-reply@example.com or Awareness <no-reply@example.com>")
    try:
        parse_sender(address)
    except InvalidMailSetting as error:
        raise BadValue(f"cannot be used: {error}") from None
    return address


def dkim_key(value: object) -> str:
    """An RSA private key in PEM."""
    from awareness_smtp import InvalidMailSetting, parse_dkim_key

    if not isinstance(value, str):
        raise BadValue("must be a text")
    try:
        parse_dkim_key(value, selector="any")
    except InvalidMailSetting as error:
        raise BadValue(f"cannot be used: {error}") from None
    return value


def dkim_selector(value: object) -> str:
    """What the domain's DNS calls the key."""
    from awareness_smtp import InvalidMailSetting, parse_dkim_selector

    try:
        return parse_dkim_selector(text(value))
    except InvalidMailSetting as error:
        raise BadValue(f"cannot be used: {error}") from None


def token(value: object) -> str:
    """At least 16 printable ASCII characters, no blanks: it travels in a header."""
    if isinstance(value, str) and _TOKEN.fullmatch(value.strip()):
        return value.strip()
    raise BadValue("must have at least 16 printable ASCII characters and no blanks")


def networks(value: object) -> tuple[str, ...]:
    """IP addresses and networks, as a list or separated by commas."""
    try:
        return tuple(str(ip_network(part, strict=False)) for part in _parts(value))
    except ValueError as error:
        raise BadValue(
            "must be addresses or networks like 10.0.0.5 or 10.0.0.0/8, separated by commas"
        ) from error


def origins(value: object) -> tuple[str, ...]:
    """Web origins, as a list or separated by commas. `*` is refused: origins are to be named."""
    expected = "must be origins like https://app.example.com (scheme, host, maybe port), separated by commas"
    found = []
    for part in _parts(value):
        url = _split(part, expected)
        if (
            url.scheme not in {"http", "https"}
            or not url.hostname
            or url.path.strip("/")
            or url.query
            or url.username
        ):
            raise BadValue(expected)
        found.append(f"{url.scheme}://{url.netloc.lower()}")
    return tuple(found)


def _split(value: object, expected: str) -> SplitResult:
    if not isinstance(value, str) or not value.strip().isprintable():
        raise BadValue(expected)
    try:
        url = urlsplit(value.strip())
        _ = url.port
    except ValueError as error:
        raise BadValue(expected) from error
    return url


def _parts(value: object) -> Sequence[str]:
    parts = value if isinstance(value, list) else str(value).split(",")
    return [str(part).strip() for part in parts if str(part).strip()]
