"""Where settings come from: defaults, then the settings file, then the environment, then flags; the last one wins.

All that is wrong anywhere is told at once, each with the place it came from. An unknown name is wrong too: a misspelt
setting must never be silently dropped. Secret values are never repeated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import attrs
import typed_settings as ts
from typed_settings.exceptions import InvalidSettingsError, TsError
from typed_settings.loaders import Loader
from typed_settings.types import LoadedSettings, LoaderMeta, OptionList, SettingsClass

from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.setting_checks import BadValue
from awareness_server.settings import Settings, check_of, is_secret, setting_names

DEFAULT_FILE = Path("awareness.toml")
PREFIX = "AWARENESS_"
CONFIG_VARIABLE = "AWARENESS_CONFIG"

_FILE_SUFFIX = "_file"
_SHOWN_LENGTH = 60
_MAX_SECRET_BYTES = 65_536
# What Kubernetes puts into every container beside a Service named "awareness".
_SERVICE_LINK = re.compile(r"AWARENESS_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP)(_\w+)?)")


class SettingsInvalid(CommandFailed):
    """One or more settings are wrong; `details` names each, where it came from, and what would be right."""

    def __init__(self, faults: list[str]) -> None:
        count = "a setting is" if len(faults) == 1 else f"{len(faults)} settings are"
        super().__init__(f"{count} wrong", ExitCode.BAD_SETTINGS, details=tuple(faults))


@attrs.frozen(kw_only=True)
class Configuration:
    """The settings in force, and for each that is no default the place it came from."""

    settings: Settings
    origins: Mapping[str, str]


def load_settings(
    *,
    config: Path | None = None,
    flags: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """As `read_settings`, the settings alone."""
    return read_settings(config=config, flags=flags, environment=environment).settings


def read_settings(
    *,
    config: Path | None = None,
    flags: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Configuration:
    """What is in force with these flags, in this environment (the process' own by default) and working folder.

    `config` names the settings file instead of `AWARENESS_CONFIG` or `awareness.toml`; one that is named must exist.
    Raises `SettingsInvalid`.
    """
    environment = os.environ if environment is None else environment
    faults: list[str] = []
    checker = _Checker(faults)
    named = config or (Path(environment[CONFIG_VARIABLE]) if environment.get(CONFIG_VARIABLE) else None)
    loaders: list[Loader] = [_File(named, faults), _Environment(environment, faults), _Flags(flags or {})]
    try:
        settings = ts.load_settings(Settings, loaders, converter=checker)
    except InvalidSettingsError:
        # typed-settings tells of a check that broke in words that hold the value.
        if checker.broken is not None:
            raise checker.broken from None
        raise
    faults += _missing_partners(settings, faults)
    if faults:
        raise SettingsInvalid(faults)
    return Configuration(settings=settings, origins=checker.origins)


def _missing_partners(settings: Settings, told: Sequence[str]) -> list[str]:
    """What is needed with a setting that is there, but for what was given and is `told` to be wrong already."""

    def is_absent(name: str) -> bool:
        return not getattr(settings, name) and not any(fault.startswith(name) for fault in told)

    faults = []
    if settings.smtp_url and is_absent("mail_from"):
        faults.append("mail_from: is needed with smtp_url; give an address like no-reply@example.com")
    if settings.dkim_key and is_absent("dkim_selector"):
        faults.append(
            "dkim_selector: is needed with dkim_key; give the name of the key in DNS, like awareness2026"
        )
    if settings.dkim_selector and is_absent("dkim_key"):
        faults.append(
            "dkim_key: is needed with dkim_selector, or mails are not signed; "
            "name the file of the private key in dkim_key_file"
        )
    return faults


_Naming = Callable[[str], str]
"""From the name of a setting to how a source spells it, or where it stands."""


@attrs.frozen
class _Given:
    """A value as somebody wrote it, and where."""

    name: str
    value: object = attrs.field(repr=False)
    origin: str


class _File:
    """`awareness.toml`: settings by their names, at the top level."""

    def __init__(self, named: Path | None, faults: list[str]) -> None:
        self._named = named
        self._faults = faults

    def __call__(self, settings_cls: SettingsClass, options: OptionList) -> LoadedSettings:
        path = self._named or DEFAULT_FILE
        found: dict[str, object] = {}
        if path.is_file():
            try:
                found = ts.TomlFormat(None)(path, settings_cls, options)
            except (TsError, OSError, ValueError) as error:
                self._faults.append(f"{path}: cannot be read as TOML: {_reason(error)}")
        elif self._named is not None or path.exists():
            self._faults.append(
                f"{path}: the settings file is not there, or is no file; see --config, {CONFIG_VARIABLE}"
            )
        given = _given(found, self._faults, origin=lambda _: str(path), spell=str)
        return LoadedSettings(given, LoaderMeta(self))


class _Environment:
    """`AWARENESS_*`. An empty variable is as if it were not there, since compose files pass those on."""

    def __init__(self, environment: Mapping[str, str], faults: list[str]) -> None:
        self._environment = environment
        self._faults = faults

    def __call__(self, settings_cls: SettingsClass, options: OptionList) -> LoadedSettings:  # noqa: ARG002 (typed-settings' protocol)
        found: dict[str, object] = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in self._environment.items()
            if name.startswith(PREFIX)
            and name != CONFIG_VARIABLE
            and value
            and not self._is_service_link(name)
        }
        given = _given(
            found,
            self._faults,
            origin=lambda name: f"environment variable {_variable(name)}",
            spell=_variable,
        )
        return LoadedSettings(given, LoaderMeta(self))

    def _is_service_link(self, name: str) -> bool:
        if not _SERVICE_LINK.fullmatch(name):
            return False
        hint = "Kubernetes sets it for a Service named awareness; put enableServiceLinks: false into the pod"
        self._faults.append(f"{name}: unknown setting. {hint}")
        return True


class _Flags:
    """Options of the command line, by setting."""

    def __init__(self, flags: Mapping[str, object]) -> None:
        self._flags = flags

    def __call__(self, settings_cls: SettingsClass, options: OptionList) -> LoadedSettings:  # noqa: ARG002 (typed-settings' protocol)
        given = {
            name: _Given(name, value, "--" + name.replace("_", "-")) for name, value in self._flags.items()
        }
        return LoadedSettings(dict(given), LoaderMeta(self))


class _Checker:
    """typed-settings' converter: it checks each value that was given, and notes all that is wrong."""

    def __init__(self, faults: list[str]) -> None:
        self._faults = faults
        self.origins: dict[str, str] = {}
        self.broken: Exception | None = None

    def structure(self, value: Any, target: Any) -> Any:  # noqa: ANN401 (typed-settings' protocol)
        if target is Settings:
            return Settings(**value)
        if not isinstance(value, _Given):
            return value
        self.origins[value.name] = value.origin
        try:
            return check_of(value.name)(value.value)
        except BadValue as problem:
            shown = "" if is_secret(value.name) else f", not {_shown(value.value)}"
            self._faults.append(f"{value.name}: {problem}{shown} ({value.origin})")
            return None
        except Exception as error:
            self.broken = error
            raise

    def get_structure_hook(self, target: Any) -> Any:  # noqa: ANN401 (typed-settings' protocol)
        raise NotImplementedError(f"no hook for {target}: every setting brings its own check")


def _given(
    found: Mapping[str, object], faults: list[str], *, origin: _Naming, spell: _Naming
) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for key, value in found.items():
        name = key.removesuffix(_FILE_SUFFIX)
        if key in setting_names():
            given[key] = _Given(key, value, origin(key))
        elif name in setting_names() and is_secret(name):
            if name in found:
                faults.append(f"{name}: is given twice, as {spell(name)} and {spell(key)}; leave one out")
            else:
                given.update(_from_file(name, value, f"{origin(key)}", faults))
        else:
            faults.append(
                f"{spell(key)}: unknown setting{_suggestion(key, spell)}{_where(origin(key), spell(key))}"
            )
    return given


def _from_file(name: str, path: object, origin: str, faults: list[str]) -> dict[str, _Given]:
    try:
        with Path(str(path)).open("rb") as file:
            content = file.read(_MAX_SECRET_BYTES).decode().strip()
    except (OSError, ValueError) as error:
        faults.append(f"{name}: the file {_shown(path)} cannot be read: {_reason(error)} ({origin})")
        return {}
    return {name: _Given(name, content, f"file {path} ({origin})")}


def _suggestion(key: str, spell: _Naming) -> str:
    known = [*setting_names(), *(name + _FILE_SUFFIX for name in setting_names() if is_secret(name))]
    alone = key.lower().removeprefix(PREFIX.lower()).replace("-", "_").removesuffix(_FILE_SUFFIX)
    if alone in setting_names():
        return f"; did you mean {spell(alone)}?"
    close = get_close_matches(key.lower().replace("-", "_"), known, n=1)
    return f"; did you mean {spell(close[0])}?" if close else "; awareness config show lists those there are"


def _where(origin: str, spelt: str) -> str:
    return "" if spelt in origin else f" ({origin})"


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}…"


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8 text"
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
