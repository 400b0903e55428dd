"""Signed mail: who looks up the key sees that nothing was changed, and settings that cannot sign are told."""

from __future__ import annotations

from pathlib import Path

import dkim
import pytest

from awareness_smtp import DkimKey, InvalidMailSetting, SmtpMailer, parse_dkim_key
from tests.contracts.mail_letters import LETTER, letters
from tests.contracts.smtp_server import running_smtp_server

pytestmark = pytest.mark.anyio


FOLDER = Path(__file__).parent
PEM = (FOLDER / "dkim.pem").read_text()
PUBLIC = (FOLDER / "dkim.pub.txt").read_text().strip()

# Made for this file, as the others; none opens anything.
TOO_SHORT = """\
-----BEGIN RSA PRIVATE KEY-----
MIIBPQIBAAJBAJciJxMDLvUkcPQ9Rg89IoqVGkF/35Fhw9yR5TefIXsRh5z7qd6e
wjY7+trpzj1SiphCf2Hm828UGh0DSda9NvsCAwEAAQJBAIfG+Q/Nplw6dvgWLGD4
bZXPSp1ZwoMcMBhzQljsL+odfhMzmXlO8fCuFgZqP0ZveYjkAsc9SQ8CgoUPjRKv
64ECIQDJATYorQuKog2hiV0GqQWHY7LddD8+EiPD+c6oUTyhoQIhAMB72Z/INFbB
ZCOTTrfNSDifeJS9ZqlV09DZEEo9PksbAiEAmLVA7jo5sINZk8YGVM8IkkmeVDzC
52dkoLki1iGRzMECIQC0W1gvP4jLQapzKzQ3RULGy6ZQuKfZQ3KV3s5Ewd38wQIh
AJvOVTUm7+Xd/U6EC5EmJMPsegpbUMkK7+5uY1kaCCTg
-----END RSA PRIVATE KEY-----
"""
ED25519 = """\
-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ7wi36fLgVz0dqk+KOPUSTF09DFRs9f9nW6q8c+tJdI
-----END PRIVATE KEY-----
"""


def look_up(name: bytes, timeout: int = 5) -> bytes:
    """A name server that knows the public half under the selector, and nothing else."""
    return f"v=DKIM1; k=rsa; p={PUBLIC}".encode() if name == b"sel._domainkey.awareness.example." else b""


async def test_a_signed_letter_is_the_senders_and_nobody_changed_it() -> None:
    async with running_smtp_server() as server:
        sender = SmtpMailer(
            f"smtp://127.0.0.1:{server.port}",
            "Awareness <no-reply@awareness.example>",
            dkim_key=parse_dkim_key(PEM, selector="SEL"),
        )
        deliveries = await sender.send_invitations(letters(2))

    assert [True, True] == [each.accepted for each in deliveries]
    for letter in server.letters:
        content = letter.content
        assert isinstance(content, bytes)
        assert dkim.verify(content, dnsfunc=look_up)
        for forged in (
            content.replace(b"mot de passe", b"mot de pasee"),
            content.replace(b"\r\nSubject:", b"\r\nSubject: another\r\nSubject:"),
            content.replace(b"\r\nFrom:", b"\r\nFrom: boss@acme.example\r\nFrom:"),
        ):
            assert forged != content
            assert not dkim.verify(forged, dnsfunc=look_up)


async def test_without_a_key_nothing_is_signed() -> None:
    async with running_smtp_server() as server:
        sender = SmtpMailer(f"smtp://127.0.0.1:{server.port}", "no-reply@awareness.example")
        await sender.send_invitations([LETTER])

    assert b"DKIM-Signature" not in (server.letters[0].content or b"")


def test_what_cannot_sign_is_refused_without_being_told() -> None:
    middle = PEM.splitlines()[5]
    for unfit in ("", "key", PEM.replace(middle, ""), ED25519, PEM[:200]):
        with pytest.raises(InvalidMailSetting, match="RSA private key in PEM") as refusal:
            parse_dkim_key(unfit, selector="sel")
        assert middle not in str(refusal.value)
    with pytest.raises(InvalidMailSetting, match="1024 bits"):
        parse_dkim_key(TOO_SHORT, selector="sel")


@pytest.mark.parametrize("selector", ["", " ", "-a", "a-", "a..b", "a b", "é", "a;b", "a\nb"])
def test_a_selector_is_a_label_of_dns(selector: str) -> None:
    with pytest.raises(InvalidMailSetting, match="label of DNS"):
        parse_dkim_key(PEM, selector=selector)


def test_a_key_keeps_itself_to_itself() -> None:
    assert "BEGIN" not in repr(parse_dkim_key(PEM, selector="sel"))
    assert DkimKey(selector="sel", pem=PEM.strip().encode()) == parse_dkim_key(f"\n{PEM}\n", selector="sel")
