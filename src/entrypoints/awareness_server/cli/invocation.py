"""What every command is given: the settings of this run, the opened ports, and the company that was meant.

The one home of the options that every command takes (`--config`, `--debug`). Chooses no adapter; `wiring` does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from awareness_server.exit_codes import CommandFailed

if TYPE_CHECKING:
    from awareness_core.ports import PortalPorts, Ports
    from awareness_core.tenants import Company
    from awareness_server.setting_sources import Configuration
    from awareness_server.settings import Settings


@attrs.frozen(kw_only=True)
class Invocation:
    """The options before the command: which settings file, and whether a fault shows its traceback."""

    config: Path | None = None
    debug: bool = False


_NAMES_SHOWN = 10
_DEFAULT = Invocation()
_current: ContextVar[Invocation] = ContextVar("invocation")


def begin(invocation: Invocation) -> None:
    """Make it the invocation that the functions below speak of."""
    _current.set(invocation)


def is_debugging() -> bool:
    """Whether the user asked for tracebacks."""
    return _current.get(_DEFAULT).debug


def current_configuration(**flags: object) -> Configuration:
    """The settings of this run with their origins; `flags` that are not None outrank all other sources.

    Raises `SettingsInvalid` with everything that is wrong.
    """
    from awareness_server.setting_sources import read_settings

    given = {name: value for name, value in flags.items() if value is not None}
    return read_settings(config=_current.get(_DEFAULT).config, flags=given)


def current_settings(**flags: object) -> Settings:
    """As `current_configuration`, the settings alone."""
    return current_configuration(**flags).settings


@asynccontextmanager
async def open_ports(settings: Settings | None = None) -> AsyncIterator[PortalPorts]:
    """The ports of this run, on a database that answers and is migrated; closed when the block ends.

    Raises `CommandFailed` when the database is not there or not migrated, `SettingsInvalid` for bad settings.
    """
    from awareness_server.logs import configure_logs
    from awareness_server.settings import secrets_of
    from awareness_server.wiring import opened_ports

    settings = settings or current_settings()
    # A command tells its own story; of what goes on beneath it only trouble is worth a line.
    level = "debug" if is_debugging() else "error" if settings.log_level == "error" else "warning"
    configure_logs(log_format=settings.log_format, log_level=level, secrets=secrets_of(settings))
    async with opened_ports(settings) as ports:
        yield ports


async def find_company(ports: Ports, wanted: str) -> Company:
    """The company with that id, or with that name in any spelling of case and blanks.

    Raises `CommandFailed` naming the companies there are.
    """
    from awareness_core.texts import folded_name

    companies = await ports.companies.list_companies()
    for company in companies:
        if company.id == wanted.strip().lower() or folded_name(company.name) == folded_name(wanted):
            return company
    if not companies:
        raise CommandFailed(
            f"there is no company '{wanted}', nor any other yet: awareness company create NAME"
        )
    names = ", ".join(f"'{company.name}'" for company in companies[:_NAMES_SHOWN])
    more = (
        f" and {len(companies) - _NAMES_SHOWN} more: awareness company list"
        if len(companies) > _NAMES_SHOWN
        else ""
    )
    raise CommandFailed(f"there is no company '{wanted}'; there are {names}{more}")
