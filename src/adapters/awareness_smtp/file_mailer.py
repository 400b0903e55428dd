"""Letters as `.eml` files in a folder, for demos and development: what would be sent, byte for byte.

The files hold working passwords, so only the user who wrote them may read them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path

from awareness_core.emails import InvalidEmail
from awareness_core.ports import Delivery, InvitationLetter, refuse_inside_transaction
from awareness_smtp.mail_settings import parse_sender
from awareness_smtp.messages import InvitationMessages, Message
from awareness_smtp.outcomes import log_refusals, refusal

_FILE_MODE, _FOLDER_MODE = 0o600, 0o700


class FileMailer:
    """A `Mailer` that writes `<time>-<place in the call>-<id>.eml`; names sort by time, then by order of sending.

    The folder is made when the first letter is written. A file appears whole or not at all. Raises
    `InvalidMailSetting`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        sender: str = "Awareness <awareness@mailbox.example>",
        login_url: str | None = None,
    ) -> None:
        self._folder = folder
        self._messages = InvitationMessages(parse_sender(sender), login_url=login_url)

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """One outcome a letter, in order. A folder that cannot be written refuses for now."""
        refuse_inside_transaction()
        deliveries = await asyncio.to_thread(self._write_all, letters)
        log_refusals(letters, deliveries)
        return deliveries

    def _write_all(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        return [self._write(place, letter) for place, letter in enumerate(letters)]

    def _write(self, place: int, letter: InvitationLetter) -> Delivery:
        try:
            message = self._messages.write(letter)
            self._put(f"{_stamp(letter)}-{place:03}-{_short_id(message)}.eml", message.content)
        except InvalidEmail as error:
            return refusal(f"the address cannot be written to: {error}", permanent=True)
        except OSError as error:
            return refusal(f"the file cannot be written: {error}")
        return Delivery(accepted=True)

    def _put(self, name: str, content: bytes) -> None:
        self._folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        unfinished = self._folder / f".{name}.{os.getpid()}"
        try:
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE_MODE)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            unfinished.replace(self._folder / name)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise


def _stamp(letter: InvitationLetter) -> str:
    created_at = letter.created_at.astimezone(UTC)
    return f"{created_at:%Y%m%dT%H%M%S}.{created_at.microsecond // 1000:03}Z"


def _short_id(message: Message) -> str:
    return message.message_id[1:9]
