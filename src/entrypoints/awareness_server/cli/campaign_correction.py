"""`awareness campaigns set-status`: the last word of an operator on how a campaign stands."""

from __future__ import annotations

from awareness_core.campaigns import CampaignId, CampaignState
from awareness_core.errors import NotFound
from awareness_core.use_cases.correct_campaign import correct_campaign_state
from awareness_server.cli.campaign_words import spell_campaign
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import say, write_json
from awareness_server.cli.plain_text import shown
from awareness_server.exit_codes import CommandFailed


async def correct(campaign_id: str, state: CampaignState, *, company: str, as_json: bool) -> None:
    """Put it into that state. Raises `CommandFailed` when the company has no such campaign."""
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        try:
            corrected = await correct_campaign_state(ports, owner.id, CampaignId(campaign_id), state)
        except NotFound as error:
            raise CommandFailed(
                shown(f"'{owner.name}' has no campaign '{campaign_id}': awareness campaigns list shows them")
            ) from error
    if as_json:
        write_json({"before": corrected.before.value, "campaign": spell_campaign(corrected.campaign)})
    elif corrected.before is state:
        say(shown(f"'{corrected.campaign.name}' is {state.value} already."))
    else:
        say(shown(f"'{corrected.campaign.name}' was {corrected.before.value} and is {state.value} now."))
