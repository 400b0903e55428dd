"""Whether mail can leave: the server is greeted as a mailer would greet it, and no mail is sent."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from pathlib import Path

from awareness_server.exit_codes import ExitCode
from awareness_server.findings import Finding, State, failed, ok
from awareness_server.settings import Settings
from awareness_server.wiring import signing_key
from awareness_smtp import MailServer, Security, parse_mail_server, parse_sender

_PATIENCE_SECONDS = 5.0


async def examine_mail(settings: Settings) -> list[Finding]:
    """What would become of an invitation. Takes five seconds when the server hangs."""
    if settings.smtp_url:
        return [await asyncio.to_thread(_greet, settings.smtp_url), *_signing(settings), *_links(settings)]
    if settings.mail_folder is None:
        remedy = "set smtp_url and mail_from, or mail_folder while developing"
        return [
            Finding(name="mail", state=State.WARN, detail="not set up: no invitation is sent", remedy=remedy)
        ]
    return [_mail_folder(settings.mail_folder)]


def _signing(settings: Settings) -> list[Finding]:
    key = signing_key(settings)
    if key is None:
        return []
    domain = parse_sender(settings.mail_from or "").domain
    return [ok("dkim", f"mails are signed; the public key has to be at {key.selector}._domainkey.{domain}")]


def _links(settings: Settings) -> list[Finding]:
    if settings.public_url is not None:
        return []
    remedy = "set public_url to where people reach this service, such as https://awareness.example.com"
    return [Finding(name="links", state=State.WARN, detail="mails hold no link to log in at", remedy=remedy)]


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


def _greet(url: str) -> Finding:
    server = parse_mail_server(url)
    context = ssl.create_default_context()
    try:
        with _connected(server, context) as session:
            session.ehlo_or_helo_if_needed()
            offers_encryption = session.has_extn("starttls")
            if _wants_starttls(server, is_offered=offers_encryption):
                session.starttls(context=context)
                session.ehlo()
    except OSError as error:
        remedy = "see that the mail server runs, and that smtp_url names its host, port and encryption"
        return failed("mail", f"{server.place}: {_reason(error)}", remedy)
    if server.security is Security.PLAIN and server.password is not None:
        detail = f"{server.place} answers, and gets the password unencrypted"
        return Finding(name="mail", state=State.WARN, detail=detail, remedy="leave out ?starttls=never")
    return ok("mail", f"{server.place} answers EHLO; {server.security.value}")


def _connected(server: MailServer, context: ssl.SSLContext) -> smtplib.SMTP:
    if server.security is Security.TLS:
        return smtplib.SMTP_SSL(server.host, server.port, timeout=_PATIENCE_SECONDS, context=context)
    return smtplib.SMTP(server.host, server.port, timeout=_PATIENCE_SECONDS)


def _wants_starttls(server: MailServer, *, is_offered: bool) -> bool:
    if server.security is Security.STARTTLS_IF_OFFERED:
        return is_offered
    return server.security is Security.STARTTLS_REQUIRED


def _reason(error: OSError) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"it answered {error.smtp_code}"
    if isinstance(error, TimeoutError):
        return f"no answer within {_PATIENCE_SECONDS:g} seconds"
    return error.strerror or str(error)
