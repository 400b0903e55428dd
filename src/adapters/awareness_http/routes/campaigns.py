"""Campaigns with their figures (reference 4.4), one of them, and its recipients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from litestar import Request, get
from litestar.params import FromPath
from litestar.response.base import ASGIResponse
from litestar.types import Scope

from awareness_core.api_keys import Scope as KeyScope
from awareness_core.campaigns import CampaignId
from awareness_core.errors import ValidationFailed
from awareness_core.use_cases.list_campaigns import list_campaigns
from awareness_core.use_cases.read_campaigns import (
    RecipientView,
    all_recipients,
    get_campaign,
    list_recipients,
)
from awareness_http.accepting import preferred
from awareness_http.answers import CSV, Answer, StreamedAnswer, json_answer
from awareness_http.calls import call_of
from awareness_http.declarations import declare
from awareness_http.wire.examples import CAMPAIGN, CAMPAIGNS, RECIPIENTS
from awareness_http.wire.recipients import (
    RecipientFilters,
    read_page,
    refuse_page,
    spell_csv,
    spell_csv_head,
    spell_recipients,
)
from awareness_http.wire.results import (
    CampaignFilters,
    CampaignOptions,
    read_choice,
    spell_campaigns,
    spell_view,
    wants_machine,
)

_JSON: Final = "application/json"
_CSV: Final = "text/csv"
_VARY: Final = (b"vary", b"accept")
_ATTACHMENT: Final = (b"content-disposition", b'attachment; filename="results.csv"')


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
    return json_answer(spell_campaigns(page, with_machine=choice.with_machine))


@get(
    "/api/v1/campaigns/{campaign_id:str}",
    **declare(
        CAMPAIGN,
        summary="Read a campaign",
        meaning="The campaign, and how fast it was noticed.",
        scope=KeyScope.READ_RESULTS,
        query=CampaignOptions,
        refusals=(404,),
    ),
    tags=["Results"],
    operation_id="getCampaign",
)
async def read_campaign(scope: Scope, campaign_id: FromPath[str]) -> Answer:
    """One campaign of the company."""
    call = call_of(scope)
    with_machine = wants_machine(call.query)
    view = await get_campaign(call.ports, call.company_id, CampaignId(campaign_id))
    return json_answer(spell_view(view, with_machine=with_machine))


@get(
    "/api/v1/campaigns/{campaign_id:str}/results",
    **declare(
        RECIPIENTS,
        summary="List the recipients of a campaign",
        meaning="One page, by address; with `Accept: text/csv` all of them, a line each, with the same columns.",
        scope=KeyScope.READ_RESULTS,
        query=RecipientFilters,
        refusals=(404,),
        as_csv=True,
    ),
    tags=["Results"],
    operation_id="listRecipients",
)
async def read_recipients(
    scope: Scope, request: Request[Any, Any, Any], campaign_id: FromPath[str]
) -> ASGIResponse:
    """How far each recipient of one campaign came."""
    call = call_of(scope)
    if preferred(request.headers.getall("accept", []), (_JSON, _CSV)) == _CSV:
        refuse_page(call.query)
        views = await all_recipients(call.ports, call.company_id, CampaignId(campaign_id))
        return StreamedAnswer(_as_csv(views), content_type=CSV, headers=(_VARY, _ATTACHMENT))
    request_of_page = read_page(call.query)
    page = await list_recipients(call.ports, call.company_id, CampaignId(campaign_id), request_of_page)
    return json_answer(spell_recipients(page), headers=(_VARY,))


async def _as_csv(parts: AsyncIterator[Sequence[RecipientView]]) -> AsyncIterator[bytes]:
    yield spell_csv_head()
    async for views in parts:
        yield spell_csv(views)
