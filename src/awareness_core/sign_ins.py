"""The errand of a browser to a provider and back: what ties the two together, and how long it may take.

A ticket is 256 random bits that only the browser holds, for which company it was made and when. All that the provider
is given is derived from it, and tells nothing of it: the state, the nonce, and the verifier of PKCE (RFC 7636). So
nothing is kept here meanwhile, and whoever comes back without the ticket has not been sent from here.
"""

from __future__ import annotations

import base64
import hmac
from datetime import UTC, datetime, timedelta

import attrs

from awareness_core.tenants import CompanyId

ERRAND = timedelta(minutes=10)
"""So long after setting out one has to be back."""

_PARTS = 3
_LONGEST = 200
_FARTHEST = 10**15


@attrs.frozen(kw_only=True)
class Ticket:
    """One errand. `token` is as `sessions.spell_token` makes it."""

    token: str = attrs.field(repr=False)
    company_id: CompanyId
    issued_at: datetime

    @property
    def state(self) -> str:
        """What comes back with the browser."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """What stands in the provider's token."""
        return self._derived("nonce")

    @property
    def code_verifier(self) -> str:
        """What only who set out can show; 43 characters, the least that RFC 7636 §4.1 wants."""
        return self._derived("code verifier")

    def _derived(self, what: str) -> str:
        digest = hmac.digest(self.token.encode("ascii"), f"awareness {what}".encode(), "sha256")
        return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


def spell_ticket(ticket: Ticket) -> str:
    """As a cookie holds it."""
    issued = int(ticket.issued_at.timestamp() * 1000)
    return f"{ticket.token}.{issued}.{ticket.company_id}"


def read_ticket(text: str) -> Ticket | None:
    """What `spell_ticket` spelt. Total: a cookie may hold anything."""
    parts = text.split(".", _PARTS - 1)
    if len(text) > _LONGEST or not text.isascii() or len(parts) != _PARTS or not all(parts):
        return None
    token, issued, company_id = parts
    if not issued.isdigit() or int(issued) >= _FARTHEST:
        return None
    try:
        issued_at = datetime.fromtimestamp(int(issued) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return Ticket(token=token, company_id=CompanyId(company_id), issued_at=issued_at)


def is_own_ticket(ticket: Ticket, state: str, *, now: datetime) -> bool:
    """Whether who comes back with `state` set out with this ticket, and not too long ago. Constant time."""
    is_same = hmac.compare_digest(state.encode("utf-8", "surrogatepass"), ticket.state.encode())
    return is_same and timedelta(0) <= now - ticket.issued_at < ERRAND
