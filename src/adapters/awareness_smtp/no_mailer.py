"""What stands for a mailer where none is configured: it accepts nothing rather than pretend."""

from __future__ import annotations

from collections.abc import Sequence

from awareness_core.ports import Delivery, InvitationLetter, refuse_inside_transaction
from awareness_smtp.outcomes import log_refusals

_REFUSED = Delivery(
    accepted=False,
    tried=False,
    permanent=True,
    detail="no SMTP server is configured; set AWARENESS_SMTP_URL",
)


class NoMailer:
    """A `Mailer` that refuses every letter and says what to set."""

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """One refusal a letter."""
        refuse_inside_transaction()
        deliveries = [_REFUSED] * len(letters)
        log_refusals(letters, deliveries)
        return deliveries
