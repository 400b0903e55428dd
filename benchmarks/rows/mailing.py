"""Mail: writing the messages, and `POST /api/v1/employees/invite-bulk` of a hundred people to a real server."""

from __future__ import annotations

import asyncio
import http.client
import os
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from urllib.parse import urlsplit

import aiosmtplib
import msgspec

from awareness_core.employees import EmployeeId
from awareness_core.passwords import ENTROPY_BYTES, spell_password
from awareness_core.ports import InvitationLetter
from awareness_core.tenants import Language
from awareness_smtp.mail_settings import parse_sender
from awareness_smtp.messages import InvitationMessages
from benchmarks.figures import Bar, Line, compared, milliseconds
from benchmarks.machine import SERVER_CORE, on_core
from benchmarks.mail_server import mail_server
from benchmarks.measuring import Bench, in_turns
from benchmarks.people import as_json, directory
from benchmarks.serving import Served, serving
from benchmarks.stores import World

_LETTERS = 100
_CONNECTIONS = 8
_SENDER = "awareness@example.com"
_NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class _Told(msgspec.Struct):
    summary: dict[str, object]


def letters(bench: Bench) -> Iterable[Line]:
    """Writing a hundred messages; beside the standard library's `EmailMessage` without a template."""
    messages = InvitationMessages(parse_sender(_SENDER))
    messages.write(_letter(0))

    def ours(number: int) -> float:
        began = time.perf_counter()
        for each in range(_LETTERS):
            messages.write(_letter(number * _LETTERS + each))
        return time.perf_counter() - began

    def limit(number: int) -> float:
        began = time.perf_counter()
        for each in range(_LETTERS):
            _as_email_message(_letter(number * _LETTERS + each))
        return time.perf_counter() - began

    with on_core(SERVER_CORE):
        mine, least = in_turns(bench, ours, limit)
    yield compared(
        "letters",
        f"writing {_LETTERS} messages",
        ours=mine,
        limit=least,
        spell=milliseconds,
        bar=Bar(1.0),
        limit_is="`EmailMessage`",
    )


def mail(bench: Bench) -> Iterable[Line]:
    """Inviting a hundred people; beside a hundred messages that are there already, over 8 connections."""
    for delay in (0.0, 0.02):
        yield _invitations(bench, delay)


def _invitations(bench: Bench, delay: float) -> Line:
    with mail_server(delay) as port:

        def ours(_: int) -> float:
            url = f"smtp://127.0.0.1:{port}"
            with (
                bench.backend.world() as world,
                serving("ours", world.url, url, str(_CONNECTIONS)) as server,
            ):
                # The first call of a server's life reads the templates and compiles the statements.
                _ask(server, world, "/api/v1/employees/sync", as_json(directory(1)))
                _ask(server, world, "/api/v1/employees/invite-bulk", b"{}")
                _ask(server, world, "/api/v1/employees/sync", as_json(directory(1 + _LETTERS)))
                began = time.perf_counter()
                told = _ask(server, world, "/api/v1/employees/invite-bulk", b"{}")
                taken = time.perf_counter() - began
            if told.summary["invited"] != _LETTERS:
                raise RuntimeError(f"not everyone was invited: {told.summary}")
            return taken

        messages = InvitationMessages(parse_sender(_SENDER))
        built = [
            (f"person.{each}@example.com", messages.write(_letter(each)).content) for each in range(_LETTERS)
        ]

        def limit(_: int) -> float:
            with on_core(SERVER_CORE):
                began = time.perf_counter()
                asyncio.run(_send_all(port, built))
                return time.perf_counter() - began

        mine, least = in_turns(bench, ours, limit)
    return compared(
        "mail",
        f"`invite-bulk` of {_LETTERS} over {_CONNECTIONS} connections, {delay * 1000:.0f} ms of the mail "
        f"server's delay, {bench.backend.name}",
        ours=mine,
        limit=least,
        spell=milliseconds,
        bar=Bar(1.6),
        limit_is=f"built before, {_CONNECTIONS} connections",
    )


async def _send_all(port: int, messages: Sequence[tuple[str, bytes]]) -> None:
    waiting = iter(messages)

    async def lane() -> None:
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, local_hostname="mail.example") as smtp:
            for recipient, content in waiting:
                await smtp.sendmail(_SENDER, [recipient], content)

    async with asyncio.TaskGroup() as lanes:
        for _ in range(_CONNECTIONS):
            lanes.create_task(lane())


def _ask(server: Served, world: World, path: str, body: bytes) -> _Told:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    headers = {"Authorization": f"Bearer {world.key}", "Content-Type": "application/json"}
    connection.request("POST", path, body, headers)
    answer = connection.getresponse().read()
    connection.close()
    return msgspec.json.decode(answer, type=_Told)


def _letter(number: int) -> InvitationLetter:
    return InvitationLetter(
        employee_id=EmployeeId(f"{number:036}"),
        company_name="Ateliers Belrive",
        language=Language.FRENCH,
        email=f"person.{number}@example.com",
        first_name="Éloïse",
        last_name="Lefèvre",
        password=spell_password(os.urandom(ENTROPY_BYTES)),
        decided_at=_NOW,
        created_at=_NOW,
        expires_at=_NOW + timedelta(days=7),
    )


def _as_email_message(letter: InvitationLetter) -> bytes:
    message = EmailMessage(policy=SMTP_POLICY)
    message["From"] = _SENDER
    message["To"] = f"{letter.first_name} {letter.last_name} <{letter.email}>"
    message["Subject"] = f"{letter.company_name} : votre accès"
    message.set_content(f"Bonjour {letter.first_name},\n\nvotre mot de passe : {letter.password}\n")
    message.add_alternative(f"<p>Bonjour {letter.first_name}, <b>{letter.password}</b></p>", subtype="html")
    return message.as_bytes()
