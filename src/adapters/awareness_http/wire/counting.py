"""How many records of a payload met which end (reference 2.3)."""

from __future__ import annotations

from typing import Annotated

import attrs
from msgspec import Meta

from awareness_core.sync_plan import SyncSummary as Summary


@attrs.frozen(kw_only=True, slots=False)
class SyncSummary:
    """How many records met which end."""

    received: int
    created: int
    updated: int
    reactivated: int
    deactivated: int
    skipped: Annotated[int, Meta(description="Up to date already: nothing was written.")]
    failed: int


def spell_summary(summary: Summary) -> SyncSummary:
    """The counts of an answer."""
    return SyncSummary(**attrs.asdict(summary))
