"""A company's rules on what a machine did: look at them, change them, and judge what is there by them again.

A change holds for what comes from then on. What is there is judged again campaign by campaign, each in a transaction of
its own, so that nothing else waits long; after an interruption, judging once more does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

import attrs

from awareness_core.campaigns import CampaignId, CampaignQuery
from awareness_core.pages import MAX_LIMIT, PageRequest
from awareness_core.periods import Period
from awareness_core.ports import Ports
from awareness_core.reclassification import judge_again
from awareness_core.tenants import CompanyId
from awareness_core.verdict_rules import RulesChange, VerdictRules, changed_rules

_ALWAYS: Final = Period(
    start=datetime(1, 1, 1, tzinfo=UTC), end=datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
)


@attrs.frozen(kw_only=True)
class JudgingProgress:
    """How far it has come: `done` of `total` campaigns."""

    done: int
    total: int


@attrs.frozen(kw_only=True)
class Reclassified:
    """How many campaigns were looked at, in how many verdicts changed, and how many verdicts."""

    campaigns: int = 0
    changed_campaigns: int = 0
    changed_events: int = 0


def _ignore(_progress: JudgingProgress) -> None:
    pass


async def read_verdict_rules(ports: Ports, company_id: CompanyId) -> VerdictRules:
    """The rules of the company. Raises `NotFound` for a company that does not exist."""
    async with ports.store.reading(company_id) as reading:
        await reading.company()
        return await reading.verdict_rules()


async def change_verdict_rules(ports: Ports, company_id: CompanyId, change: RulesChange) -> VerdictRules:
    """Keep the changed rules and return them. Raises `ValidationFailed` with every fault, `NotFound`."""
    async with ports.store.transaction(company_id) as transaction:
        rules = changed_rules(await transaction.verdict_rules(), change)
        await transaction.save_verdict_rules(rules)
    return rules


async def reset_verdict_rules(ports: Ports, company_id: CompanyId) -> VerdictRules:
    """Go back to the defaults, those of later releases included, and return them. Raises `NotFound`."""
    async with ports.store.transaction(company_id) as transaction:
        await transaction.save_verdict_rules(None)
        return await transaction.verdict_rules()


async def reclassify_campaigns(
    ports: Ports, company_id: CompanyId, *, on_progress: Callable[[JudgingProgress], None] = _ignore
) -> Reclassified:
    """Judge every campaign of the company by its rules as they are now. Raises `NotFound`."""
    ids = await _campaign_ids(ports, company_id)
    outcome = Reclassified(campaigns=len(ids))
    for done, campaign_id in enumerate(ids):
        on_progress(JudgingProgress(done=done, total=len(ids)))
        async with ports.store.transaction(company_id) as transaction:
            (campaign,) = await transaction.campaigns_by_id([campaign_id])
            # Asked each time: whoever changes them meanwhile is obeyed from here on.
            changed = await judge_again(transaction, campaign, await transaction.verdict_rules())
        outcome = attrs.evolve(
            outcome,
            changed_campaigns=outcome.changed_campaigns + bool(changed),
            changed_events=outcome.changed_events + changed,
        )
    on_progress(JudgingProgress(done=len(ids), total=len(ids)))
    return outcome


async def _campaign_ids(ports: Ports, company_id: CompanyId) -> Sequence[CampaignId]:
    ids: list[CampaignId] = []
    async with ports.store.reading(company_id) as reading:
        await reading.company()
        page, has_more = 1, True
        while has_more:
            query = CampaignQuery(period=_ALWAYS, page=PageRequest(page=page, limit=MAX_LIMIT))
            found = await reading.list_campaigns(query)
            ids += [campaign.id for campaign in found.items]
            page, has_more = page + 1, found.has_more
    return ids
