"""Put a campaign into the state that it is really in, when what its tool told was wrong."""

from __future__ import annotations

import attrs

from awareness_core.campaigns import Campaign, CampaignId, CampaignState
from awareness_core.errors import NotFound
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId


@attrs.frozen(kw_only=True)
class CorrectedCampaign:
    """The campaign as it is now, and the state that it was in."""

    campaign: Campaign
    before: CampaignState


async def correct_campaign_state(
    ports: Ports, company_id: CompanyId, campaign_id: CampaignId, state: CampaignState
) -> CorrectedCampaign:
    """Put it into `state`, whichever it is in; nothing else of it changes. Ask it of operators only.

    What is imported afterwards is taken as ever: a state that can be reached from this one (Choice: decisions/022).
    Raises `NotFound` for an id that is not this company's.
    """
    async with ports.store.transaction(company_id) as transaction:
        campaign = await transaction.campaign(campaign_id)
        if campaign is None:
            raise NotFound("No such campaign.")
        corrected = attrs.evolve(campaign, state=state)
        if corrected != campaign:
            await transaction.save_campaigns([corrected])
    return CorrectedCampaign(campaign=corrected, before=campaign.state)
