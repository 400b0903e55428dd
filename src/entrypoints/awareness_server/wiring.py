"""The composition root: which adapter stands behind each port, chosen by the settings and nowhere else.

Everything is imported where it is needed, so that a command pays only for what it uses.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from awareness_core.errors import StoreUnavailable
from awareness_core.ports import Mailer, Ports
from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.redaction import shown_url
from awareness_server.settings import Settings

if TYPE_CHECKING:
    from awareness_limits import FallbackCounter, MemoryCounter

_IN_MEMORY = "memory://"


@asynccontextmanager
async def opened_ports(settings: Settings) -> AsyncIterator[Ports]:
    """The ports that these settings ask for, on a database that answers and is migrated; closed when the block ends.

    Raises `CommandFailed`: `UNAVAILABLE` for a database that is away, `BAD_SETTINGS` for one that is not migrated.
    """
    from awareness_memory import SystemClock, SystemEntropy
    from awareness_sql import open_storage

    _require_folder(settings)
    async with open_storage(settings.database_url) as storage, opened_counter(settings) as counter:
        try:
            await storage.store.check()
        except StoreUnavailable as error:
            raise _database_refusal(error) from error
        yield Ports(
            clock=SystemClock(),
            entropy=SystemEntropy(),
            companies=storage.companies,
            api_keys=storage.api_keys,
            store=storage.store,
            mailer=_mailer(settings),
            quota=counter,
        )


@asynccontextmanager
async def opened_counter(settings: Settings) -> AsyncIterator[MemoryCounter | FallbackCounter]:
    """The quota counter alone. A shared store that is away is no fault here: the counter lives with it."""
    from awareness_limits import counter_from_url

    counter = counter_from_url(settings.limits_url)
    try:
        yield counter
    finally:
        await counter.aclose()


def migrate_database(settings: Settings) -> tuple[str, ...]:
    """Bring the database's tables up to date and name the steps that were taken, none when there were none.

    Raises `CommandFailed` when the database cannot be reached or written.
    """
    from awareness_sql.migration import migrate

    _require_folder(settings)
    try:
        return migrate(settings.database_url)
    except StoreUnavailable as error:
        raise CommandFailed(error.message, ExitCode.UNAVAILABLE) from error


def sqlite_file(settings: Settings) -> Path | None:
    """The file that holds the database, or None when a server does."""
    scheme, _, path = settings.database_url.partition(":///")
    return Path(path).absolute() if scheme == "sqlite" else None


def limits_are_shared(settings: Settings) -> bool:
    """Whether several processes would count one quota together."""
    return settings.limits_url not in {None, _IN_MEMORY}


def mail_in_use(settings: Settings) -> str:
    """For people: what becomes of mail."""
    if settings.smtp_url:
        return f"{shown_url(settings.smtp_url)}, from {settings.mail_from}"
    if settings.mail_folder:
        return f"written to the folder {settings.mail_folder}, sent to nobody (no smtp_url is set)"
    return "off: every invitation is answered delivery_failed (no smtp_url is set)"


def limits_in_use(settings: Settings) -> str:
    """For people: where the quota is counted."""
    return shown_url(str(settings.limits_url)) if limits_are_shared(settings) else "counted in this process"


def _mailer(settings: Settings) -> Mailer:
    from awareness_smtp import FileMailer, NoMailer, SmtpMailer

    if settings.smtp_url:
        return SmtpMailer(settings.smtp_url, sender=settings.mail_from, login_url=settings.login_url)
    if settings.mail_folder:
        return FileMailer(settings.mail_folder)
    return NoMailer()


def _require_folder(settings: Settings) -> None:
    path = sqlite_file(settings)
    if path is not None and not path.parent.is_dir():
        raise CommandFailed(
            f"the folder {path.parent} of the database does not exist; make it, or correct database_url",
            ExitCode.UNAVAILABLE,
        )


def _database_refusal(error: StoreUnavailable) -> CommandFailed:
    # The port has one error for a database that is away and for one with another schema; only the advice differs.
    wants_migration = "`awareness migrate`" in error.message or "newer release" in error.message
    return CommandFailed(error.message, ExitCode.BAD_SETTINGS if wants_migration else ExitCode.UNAVAILABLE)
