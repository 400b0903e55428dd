"""Whether an installation can work: each thing it depends on, looked at the way the server will use it.

Every finding says what to do. Looks only; what it needs to know of adapters it asks `wiring`.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from awareness_core.errors import AwarenessError
from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.findings import Finding, State, failed, ok
from awareness_server.http_server import claimed_port
from awareness_server.mail_diagnosis import examine_mail
from awareness_server.redaction import shown_url
from awareness_server.settings import Settings
from awareness_server.sign_on_diagnosis import examine_sign_on
from awareness_server.wiring import (
    limits_are_shared,
    limits_in_use,
    opened_counter,
    opened_ports,
    sqlite_file,
)

_LITTLE_SPACE = 1 << 30
_NO_SPACE = 64 << 20
# Clocks of machines without a battery begin long before this program was written.
_WRITTEN = datetime(2025, 11, 1, tzinfo=UTC)


async def diagnose(settings: Settings) -> list[Finding]:
    """Look at everything, in the order in which it should be repaired. Takes seconds when something hangs."""
    found = []
    for check in _CHECKS:
        found += await check(settings)
    return found


async def _database(settings: Settings) -> list[Finding]:
    shown = shown_url(settings.database_url)
    try:
        async with opened_ports(settings) as ports:
            companies = await ports.companies.list_companies()
            keys = await ports.api_keys.list_api_keys()
    except CommandFailed as error:
        return [failed("database", error.message, " ".join(error.details), code=error.code)]
    except AwarenessError as error:
        return [failed("database", error.message, "see that it runs and that database_url is right")]
    created = [company.created_at for company in companies] + [key.created_at for key in keys]
    latest = max(created, default=None)
    walled = "" if sqlite_file(settings) else "; its row-level security keeps them apart"
    return [ok("database", f"{shown} answers; companies: {len(companies)}{walled}"), _clock(latest)]


def _clock(latest: datetime | None) -> Finding:
    now = datetime.now(UTC)
    told = f"{now:%Y-%m-%d %H:%M:%S} UTC"
    remedy = "set the clock, and keep it by NTP: keys expire by it"
    if now < _WRITTEN:
        return Finding(
            name="clock", state=State.WARN, detail=f"says {told}, which is long past", remedy=remedy
        )
    if latest is not None and now < latest:
        detail = f"says {told}, before the newest entry of the database ({latest:%Y-%m-%d %H:%M:%S})"
        return Finding(name="clock", state=State.WARN, detail=detail, remedy=remedy)
    return ok("clock", told)


async def _disk(settings: Settings) -> list[Finding]:
    path = sqlite_file(settings)
    if path is None or not path.parent.is_dir():
        return []
    free = shutil.disk_usage(path.parent).free
    detail = f"{free >> 20} MiB free beside {path}"
    found = [ok("disk", detail)]
    if free < _LITTLE_SPACE:
        state = State.FAIL if free < _NO_SPACE else State.WARN
        found = [
            Finding(name="disk", state=state, detail=detail, remedy="make room: writes fail when it is full")
        ]
    if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        found.append(
            Finding(
                name="permissions",
                state=State.WARN,
                detail=f"other users of this machine may open {path}, which holds personal data",
                remedy=f"chmod 600 {path}",
            )
        )
    return found


async def _limits(settings: Settings) -> list[Finding]:
    if not limits_are_shared(settings):
        return [_workers_without_limits(settings)]
    async with opened_counter(settings) as counter:
        is_down = await counter.is_shared_store_down()
    if not is_down:
        return [ok("limits", limits_in_use(settings))]
    meanwhile = "until then each process counts by itself"
    if settings.limits_url is None:
        return [
            failed(
                "limits",
                "requests cannot be counted in the database",
                f"see what is told of the database; {meanwhile}",
            )
        ]
    remedy = f"start it, or see that limits_url is right; {meanwhile}"
    return [failed("limits", f"{shown_url(settings.limits_url)} does not answer", remedy)]


def _workers_without_limits(settings: Settings) -> Finding:
    if settings.workers == 1:
        return ok("limits", "counted in the one process that answers")
    remedy = "set limits_url to a Redis or Valkey that all of them share, database_url to a PostgreSQL, or workers to 1"
    return failed(
        "limits", f"{settings.workers} workers would count apart", remedy, code=ExitCode.BAD_SETTINGS
    )


async def _port(settings: Settings) -> list[Finding]:
    try:
        with claimed_port(settings.host, settings.port) as address:
            return [ok("port", f"{address.ip} port {address.port} is free")]
    except CommandFailed as error:
        remedy = "fine if that is this service; else give another port"
        return [Finding(name="port", state=State.WARN, detail=error.message, remedy=remedy)]


_CHECKS: tuple[Callable[[Settings], Awaitable[list[Finding]]], ...] = (
    _database,
    _disk,
    examine_mail,
    examine_sign_on,
    _limits,
    _port,
)
