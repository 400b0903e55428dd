"""The mails of access as people get them, word for word, in each language. Changed on purpose only, with `--update`."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from awareness_core.tenants import Language
from awareness_smtp import InvitationMessages, parse_sender
from tests.contracts.mail_letters import LETTER
from tests.contracts.smtp_server import read_message

SENDER = parse_sender("Sensibilisation <no-reply@awareness.example>")
LOGIN_URLS = {"": "https://awareness.example/portail", ".no-link": None}


@pytest.mark.parametrize("language", Language, ids=lambda language: language.value)
@pytest.mark.parametrize("variant", LOGIN_URLS)
def test_mail_reads_as_it_did(golden: Callable[[str, str], str], language: Language, variant: str) -> None:
    letter = attrs.evolve(LETTER, language=language)
    message = read_message(InvitationMessages(SENDER, login_url=LOGIN_URLS[variant]).write(letter).content)
    name = f"mails/invitation.{language.value}{variant}"
    headers = "".join(f"{header}: {value}\n" for header, value in message.items())

    assert golden(f"{name}.headers", headers) == headers
    for kind, suffix in (("plain", "txt"), ("html", "html")):
        body = message.get_body((kind,))
        assert body is not None
        content = str(body.get_content()).replace("\r\n", "\n")
        assert golden(f"{name}.{suffix}", content) == content
