"""`awareness mail`: what people get, without sending it."""

from __future__ import annotations

from datetime import datetime
from email import message_from_bytes, policy
from typing import Annotated, Literal

from cyclopts import App, Parameter

from awareness_core.employees import EmployeeId
from awareness_core.ports import InvitationLetter
from awareness_core.tenants import Company, CompanyId, Language
from awareness_server.cli.invocation import current_settings, find_company, open_ports
from awareness_server.cli.output import write_text

app = App(name="mail", help="Look at the mails of access.")

_SENDER = "Awareness <awareness@mailbox.example>"
_PASSWORD = "abcde-fghjk-mnpqr-stvwx"  # noqa: S105 (opens nothing)


@app.command
async def preview(
    *,
    company: str | None = None,
    language: Literal["fr", "en"] | None = None,
    kind: Annotated[Literal["text", "html", "eml"], Parameter(name="--format")] = "text",
) -> None:
    """Show the mail of access as it would go out, to nobody.

    Parameters
    ----------
    company
        The company's id or name; by default one that is made up.
    language
        By default the company's.
    kind
        The text or the HTML that people see, or the whole message as it is sent, signed if a key is set.
    """
    from awareness_server.wiring import login_url, signing_key
    from awareness_smtp import InvitationMessages, parse_sender, signed

    settings = current_settings()
    # Whoever has no database yet can look at mails all the same.
    if company is None:
        owner = Company(id=CompanyId(""), name="Example", created_at=_now())
    else:
        async with open_ports() as ports:
            owner = await find_company(ports, company)
    letter = _letter(owner, language=owner.language if language is None else Language(language))
    sender = parse_sender(settings.mail_from or _SENDER)
    messages = InvitationMessages(sender, login_url=login_url(settings))
    content = messages.write(letter).content
    if kind == "eml":
        key = signing_key(settings)
        if key is not None:
            content = signed(content, key, domain=sender.domain)
        write_text(content.decode("utf-8").replace("\r\n", "\n").rstrip("\n"))
        return
    body = message_from_bytes(content, policy=policy.default).get_body(
        ("plain" if kind == "text" else "html",)
    )
    write_text("" if body is None else str(body.get_content()).replace("\r\n", "\n").rstrip("\n"))


def _letter(company: Company, *, language: Language) -> InvitationLetter:
    now = _now()
    return InvitationLetter(
        employee_id=EmployeeId("preview"),
        company_name=company.name,
        company_color=company.color,
        language=language,
        email="camille.durand@example.com",
        first_name="Camille",
        last_name="Durand",
        password=_PASSWORD,
        decided_at=now,
        created_at=now,
        expires_at=now + company.invitation_lifetime,
    )


def _now() -> datetime:
    from awareness_memory import SystemClock

    return SystemClock().now()
