"""How commands spell a campaign in JSON, and which steps they tell rates of."""

from __future__ import annotations

from awareness_core.campaigns import Campaign
from awareness_core.kpis import Funnel, rate
from awareness_server.cli.output import JsonValue, moment

STEPS = ("opened", "clicked", "submitted", "reported")
"""Those with a rate, as fields of `Funnel`."""


def spell_campaign(campaign: Campaign) -> dict[str, JsonValue]:
    """One campaign with its counts and rates."""
    funnel = campaign.funnel
    rates: dict[str, JsonValue] = {}
    for step in STEPS:
        share = rate(count_of_step(funnel, step), funnel.total)
        rates[step] = {"percent": share.percent, "interval": [share.low, share.high]}
    return {
        "id": campaign.id,
        "external_id": campaign.external_id,
        "name": campaign.name,
        "status": campaign.state.value,
        "created_at": moment(campaign.created_at),
        "starts_at": moment(campaign.starts_at),
        "ends_at": moment(campaign.ends_at),
        "counts": {
            "total": funnel.total,
            "sent": funnel.sent,
            "opened": funnel.opened,
            "clicked": funnel.clicked,
            "submitted": funnel.submitted,
            "reported": funnel.reported,
            "errors": funnel.errors,
            "machine": funnel.machine,
        },
        "rates": rates,
    }


def count_of_step(funnel: Funnel, step: str) -> int:
    """How many came to that step, a field of `Funnel`."""
    count: int = getattr(funnel, step)
    return count
