"""Which PostgreSQL database a URL names, and how it wants to be connected to.

Decides what is understood before anything is touched, since a misspelt option would otherwise come to light as a
database that is away. No message repeats the URL, which may hold a password.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

import attrs

_EXPECTED = (
    "write postgresql://user:password@host[:5432]/database, and percent-encode what is special in a password"
)
_PLACE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:,/@\s]+)(:[0-9]{1,5})?")
_PASSED_ON = frozenset(
    {
        "application_name",
        "gsslib",
        "host",
        "krbsrvname",
        "options",
        "passfile",
        "port",
        "sslcert",
        "sslcrl",
        "sslkey",
        "sslmode",
        "sslnegotiation",
        "sslpassword",
        "sslrootcert",
        "ssl_max_protocol_version",
        "ssl_min_protocol_version",
        "target_session_attrs",
    }
)
"""Options of libpq that asyncpg knows, but those that the URL has another place for."""

_CHOICES: Mapping[str, frozenset[str]] = {
    "sslmode": frozenset({"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}),
    "target_session_attrs": frozenset(
        {"any", "primary", "standby", "prefer-standby", "read-write", "read-only"}
    ),
}


@attrs.frozen(kw_only=True)
class Address:
    """A checked URL. `dsn` is for the driver; `shown` names the database to people, without user or password.

    At most `pool_size` transactions are open at the same time. Times are in seconds.
    """

    dsn: str = attrs.field(repr=False)
    shown: str
    pool_size: int = 10
    connect_timeout: int = 5
    statement_timeout: int = 30


def parse_address(url: str) -> Address:
    """The database that `url` names: `postgresql://user:password@host:port/database`, several hosts apart by commas.

    Options after `?`: those of libpq that are about TLS, hosts and passwords; `pool_size`, `connect_timeout` and
    `statement_timeout`. Of several hosts the first that takes writes is used, unless `target_session_attrs` says
    otherwise. Raises `ValueError`.
    """
    try:
        parts = urlsplit(url.strip())
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        raise ValueError(f"not a database URL; {_EXPECTED}") from None
    hosts = _hosts(parts)
    database = unquote(parts.path.removeprefix("/"))
    if not database or "/" in database or parts.fragment:
        raise ValueError(f"after the host comes the name of the database; {_EXPECTED}")
    own = {field.name for field in attrs.fields(Address)} - {"dsn", "shown"}
    numbers = {name: _number(name, options.pop(name)) for name in sorted(own & options.keys())}
    for name, value in options.items():
        _check_option(name, value, own)
    options.setdefault("target_session_attrs", "read-write")
    return Address(
        dsn=parts._replace(scheme="postgresql", query=urlencode(options)).geturl(),
        shown=f"{database} on {hosts or options.get('host') or 'this machine'}",
        **numbers,
    )


def _hosts(parts: SplitResult) -> str:
    credentials, _, hosts = parts.netloc.rpartition("@")
    if "@" in credentials or "/" in credentials:
        raise ValueError(f"user and password cannot be told from the host; {_EXPECTED}")
    for place in hosts.split(",") if hosts else ():
        found = _PLACE.fullmatch(place)
        if found is None or (found[2] and not 0 < int(found[2][1:]) < 65536):  # noqa: PLR2004
            raise ValueError(f"host or port cannot be read; {_EXPECTED}")
    return hosts


def _number(name: str, value: str) -> int:
    if value.isascii() and value.isdigit() and 0 < int(value[:9]) <= 3600:  # noqa: PLR2004
        return int(value[:9])
    raise ValueError(f"the option {name} of the database URL must be a whole number from 1 to 3600")


def _check_option(name: str, value: str, own: set[str]) -> None:
    if name not in _PASSED_ON:
        known = ", ".join(sorted(_PASSED_ON | own))
        raise ValueError(f"the option '{name}' of the database URL is not known; known are {known}")
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ValueError(
            f"the option {name} of the database URL must be one of {', '.join(sorted(_CHOICES[name]))}"
        )
