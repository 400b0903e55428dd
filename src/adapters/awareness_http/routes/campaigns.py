"""Campaigns with their figures (reference 4.4)."""

from __future__ import annotations

from litestar import get
from litestar.types import Scope

from awareness_core.api_keys import Scope as KeyScope
from awareness_core.errors import ValidationFailed
from awareness_core.use_cases.list_campaigns import list_campaigns
from awareness_http.answers import Answer, json_answer
from awareness_http.calls import call_of
from awareness_http.declarations import declare
from awareness_http.wire.examples import CAMPAIGNS
from awareness_http.wire.results import CampaignFilters, read_choice, spell_campaigns


@get(
    "/api/v1/campaigns",
    **declare(
        CAMPAIGNS,
        summary="List campaigns with their rates",
        meaning="One page, the latest start first.",
        scope=KeyScope.READ_RESULTS,
        query=CampaignFilters,
    ),
    tags=["Results"],
    operation_id="listCampaigns",
)
async def list_results(scope: Scope) -> Answer:
    """One page of the company's campaigns."""
    call = call_of(scope)
    choice = read_choice(call.query)
    try:
        page = await list_campaigns(
            call.ports,
            call.company_id,
            start=choice.start,
            end=choice.end,
            state=choice.state,
            page=choice.page,
        )
    except ValidationFailed as refusal:
        raise choice.name_period(refusal) from refusal
    return json_answer(spell_campaigns(page))
