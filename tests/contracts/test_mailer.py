"""What every `Mailer` does: one outcome a letter, in order, and a letter that arrives says what it has to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import attrs
import pytest

from awareness_core.ports import Delivery, InvitationLetter, Mailer, inside_transaction
from awareness_memory import MemoryMailer
from awareness_smtp import FileMailer, NoMailer, SmtpMailer
from tests.contracts.mail_letters import LETTER, letters
from tests.contracts.smtp_server import read_message, running_smtp_server

pytestmark = pytest.mark.anyio

SENDER = "Awareness <no-reply@awareness.example>"


@attrs.frozen
class MailerUnderTest:
    """A mailer, and what it has delivered: the recipient and the text of each letter, in order."""

    mailer: Mailer
    delivered: Callable[[], Sequence[tuple[str, str]]]


@pytest.fixture(params=["memory", "files", "smtp"])
async def under_test(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MailerUnderTest]:
    match request.param:
        case "memory":
            memory = MemoryMailer()
            yield MailerUnderTest(
                memory, lambda: [(letter.email, letter.password) for letter in memory.letters]
            )
        case "files":
            yield MailerUnderTest(FileMailer(tmp_path / "mailbox"), lambda: _in_folder(tmp_path / "mailbox"))
        case "smtp":
            async with running_smtp_server() as server:
                yield MailerUnderTest(
                    SmtpMailer(f"smtp://127.0.0.1:{server.port}", SENDER),
                    lambda: [_told(letter.content) for letter in server.letters],
                )


async def test_each_letter_is_delivered_once_in_order(under_test: MailerUnderTest) -> None:
    sent = letters(20)
    deliveries = await under_test.mailer.send_invitations(sent)
    delivered = under_test.delivered()

    assert [Delivery(accepted=True)] * 20 == list(deliveries)
    assert [letter.email for letter in sent] == [recipient for recipient, _ in delivered]
    assert all(letter.password in text for letter, (_, text) in zip(sent, delivered, strict=True))


async def test_no_letters_are_no_outcomes(under_test: MailerUnderTest) -> None:
    assert [] == list(await under_test.mailer.send_invitations([]))
    assert [] == list(under_test.delivered())


async def test_nothing_is_sent_inside_a_transaction(under_test: MailerUnderTest) -> None:
    with inside_transaction(), pytest.raises(RuntimeError):
        await under_test.mailer.send_invitations([LETTER])

    assert [] == list(under_test.delivered())


async def test_without_a_server_every_letter_is_refused_and_told_what_to_set() -> None:
    deliveries = await NoMailer().send_invitations(letters(3))

    expected = Delivery(
        accepted=False,
        tried=False,
        permanent=True,
        detail="no SMTP server is configured; set AWARENESS_SMTP_URL",
    )
    assert [expected] * 3 == list(deliveries)
    with inside_transaction(), pytest.raises(RuntimeError):
        await NoMailer().send_invitations([LETTER])


async def test_an_address_that_is_none_spoils_no_other_letter(tmp_path: Path) -> None:
    sent: list[InvitationLetter] = letters(3)
    sent[1] = attrs.evolve(sent[1], email="two@@acme.example\r\nRCPT TO:<x@y.example>")
    async with running_smtp_server() as server:
        by_smtp = await SmtpMailer(f"smtp://127.0.0.1:{server.port}", SENDER).send_invitations(sent)
    by_file = await FileMailer(tmp_path).send_invitations(sent)

    for deliveries in (by_smtp, by_file):
        assert [True, False, True] == [delivery.accepted for delivery in deliveries]
        assert deliveries[1].permanent
    assert ["person0@acme.example", "person2@acme.example"] == server.recipients


def _in_folder(folder: Path) -> list[tuple[str, str]]:
    return [_told(path.read_bytes()) for path in sorted(folder.glob("*"))]


def _told(content: bytes | str | None) -> tuple[str, str]:
    message = read_message(content)
    text = message.get_body(("plain",))
    assert text is not None
    (recipient,) = message["To"].addresses
    return recipient.addr_spec, text.get_content()
