"""The command line `awareness`: which commands there are, and the options before them.

Commands are named by import path and loaded when called, so that `--help` stays fast. What a command does stands in
its own module; how it prints in `output`; what it works with in `invocation`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from awareness_server.cli.invocation import Invocation, begin


def _version() -> str:
    from importlib.metadata import version

    return version("awareness-core")


app = App(
    name="awareness",
    help="Provision people, invite them, and read the results of phishing-awareness campaigns.",
    version=_version,
    help_format="markdown",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)

for _name, _path, _help in (
    ("serve", "serve:serve", "Answer the HTTP API."),
    ("worker", "worker:worker", "Do what nobody asks for: poll sources, mail what a crash left."),
    ("demo", "demo:demo", "Run a whole fictional company; nothing to configure."),
    ("migrate", "database:migrate", "Create the database's tables, or bring them up to date."),
    ("doctor", "doctor:doctor", "Check settings, database, mail and limits, and say what to do."),
    ("config", "config:app", "Show the settings in force and where each comes from."),
    ("company", "company:app", "Create, change and list companies."),
    ("keys", "keys:app", "Create, list and revoke API keys."),
    ("employees", "employees:app", "Import, list and invite people."),
    ("mail", "mail:app", "Look at the mails of access."),
    ("sources", "sources:app", "Connect the tools that campaigns are run with."),
    ("campaigns", "campaigns:app", "List, show, import and judge campaigns."),
):
    app.command(f"awareness_server.cli.{_path}", name=_name, help=_help)


@app.meta.default
def launch(
    *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    config: Path | None = None,
    debug: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> object:
    """
    Parameters
    ----------
    config
        The settings file, instead of awareness.toml in the working folder (or AWARENESS_CONFIG).
    debug
        Show the traceback of an error.
    """
    begin(Invocation(config=config, debug=debug))
    return app(tokens, exit_on_error=False, print_error=False)
