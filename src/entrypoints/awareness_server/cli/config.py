"""`awareness config`: the settings in force, where each comes from, and nothing of the secrets in them."""

from __future__ import annotations

from cyclopts import App

from awareness_server.cli.invocation import current_configuration
from awareness_server.cli.output import AsJson, JsonValue, write_json, write_table
from awareness_server.redaction import HIDDEN, shown_url
from awareness_server.settings import is_secret, setting_names

app = App(name="config", help="Show the settings in force and where each comes from.")


@app.command
def show(*, as_json: AsJson = False) -> None:
    """Show every setting with its value and where that comes from; passwords are shown as ***.

    Parameters
    ----------
    as_json
        Print JSON instead of a table.
    """
    read = current_configuration()
    values = {name: _shown(name, getattr(read.settings, name)) for name in setting_names()}
    origins = {name: read.origins.get(name, "default") for name in setting_names()}
    if as_json:
        write_json({name: {"value": values[name], "from": origins[name]} for name in setting_names()})
        return
    write_table(
        ("SETTING", "VALUE", "FROM"), [(name, _cell(values[name]), origins[name]) for name in setting_names()]
    )


def _shown(name: str, value: object) -> JsonValue:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, tuple):
        return [str(item) for item in value]
    if is_secret(name):
        return shown_url(str(value)) if "://" in str(value) else HIDDEN
    return str(value)


def _cell(value: JsonValue) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
