"""Erasing people for good, inside a transaction that somebody has opened: what is theirs goes, what they did stays.

An anonymous recipient keeps the sector and all that counts in a figure, so every figure stays as it was. Their events
keep moments and verdicts, and lose what those were judged by. The same results told again are known by the address'
mark, and left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import attrs

from awareness_core.anonymity import (
    PSEUDONYM_BYTES,
    SECRET_BYTES,
    ErasedAddress,
    anonymous_address,
    mark_of,
)
from awareness_core.campaign_events import Event, EventKey
from awareness_core.campaigns import CampaignId
from awareness_core.emails import EmailKey
from awareness_core.employees import Employee
from awareness_core.ports import Ports, Transaction
from awareness_core.recipients import Recipient
from awareness_core.results_plan import ResultChanges

_Take = Callable[[int], bytes]


def anonymised(recipients: Sequence[Recipient], events: Iterable[Event], take: _Take) -> ResultChanges:
    """These recipients of one campaign, and all their events, as nobody's. `take` gives random bytes."""
    # In an order of its own, so that every store gives the same with the same bytes.
    people = sorted(recipients, key=lambda one: one.email.key)
    known = sorted(events, key=lambda event: event.key)
    addresses = {one.email.key: anonymous_address(take(PSEUDONYM_BYTES)) for one in people}
    return ResultChanges(
        gone_recipients=list(addresses),
        gone_events=[event.key for event in known],
        new_recipients=[
            attrs.evolve(one, email=addresses[one.email.key], external_id=None, employee_id=None)
            for one in people
        ],
        new_events=[
            Event(
                # The old one may be a digest of the address.
                key=EventKey(take(PSEUDONYM_BYTES).hex()),
                recipient=addresses[event.recipient].key,
                step=event.step,
                at=event.at,
                signs=event.signs,
            )
            for event in known
        ],
    )


async def erase_people(ports: Ports, transaction: Transaction, people: Sequence[Employee]) -> None:
    """Erase these employees of the company. Some tens at once: all that they did is held meanwhile."""
    if not people:
        return
    found = await _recipients_of(transaction, people)
    campaigns = await transaction.campaigns_by_id(found.keys())
    # A tool's clock may be ahead of ours.
    until = max([ports.clock.now(), *(campaign.created_at for campaign in campaigns)])
    for campaign_id, recipients in sorted(found.items()):
        keys = {recipient.email.key for recipient in recipients}
        events = await transaction.events(campaign_id, recipients=keys)
        await transaction.save_results(campaign_id, anonymised(recipients, events, ports.entropy.take))
    addresses = {one.email.key for recipients in found.values() for one in recipients}
    addresses |= {person.email.key for person in people}
    secret = await _secret(ports, transaction)
    erased = [ErasedAddress(mark=mark_of(key, secret), until=until) for key in sorted(addresses)]
    known = await transaction.erased_addresses([one.mark for one in erased])
    latest = {one.mark: max(one.until, until) for one in known}
    await transaction.save_erased_addresses(
        [attrs.evolve(one, until=latest.get(one.mark, until)) for one in erased]
    )
    await transaction.remove_employees([person.id for person in people])
    await transaction.forget_answers()


async def _recipients_of(
    transaction: Transaction, people: Sequence[Employee]
) -> dict[CampaignId, list[Recipient]]:
    """Who is tied to them, and who is tied to nobody and has an address or an id that is theirs or was."""
    tied = await transaction.recipients_of_employees({person.id for person in people})
    addresses: set[EmailKey] = {person.email.key for person in people}
    untied = await transaction.untied_recipients(
        external_ids={person.external_id for person in people if person.external_id is not None},
        email_keys=addresses | {one.recipient.email.key for one in tied},
    )
    found: defaultdict[CampaignId, list[Recipient]] = defaultdict(list)
    for one in (*tied, *untied):
        found[one.campaign_id].append(one.recipient)
    return found


async def _secret(ports: Ports, transaction: Transaction) -> bytes:
    known = await transaction.erasure_secret()
    if known is not None:
        return known
    fresh = ports.entropy.take(SECRET_BYTES)
    await transaction.save_erasure_secret(fresh)
    return fresh
