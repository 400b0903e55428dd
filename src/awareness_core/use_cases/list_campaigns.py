"""Read a company's campaigns with their figures."""

from __future__ import annotations

from datetime import datetime

from awareness_core.campaigns import Campaign, CampaignQuery, CampaignState
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.pages import Page, PageRequest
from awareness_core.periods import DEFAULT_PERIOD, Period
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId


async def list_campaigns(
    ports: Ports,
    company_id: CompanyId,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
    state: CampaignState | None = None,
    page: PageRequest = PageRequest(),
) -> Page[Campaign]:
    """One page of campaigns whose start lies from `start` to `end`, both included; latest first.

    By default the last 30 days up to now (reference 4.4). Raises `ValidationFailed` (field `period`) when the period
    ends before it begins.
    """
    now = ports.clock.now()
    begins, ends = start or now - DEFAULT_PERIOD, end or now
    if begins > ends:
        message = "the period ends before it begins; the defaults are 30 days ago and now"
        raise ValidationFailed([Fault(field="period", code="reversed_period", message=message)])
    query = CampaignQuery(period=Period(start=begins, end=ends), state=state, page=page)
    return await ports.store.glance(company_id).list_campaigns(query)
