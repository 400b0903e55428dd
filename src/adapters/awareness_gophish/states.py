"""What GoPhish calls the states of a campaign."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from awareness_core.campaigns import CampaignState

STATES: Final[Mapping[str, CampaignState]] = MappingProxyType(
    {
        "Created": CampaignState.DRAFT,
        "Queued": CampaignState.SCHEDULED,
        "In progress": CampaignState.RUNNING,
        "Emails Sent": CampaignState.RUNNING,
        "Completed": CampaignState.COMPLETED,
    }
)
