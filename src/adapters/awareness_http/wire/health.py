"""What the two health checks answer; there is no French in them."""

from __future__ import annotations

import enum
from typing import Annotated

import attrs
from msgspec import Meta


class CheckState(enum.Enum):
    """How one part is."""

    OK = "ok"
    DEGRADED = "degraded"
    DOWN = "down"


@attrs.frozen(kw_only=True, slots=False)
class Liveness:
    """The process answers."""

    status: CheckState


@attrs.frozen(kw_only=True, slots=False)
class ReadinessChecks:
    """Every part that an answer may depend on."""

    database: Annotated[CheckState, Meta(description="`down`: nothing below /api/ can be answered.")]
    counter_store: Annotated[
        CheckState, Meta(description="`degraded`: quotas are counted by each process for itself.")
    ]
    mail_backlog: Annotated[
        CheckState,
        Meta(
            description="`degraded`: an invitation has been due for over ten minutes, or that cannot be told."
        ),
    ]


@attrs.frozen(kw_only=True, slots=False)
class Readiness:
    """Whether requests should be sent here."""

    status: Annotated[CheckState, Meta(description="The worst of the checks.")]
    checks: ReadinessChecks


@attrs.frozen(kw_only=True, slots=False)
class NotReady:
    """An error body that tells the checks too."""

    message: str
    code: str
    status: CheckState
    checks: ReadinessChecks
