"""Read one campaign: its figures, how fast it was noticed, how it went over time, how far each recipient came."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

import attrs

from awareness_core.campaigns import Campaign, CampaignId
from awareness_core.emails import EmailKey
from awareness_core.errors import NotFound
from awareness_core.kpis import Response, response
from awareness_core.pages import Page, PageRequest
from awareness_core.ports import Ports, Reading
from awareness_core.recipients import Recipient
from awareness_core.sectors import Sector, SectorId
from awareness_core.tenants import CompanyId
from awareness_core.timelines import Moments, Timeline

_AT_ONCE = 1000


@attrs.frozen(kw_only=True)
class CampaignView:
    """A campaign as a reader sees it."""

    campaign: Campaign
    response: Response


@attrs.frozen(kw_only=True)
class CampaignHistory:
    """The same with how it went over time. The spans of `timeline` sum to what is counted of its recipients."""

    view: CampaignView
    timeline: Timeline


@attrs.frozen(kw_only=True)
class RecipientView:
    """A recipient as a reader sees them. `sector` is where they were at the time of the campaign."""

    recipient: Recipient
    sector: Sector | None


async def get_campaign(ports: Ports, company_id: CompanyId, campaign_id: CampaignId) -> CampaignView:
    """One campaign. Raises `NotFound` for an id that is not this company's."""
    async with ports.store.reading(company_id) as reading:
        return await _viewed(reading, campaign_id)


async def get_campaign_history(
    ports: Ports, company_id: CompanyId, campaign_id: CampaignId
) -> CampaignHistory:
    """One campaign over time. Reads every recipient, a part at a time, and keeps no more than their moments.

    Raises `NotFound` for an id that is not this company's.
    """
    moments = Moments()
    # In one reading, so that an import meanwhile cannot make the counts and the spans disagree.
    async with ports.store.reading(company_id) as reading:
        view = await _viewed(reading, campaign_id)
        last: EmailKey | None = None
        while part := await reading.recipients_after(campaign_id, last, limit=_AT_ONCE):
            moments.gather(recipient.progress for recipient in part)
            last = part[-1].email.key
    return CampaignHistory(view=view, timeline=moments.timeline())


async def list_recipients(
    ports: Ports, company_id: CompanyId, campaign_id: CampaignId, page: PageRequest
) -> Page[RecipientView]:
    """One page of its recipients, sorted by address. Raises `NotFound` for an id that is not this company's."""
    async with ports.store.reading(company_id) as reading:
        await _found(reading, campaign_id)
        found = await reading.list_recipients(campaign_id, page)
        views = _views(found.items, await _sectors(reading))
    return Page(items=views, total=found.total, request=found.request)


async def all_recipients(
    ports: Ports, company_id: CompanyId, campaign_id: CampaignId
) -> AsyncIterator[Sequence[RecipientView]]:
    """Its recipients in the same order, some at a time, each time as they stand: nothing is held meanwhile.

    Raises `NotFound`, before the first of them, for an id that is not this company's.
    """
    async with ports.store.reading(company_id) as reading:
        await _found(reading, campaign_id)
        sectors = await _sectors(reading)
    return _in_parts(ports, company_id, campaign_id, sectors)


async def _in_parts(
    ports: Ports, company_id: CompanyId, campaign_id: CampaignId, sectors: Mapping[SectorId, Sector]
) -> AsyncIterator[Sequence[RecipientView]]:
    last: EmailKey | None = None
    while True:
        async with ports.store.reading(company_id) as reading:
            part = await reading.recipients_after(campaign_id, last, limit=_AT_ONCE)
        if not part:
            return
        yield _views(part, sectors)
        last = part[-1].email.key


async def _viewed(reading: Reading, campaign_id: CampaignId) -> CampaignView:
    campaign = await _found(reading, campaign_id)
    times = await reading.report_times(campaign_id)
    return CampaignView(campaign=campaign, response=response(times, campaign.funnel.total))


async def _found(reading: Reading, campaign_id: CampaignId) -> Campaign:
    campaign = await reading.campaign(campaign_id)
    if campaign is None:
        raise NotFound("No such campaign.")
    return campaign


async def _sectors(reading: Reading) -> Mapping[SectorId, Sector]:
    return {sector.id: sector for sector in await reading.sectors()}


def _views(recipients: Sequence[Recipient], sectors: Mapping[SectorId, Sector]) -> list[RecipientView]:
    return [
        RecipientView(
            recipient=recipient,
            sector=None if recipient.sector_id is None else sectors.get(recipient.sector_id),
        )
        for recipient in recipients
    ]
