"""Which kinds of database this package knows, by URL."""

from __future__ import annotations

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

_EXPECTED = "write a URL such as sqlite:///awareness.db or postgresql://user:password@host/awareness"


def names_postgres(url: str) -> bool:
    """Whether `url` names a PostgreSQL database."""
    return url.strip().partition(":")[0].lower() in {"postgresql", "postgres"}


def parsed_url(url: str) -> URL:
    """The parts of the `url` of an SQLite database. Raises `ValueError` for what names no kind that is known.

    The message does not repeat the URL, which may hold a password.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise ValueError(f"not a database URL; {_EXPECTED}") from error
    if parsed.get_backend_name() != "sqlite":
        raise ValueError(f"'{parsed.get_backend_name()}' databases are not supported; {_EXPECTED}")
    return parsed
