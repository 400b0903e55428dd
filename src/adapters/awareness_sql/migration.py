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

from awareness_core.errors import StoreUnavailable
from awareness_sql.sqlite.file import path_from
from awareness_sql.sqlite.migrating import migrating
from awareness_sql.urls import parsed_url

if TYPE_CHECKING:
    from alembic.runtime.migration import MigrationInfo

_SCRIPTS = Path(__file__).with_name("migrations")


def migrate(url: str) -> tuple[str, ...]:
    """Bring the database at `url` to the schema of this release; the versions it went through, none if it was there.

    An SQLite file that does not exist is created. All steps are one transaction, and two processes that migrate at once
    do so one after the other. Raises `ValueError` for a URL that names no known database, `StoreUnavailable` when it
    cannot be reached, or belongs to a newer release.
    """
    steps: list[str] = []

    def note(*, step: MigrationInfo, **_: object) -> None:
        steps.extend(step.up_revision_ids)

    with migrating(path_from(parsed_url(url))) as connection:
        # Alembic reads its options with `%` as an escape.
        config = Config()
        config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
        config.attributes.update(connection=connection, on_version_apply=note)
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreUnavailable(
                f"The database has a schema that this release does not know ({error}); upgrade this program."
            ) from error
    return tuple(steps)
