"""A server killed in the middle of inviting: whoever it had begun with gets a mail from somebody else, that opens."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from signal import SIGTERM
from typing import cast

import attrs
import httpx
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from awareness_core.passwords import digest_password
from tests.contracts.redis_server import free_port
from tests.end_to_end.installed import Installation, employee, until

pytestmark = pytest.mark.slow


@attrs.define
class Mailbox:
    """A mail server's letters. From the letter `hangs_at` on it takes its letters and says nothing, until released."""

    hangs_at: int
    letters: list[EmailMessage] = attrs.field(factory=list)
    released: threading.Event = attrs.field(factory=threading.Event)

    async def handle_DATA(self, smtp: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """As aiosmtpd asks."""
        content = cast("bytes", envelope.content)
        self.letters.append(message_from_bytes(content, policy=policy.default))
        if len(self.letters) >= self.hangs_at and not self.released.is_set():
            await smtp.loop.run_in_executor(None, self.released.wait)
        return "250 OK"


@pytest.fixture
def mailbox() -> Iterator[tuple[Mailbox, int]]:
    box = Mailbox(hangs_at=2)
    server = Controller(box, hostname="127.0.0.1", port=free_port())
    server.start()
    try:
        yield box, server.port
    finally:
        box.released.set()
        server.stop()


def passwords_of(letter: EmailMessage) -> set[str]:
    """Whatever in a letter could be its password."""
    body = letter.get_body(("plain",))
    assert body is not None
    return {word for word in body.get_content().split() if word.count("-") == 3}


def test_whoever_a_killed_server_had_begun_with_is_mailed_by_a_worker(
    tmp_path: Path, mailbox: tuple[Mailbox, int]
) -> None:
    box, port = mailbox
    installation = Installation(
        tmp_path,
        smtp_url=f"smtp://127.0.0.1:{port}",
        mail_from="a@example.com",
        smtp_connections="1",
        log_format="json",
    )
    installation.run("migrate")
    _, key = installation.company_with_key("write:employees")
    headers = {"Authorization": f"Bearer {key}"}
    with installation.serving() as server, ThreadPoolExecutor(1) as caller:
        for number in range(3):
            httpx.post(
                f"{server.url}/api/v1/employees", json=employee(number), headers=headers
            ).raise_for_status()
        answer = caller.submit(
            httpx.post, f"{server.url}/api/v1/employees/invite-bulk", json={}, headers=headers, timeout=30
        )
        until(lambda: len(box.letters) == 2)
        server.started.kill()
        with pytest.raises(httpx.TransportError):
            answer.result()
    box.released.set()
    with sqlite3.connect(tmp_path / "awareness.db") as database:
        assert [(3,)] == database.execute("SELECT count(*) FROM pending_invitations").fetchall()
        # As when five minutes have passed.
        database.execute("UPDATE pending_invitations SET due_at = 0")

    worker = installation.start("worker")
    told = worker.wait_for_event("pending_invitations_delivered")
    worker.signal(SIGTERM)

    assert 0 == worker.end().code
    assert (3, 0, 0, 0) == tuple(told[name] for name in ("mailed", "postponed", "refused", "dropped"))
    assert 5 == len(box.letters)
    with sqlite3.connect(tmp_path / "awareness.db") as database:
        assert [] == database.execute("SELECT * FROM pending_invitations").fetchall()
        kept = database.execute("SELECT salt, digest FROM temporary_passwords").fetchall()
    for letter in box.letters:
        (password,) = passwords_of(letter)
        assert any(digest_password(password, salt=salt) == digest for salt, digest in kept)
    # Mails of one invitation are told as one.
    assert 3 == len({letter["Message-ID"] for letter in box.letters})
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("awareness.db*"))
    assert not [letter for letter in box.letters if next(iter(passwords_of(letter))).encode() in stored]


def test_a_worker_that_has_nothing_to_do_waits_and_stops_when_told(tmp_path: Path) -> None:
    installation = Installation(tmp_path, log_format="json")
    assert 78 == installation.run("worker").code
    installation.run("migrate")

    worker = installation.start("worker")
    worker.wait_for_event("working")
    worker.signal(SIGTERM)

    assert 0 == worker.end().code
