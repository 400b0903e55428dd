"""`awareness migrate`: bring the database's tables up to date. Safe to run again, and before every start."""

from __future__ import annotations

from awareness_server.cli.invocation import current_settings
from awareness_server.cli.output import AsJson, say, write_json
from awareness_server.redaction import shown_url


def migrate(*, as_json: AsJson = False) -> None:
    """Create the database's tables, or bring them up to date. Does nothing when they are.

    Parameters
    ----------
    as_json
        Print JSON instead of text.
    """
    from awareness_server.wiring import migrate_database

    settings = current_settings()
    steps = migrate_database(settings)
    shown = shown_url(settings.database_url)
    if as_json:
        write_json({"database": shown, "steps": list(steps)})
    elif steps:
        say(f"{shown} is up to date: {', '.join(steps)} applied.")
    else:
        say(f"{shown} was up to date.")
