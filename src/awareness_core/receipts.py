"""What is remembered of a request that must be carried out once, and what a repetition of it means.

A receipt is claimed before the work, with a lease, and holds the answer once the work is committed. Here stands the
rule alone: who may begin, who is answered as before, who is refused. What the answer says is its owner's business: here
it is bytes (Choice: decisions/021).
"""

from __future__ import annotations

import enum
import math
from datetime import datetime, timedelta
from typing import NewType

import attrs

from awareness_core.errors import Conflict, IdempotencyKeyReused, StillRunning

ReceiptId = NewType("ReceiptId", str)
"""Names one request of one company: whatever tells two requests of it apart, in at most some hundred characters."""

LIFETIME = timedelta(hours=24)
LEASE = timedelta(seconds=30)
"""How long nobody else begins a request that somebody began. It bounds the waiting after a crash, not the work."""

MAILING_LEASE = timedelta(minutes=2)
"""How long a request that has begun to mail is said to be under way. Nobody ever begins it again."""

PURGED_AT_ONCE = 20
"""Old receipts removed by each new one at most: more than one, so that they end up fewer."""


class Stage(enum.Enum):
    """How far the request came."""

    CLAIMED = "claimed"
    """Somebody began. Nothing is written yet."""
    UNDER_WAY = "under_way"
    """Part of it is written for good, and the rest, which may include mail, is not known to be."""
    ANSWERED = "answered"
    """All of it is written, and the answer is kept."""
    FORGOTTEN = "forgotten"
    """Begun before somebody was erased. No answer is kept, as it may have told of them."""


@attrs.frozen(kw_only=True)
class Receipt:
    """One request. `fingerprint` stands for all that was asked, `holder` for the attempt that carries it out.

    Nothing is remembered from `expires_at` on. `lease_until` counts until the request is answered.
    """

    id: ReceiptId
    fingerprint: bytes
    holder: str
    stage: Stage = Stage.CLAIMED
    lease_until: datetime
    expires_at: datetime


def claim(receipt_id: ReceiptId, *, fingerprint: bytes, holder: str, now: datetime) -> Receipt:
    """The receipt of a request that begins now."""
    return Receipt(
        id=receipt_id,
        fingerprint=fingerprint,
        holder=holder,
        lease_until=now + LEASE,
        expires_at=now + LIFETIME,
    )


def forgotten(receipt: Receipt) -> Receipt:
    """The same request without anything that tells of whom it was about. Whoever carries it out may go on."""
    return attrs.evolve(receipt, stage=Stage.FORGOTTEN, fingerprint=b"")


def is_answered(kept: Receipt | None, *, fingerprint: bytes, now: datetime) -> bool:
    """Whether the request of that `fingerprint` is to be answered as before; otherwise it is to be carried out.

    Raises `IdempotencyKeyReused` when what is kept was another request, `StillRunning` while somebody carries this one
    out, and `Conflict` when whoever did was interrupted after part of it had been written, or an employee was erased
    since it began.
    """
    if kept is None or kept.expires_at <= now:
        return False
    is_abandoned = kept.lease_until <= now
    if kept.stage is Stage.CLAIMED and is_abandoned:
        # Whoever began has not written anything, and finds out that the receipt is no longer theirs before they do.
        return False
    if kept.stage is Stage.FORGOTTEN:
        raise Conflict(
            "An employee was erased after a request with this key had come, and its answer went with them. It is not "
            "carried out again under this key: look at what was done, then send what is missing with another key."
        )
    if kept.fingerprint != fingerprint:
        raise IdempotencyKeyReused
    if kept.stage is Stage.ANSWERED:
        return True
    if not is_abandoned:
        raise StillRunning(retry_after=math.ceil((kept.lease_until - now).total_seconds()))
    raise Conflict(
        "An earlier request with this key was interrupted after part of it had been written, and mail may have gone "
        "out. It is not carried out again under this key: look at what was done, then send what is missing with "
        "another key."
    )
