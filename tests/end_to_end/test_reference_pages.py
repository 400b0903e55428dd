"""The reference of the command line and of the settings leaves nothing out that there is, and shows nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from cyclopts import App

from awareness_server.cli import app
from awareness_server.exit_codes import MEANINGS
from awareness_server.settings import Settings, is_secret, setting_names

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
CLI = (REFERENCE / "cli.md").read_text(encoding="utf-8")
SETTINGS = (REFERENCE / "settings.md").read_text(encoding="utf-8")
EVERYWHERE = {"--help", "--version", "--config", "--debug"}


def every_command(within: App = app, path: tuple[str, ...] = ("awareness",)) -> Iterator[tuple[str, App]]:
    names = [name for name in within if not name.startswith("-")]
    if not names:
        yield " ".join(path), within
    for name in names:
        yield from every_command(within[name], (*path, name))


COMMANDS = dict(every_command())


def section(command: str) -> str:
    """What the page says of one command."""
    found = re.search(rf"^### `{command}\b[^\n]*`\n(.*?)(?=^##)", CLI, re.MULTILINE | re.DOTALL)
    return "" if found is None else found[1]


def options(command: App) -> set[str]:
    names = {name for argument in command.assemble_argument_collection() for name in argument.names}
    return {name for name in names if name.startswith("--")} - EVERYWHERE


def test_the_page_knows_exactly_the_commands_there_are() -> None:
    written = re.findall(r"^### `(awareness(?: [a-z-]+)+)", CLI, re.MULTILINE)

    assert sorted(COMMANDS) == sorted(written)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_explained_under_it(command: str) -> None:
    written = set(re.findall(r"`(--[a-z-]+)`", section(command)))

    assert set() == options(COMMANDS[command]) - written - {"--json"}
    assert "--json" not in options(COMMANDS[command]) or "--json" in section(command)


@pytest.mark.parametrize("option", sorted(EVERYWHERE - {"--version"}))
def test_the_options_of_every_command_are_explained_once(option: str) -> None:
    assert f"`{option}" in CLI


def test_the_table_of_exit_codes_is_the_one_in_the_code() -> None:
    written = re.findall(r"^\| (\d+) \| (.*) \|$", CLI.partition("## Running it")[0], re.MULTILINE)

    assert [(str(code.value), meaning.replace("|", r"\|")) for code, meaning in MEANINGS.items()] == written


def test_every_scope_is_in_the_help_of_the_command_that_takes_one() -> None:
    from awareness_core.api_keys import Scope
    from awareness_server.cli.keys import _SCOPE_HELP

    assert [] == [scope.value for scope in Scope if scope.value not in _SCOPE_HELP]


def test_the_table_of_settings_names_all_with_their_variables_and_defaults() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(AWARENESS_\w+)` \| (.*?) \| (.*) \|$", SETTINGS, re.MULTILINE)

    assert [(name, f"AWARENESS_{name.upper()}", _default(name)) for name in setting_names()] == [
        (name, variable, default) for name, variable, default, _ in rows
    ]
    assert [is_secret(name) for name in setting_names()] == ["Secret." in meaning for *_, meaning in rows]


@pytest.mark.parametrize("name", [name for name in setting_names() if is_secret(name)])
def test_the_file_variant_of_every_secret_is_named(name: str) -> None:
    assert f"`{name}_file`" in SETTINGS
    assert f"`AWARENESS_{name.upper()}_FILE`" in SETTINGS


def test_the_settings_file_that_is_shown_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from awareness_server.setting_sources import read_settings

    (shown,) = re.findall(r"^```toml\n(.*?)^```", SETTINGS, re.MULTILINE | re.DOTALL)
    secret = tmp_path / "secret"
    secret.write_text("smtp://mail.example.com")
    (tmp_path / "awareness.toml").write_text(shown.replace("/run/secrets/smtp_url", str(secret)))
    monkeypatch.chdir(tmp_path)
    read = read_settings(environment={})

    assert len(shown.splitlines()) == len(read.origins)


def _default(name: str) -> str:
    value = attrs.fields_dict(Settings)[name].default
    if value is None or value == ():
        return "none"
    return f"`{'on' if value is True else value}`"
