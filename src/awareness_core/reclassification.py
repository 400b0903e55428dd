"""Judging a campaign again by other rules, some recipients at a time, inside a transaction that somebody has opened.

When every recipient had their turn, each event has the verdict that it would have had if the rules had been these when
it came. Memory does not grow with the campaign. Who was erased keeps the verdicts of that moment: what they were judged
by is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from awareness_core.campaign_events import Event
from awareness_core.campaigns import Campaign
from awareness_core.emails import EmailKey
from awareness_core.interactions import judge_anew, places_that_matter
from awareness_core.ports import Transaction
from awareness_core.recipients import Recipient
from awareness_core.results_plan import progress_again
from awareness_core.verdict_rules import VerdictRules

_RECIPIENTS_AT_ONCE = 500


def other_verdicts(own: Collection[Event], beside: Iterable[Event], rules: VerdictRules) -> list[Event]:
    """Those whose signs are others now. `own` is all that happened to some recipients, `beside` what is near in place.

    Of the events beside them, it is told whether they are part of a crowd; the rest is told when their turn comes.
    """
    events = {event.key: event for event in (*beside, *own)}
    return judge_anew(list(events.values()), list(own), rules)


async def judge_again(transaction: Transaction, campaign: Campaign, rules: VerdictRules) -> int:
    """Write the campaign's verdicts, recipients and counts as they are by `rules`; how many verdicts changed."""
    before, changed = campaign, 0
    after: EmailKey | None = None
    while part := await transaction.recipients_after(campaign.id, after, limit=_RECIPIENTS_AT_ONCE):
        campaign, count = await _judge_part(transaction, campaign, part, rules)
        changed += count
        after = part[-1].email.key
    if campaign != before:
        await transaction.save_campaigns([campaign])
    return changed


async def _judge_part(
    transaction: Transaction, campaign: Campaign, part: Collection[Recipient], rules: VerdictRules
) -> tuple[Campaign, int]:
    keys = {recipient.email.key for recipient in part}
    erased = {recipient.email.key for recipient in part if recipient.is_erased}
    told = await transaction.events(campaign.id, recipients=keys)
    own = [event for event in told if event.recipient not in erased]
    beside = await transaction.events(campaign.id, places=places_that_matter(own, rules))
    changed = other_verdicts(own, beside, rules)
    others = {event.recipient for event in changed} - keys
    theirs = await transaction.events(campaign.id, recipients=others)
    events = {event.key: event for event in (*told, *theirs, *changed)}
    # Of everybody, as what counts may have changed with the program, too.
    campaign, changes = progress_again(
        campaign,
        [*part, *await transaction.recipients(campaign.id, others)],
        events.values(),
        ends_at=campaign.ends_at,
    )
    await transaction.save_results(campaign.id, attrs.evolve(changes, judged_events=changed))
    return campaign, len(changed)
