"""The composition root: which adapter stands behind each port, chosen by the settings and nowhere else.

Everything is imported where it is needed, so that a command pays only for what it uses.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from awareness_core.errors import StoreUnavailable
from awareness_core.ports import Mailer, PortalPorts
from awareness_core.sources import SourceKind
from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.redaction import shown_url
from awareness_server.settings import Settings

if TYPE_CHECKING:
    from awareness_limits import FallbackCounter, MemoryCounter
    from awareness_smtp import DkimKey
    from awareness_sql import SqlStorage

_IN_MEMORY = "memory://"
_LOGIN = "/login"


@attrs.frozen(kw_only=True)
class BuiltPorts:
    """The ports, and how to let go of what is behind them. Building them touched nothing."""

    ports: PortalPorts
    close: Callable[[], Awaitable[None]]


def build_ports(settings: Settings) -> BuiltPorts:
    """The ports that these settings ask for. What is away is found out about when it is used."""
    from awareness_gophish import GophishTool
    from awareness_memory import SystemClock, SystemEntropy
    from awareness_oidc import OidcSignOn
    from awareness_passwords import Argon2Hasher, ListedPasswords
    from awareness_sql import open_storage

    clock = SystemClock()
    storage = open_storage(settings.database_url)
    counter = _counter(settings, storage)

    async def close() -> None:
        await counter.aclose()
        await storage.close()

    ports = PortalPorts(
        clock=clock,
        entropy=SystemEntropy(),
        companies=storage.companies,
        api_keys=storage.api_keys,
        store=storage.store,
        mailer=_mailer(settings),
        quota=counter,
        sources=storage.sources,
        tools={SourceKind.GOPHISH: GophishTool()},
        visitors=storage.visitors,
        hasher=Argon2Hasher(),
        frequent_passwords=ListedPasswords(),
        identity_providers=storage.identity_providers,
        single_sign_on=OidcSignOn(clock=clock),
    )
    return BuiltPorts(ports=ports, close=close)


@asynccontextmanager
async def checked(built: BuiltPorts, settings: Settings) -> AsyncIterator[PortalPorts]:
    """The ports on a database that answers and is migrated; closed when the block ends.

    Raises `CommandFailed`: `UNAVAILABLE` for a database that is away, `BAD_SETTINGS` for one that somebody has to set
    up first, with the SQL for that as details.
    """
    try:
        _require_folder(settings)
        try:
            await built.ports.store.check()
        except StoreUnavailable as error:
            raise _database_refusal(error) from error
        yield built.ports
    finally:
        await built.close()


@asynccontextmanager
async def opened_ports(settings: Settings) -> AsyncIterator[PortalPorts]:
    """Build the ports and check them; see `checked`."""
    async with checked(build_ports(settings), settings) as ports:
        yield ports


@asynccontextmanager
async def opened_counter(settings: Settings) -> AsyncIterator[MemoryCounter | FallbackCounter]:
    """The quota counter alone. A shared store that is away is no fault here: the counter lives with it."""
    from awareness_sql import open_storage

    storage = open_storage(settings.database_url)
    counter = _counter(settings, storage)
    try:
        yield counter
    finally:
        await counter.aclose()
        await storage.close()


def migrate_database(settings: Settings) -> tuple[str, ...]:
    """Bring the database's tables up to date and name the steps that were taken, none when there were none.

    Raises `CommandFailed` when the database cannot be reached or written, or its user may not make tables.
    """
    from awareness_sql.migration import migrate

    _require_folder(settings)
    try:
        return migrate(settings.database_url)
    except StoreUnavailable as error:
        raise _database_refusal(error) from error


def sqlite_file(settings: Settings) -> Path | None:
    """The file that holds the database, or None when a server does."""
    scheme, _, path = settings.database_url.partition(":///")
    return Path(path).absolute() if scheme == "sqlite" else None


def limits_are_shared(settings: Settings) -> bool:
    """Whether several processes would count one quota together."""
    return settings.limits_url != _IN_MEMORY if settings.limits_url else _counts_in_database(settings)


def mail_in_use(settings: Settings) -> str:
    """For people: what becomes of mail."""
    if settings.smtp_url:
        return f"{shown_url(settings.smtp_url)}, from {settings.mail_from}"
    if settings.mail_folder:
        return f"written to the folder {settings.mail_folder}, sent to nobody (no smtp_url is set)"
    return "off: every invitation is answered delivery_failed (no smtp_url is set)"


def login_url(settings: Settings) -> str | None:
    """Where mails lead: our own `/login`; without the portal to `public_url`, where another program must be."""
    if settings.public_url is None or not settings.portal or settings.public_url.endswith(_LOGIN):
        return settings.public_url
    return settings.public_url + _LOGIN


def return_address(settings: Settings) -> str | None:
    """Where identity providers send people back; None while nobody can log in through one."""
    if settings.public_url is None or not settings.portal:
        return None
    from awareness_web import return_address_at

    return return_address_at(settings.public_url)


def signing_key(settings: Settings) -> DkimKey | None:
    """What mails are signed with; None when the mail server is to do that."""
    from awareness_smtp import parse_dkim_key

    if not settings.dkim_key:
        return None
    return parse_dkim_key(settings.dkim_key, selector=settings.dkim_selector or "")


def limits_in_use(settings: Settings) -> str:
    """For people: where the quota is counted."""
    if not limits_are_shared(settings):
        return "counted in this process"
    return f"counted in {shown_url(settings.limits_url) if settings.limits_url else 'the database'}"


def _counts_in_database(settings: Settings) -> bool:
    return settings.limits_url is None and sqlite_file(settings) is None


def _counter(settings: Settings, storage: SqlStorage) -> MemoryCounter | FallbackCounter:
    from awareness_limits import FallbackCounter, MemoryCounter, counter_from_url

    if storage.quota is not None and _counts_in_database(settings):
        return FallbackCounter(storage.quota, MemoryCounter())
    return counter_from_url(settings.limits_url)


def _mailer(settings: Settings) -> Mailer:
    from awareness_smtp import FileMailer, NoMailer, SmtpMailer

    if settings.smtp_url:
        return SmtpMailer(
            settings.smtp_url,
            settings.mail_from or "",
            login_url=login_url(settings),
            connections=settings.smtp_connections,
            call_limit=timedelta(seconds=settings.mail_seconds),
            dkim_key=signing_key(settings),
        )
    if settings.mail_folder:
        named = {} if settings.mail_from is None else {"sender": settings.mail_from}
        return FileMailer(settings.mail_folder, login_url=login_url(settings), **named)
    return NoMailer()


def _require_folder(settings: Settings) -> None:
    path = sqlite_file(settings)
    if path is not None and not path.parent.is_dir():
        raise CommandFailed(
            f"the folder {path.parent} of the database does not exist; make it, or correct database_url",
            ExitCode.UNAVAILABLE,
        )


def _database_refusal(error: StoreUnavailable) -> CommandFailed:
    from awareness_sql import DatabaseUnfit

    if isinstance(error, DatabaseUnfit):
        return CommandFailed(error.message, ExitCode.BAD_SETTINGS, details=error.statements)
    return CommandFailed(error.message, ExitCode.UNAVAILABLE)
