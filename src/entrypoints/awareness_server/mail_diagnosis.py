"""Whether mail can leave: the server is greeted as a mailer would greet it, and no mail is sent."""

from __future__ import annotations

import asyncio
import smtplib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from awareness_server.exit_codes import ExitCode
from awareness_server.findings import Finding, State, failed, ok
from awareness_server.redaction import shown_url
from awareness_server.settings import Settings

_PATIENCE_SECONDS = 5.0
_PORT, _TLS_PORT = 25, 465
_FIRST_REFUSAL = 400


async def examine_mail(settings: Settings) -> list[Finding]:
    """What would become of an invitation. Takes five seconds when the server hangs."""
    if settings.smtp_url:
        return [await asyncio.to_thread(_greet_mail_server, settings.smtp_url)]
    if settings.mail_folder is None:
        remedy = "set smtp_url and mail_from, or mail_folder while developing"
        return [
            Finding(name="mail", state=State.WARN, detail="not set up: no invitation is sent", remedy=remedy)
        ]
    return [_mail_folder(settings.mail_folder)]


def _mail_folder(folder: Path) -> Finding:
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not nearest.is_dir():
        return failed(
            "mail", f"{nearest} is no folder", "give another mail_folder", code=ExitCode.BAD_SETTINGS
        )
    try:
        probe = nearest / f".awareness-{id(folder)}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        remedy = f"let this user write to {nearest}"
        return failed("mail", f"{nearest}: {error.strerror}", remedy, code=ExitCode.BAD_SETTINGS)
    detail = f"written to {folder} and sent to nobody"
    return Finding(
        name="mail", state=State.WARN, detail=detail, remedy="set smtp_url before people are invited"
    )


def _greet_mail_server(url: str) -> Finding:
    parts = urlsplit(url)
    host = unquote(parts.hostname or "")
    by_tls = parts.scheme == "smtps"
    connect: Callable[..., smtplib.SMTP] = smtplib.SMTP_SSL if by_tls else smtplib.SMTP
    try:
        with connect(
            host, parts.port or (_TLS_PORT if by_tls else _PORT), timeout=_PATIENCE_SECONDS
        ) as server:
            code, _ = server.ehlo()
            encrypted = by_tls or server.has_extn("starttls")
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = "see that the mail server runs and that smtp_url names its host and port"
        return failed("mail", f"{shown_url(url)}: {reason}", remedy)
    if code >= _FIRST_REFUSAL:
        return failed("mail", f"{shown_url(url)} refused EHLO with {code}", "ask its administrator")
    if parts.username and not encrypted:
        remedy = "use smtps://, or a server with STARTTLS"
        detail = f"{shown_url(url)} offers no encryption for the password"
        return Finding(name="mail", state=State.WARN, detail=detail, remedy=remedy)
    return ok("mail", f"{shown_url(url)} answers EHLO{' with STARTTLS' if encrypted and not by_tls else ''}")
