"""What an operator is told of letters that were not accepted: once for each reason, without what was in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import structlog

from awareness_core.ports import Delivery, InvitationLetter
from awareness_smtp.plain_text import one_line
from awareness_smtp.redacted_addresses import without_addresses

_MAX_DETAIL = 300
_MAX_NAMED = 10

_log = structlog.get_logger(__name__)


def refusal(
    detail: str,
    *,
    tried: bool = True,
    permanent: bool = False,
    in_doubt: bool = False,
    secrets: Sequence[str | None] = (),
) -> Delivery:
    """A letter that was not accepted. `detail` may quote a server; no address and none of `secrets` is left in it."""
    told = without_addresses(one_line(detail))
    for secret in secrets:
        if secret:
            told = told.replace(secret, "***")
    return Delivery(
        accepted=False, tried=tried, permanent=permanent, in_doubt=in_doubt, detail=told[:_MAX_DETAIL]
    )


def log_refusals(letters: Sequence[InvitationLetter], deliveries: Sequence[Delivery]) -> None:
    """Log one warning for each different reason, with how many letters it struck and the first few employees."""
    struck: defaultdict[Delivery, list[str]] = defaultdict(list)
    for letter, delivery in zip(letters, deliveries, strict=True):
        if not delivery.accepted:
            struck[delivery].append(letter.employee_id)
    for delivery, employee_ids in struck.items():
        _log.warning(
            "invitation_not_accepted",
            detail=delivery.detail,
            permanent=delivery.permanent,
            letters=len(employee_ids),
            employee_ids=employee_ids[:_MAX_NAMED],
        )
