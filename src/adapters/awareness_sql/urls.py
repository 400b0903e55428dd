"""Which databases this package knows, by URL."""

from __future__ import annotations

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError


def parsed_url(url: str) -> URL:
    """The parts of `url`. Raises `ValueError` for what is no URL or names another kind of database.

    The message does not repeat the URL, which may hold a password.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise ValueError("not a database URL; write one such as sqlite:///awareness.db") from error
    if parsed.get_backend_name() != "sqlite":
        raise ValueError(
            f"'{parsed.get_backend_name()}' databases are not supported; write a URL such as sqlite:///awareness.db"
        )
    return parsed
