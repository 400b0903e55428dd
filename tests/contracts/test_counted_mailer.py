"""What became of mails is counted, and nothing else is told of them."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest
from prometheus_client import CollectorRegistry

from awareness_core.ports import Delivery, InvitationLetter
from awareness_server.counted_mailer import CountedMailer
from tests.contracts.mail_letters import letters

pytestmark = pytest.mark.anyio

REFUSED = Delivery(accepted=False, permanent=True, detail="no such user")
OUTCOMES = [
    Delivery(accepted=True),
    Delivery(accepted=True),
    REFUSED,
    Delivery(accepted=False),
    Delivery(accepted=False, in_doubt=True),
]


@attrs.frozen
class Told:
    """A mailer that answers as told."""

    outcomes: Sequence[Delivery]

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """As told."""
        return self.outcomes


async def test_each_letter_counts_once_by_its_outcome() -> None:
    registry = CollectorRegistry()
    mailer = CountedMailer(Told(OUTCOMES), registry)

    assert OUTCOMES == await mailer.send_invitations(letters(5))
    await mailer.send_invitations(letters(5))

    assert {"accepted": 4, "refused": 2, "failed": 2, "unknown": 2} == {
        outcome: registry.get_sample_value("awareness_mails_total", {"outcome": outcome})
        for outcome in ("accepted", "refused", "failed", "unknown")
    }
