"""Bringing a database's schema up to date, step by step, with the scripts in `migrations`.

Alembic is imported here alone, and only commands that migrate import this module: a service that checks its schema does
without.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from awareness_sql.sqlite.file import path_from
from awareness_sql.sqlite.migrating import migrating
from awareness_sql.unfit import DatabaseUnfit
from awareness_sql.urls import names_postgres, parsed_url

if TYPE_CHECKING:
    from alembic.runtime.migration import MigrationInfo

_SCRIPTS = Path(__file__).with_name("migrations")


def migrate(url: str) -> tuple[str, ...]:
    """Bring the database at `url` to the schema of this release; the versions it went through, none if it was there.

    An SQLite file that does not exist is created; a PostgreSQL database is not, and the user of the URL must be the one
    to whom its tables are to belong. All steps are one transaction, and two processes that migrate at once do so one
    after the other. Raises `ValueError` for a URL that names no known database, `ModuleNotFoundError` saying what to
    install for PostgreSQL without its driver, `StoreUnavailable` when it cannot be reached, and of that the kind
    `DatabaseUnfit` when it belongs to a newer release, or the user may not migrate it.
    """
    if names_postgres(url):
        # Only who uses PostgreSQL needs its driver.
        from awareness_sql.postgres.address import parse_address  # noqa: PLC0415
        from awareness_sql.postgres.migrating import run_migrating  # noqa: PLC0415

        return run_migrating(parse_address(url), _upgrade)
    with migrating(path_from(parsed_url(url))) as connection:
        return _upgrade(connection)


def _upgrade(connection: Connection) -> tuple[str, ...]:
    steps: list[str] = []

    def note(*, step: MigrationInfo, **_: object) -> None:
        steps.extend(step.up_revision_ids)

    # Alembic reads its options with `%` as an escape.
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes.update(connection=connection, on_version_apply=note)
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise DatabaseUnfit(
            f"The database has a schema that this release does not know ({error}); upgrade this program."
        ) from error
    return tuple(steps)
