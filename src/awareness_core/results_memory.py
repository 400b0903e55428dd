"""What one transaction has read and written of a campaign, so that batch after batch does not ask for it again.

Nobody else writes a company's results meanwhile, so what was read or written once is so until the end. How much is
remembered does not grow with a payload: past a limit all of it is forgotten, and asked for as it is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet

from awareness_core.campaign_events import Event, EventKey
from awareness_core.campaigns import CampaignId
from awareness_core.emails import EmailKey
from awareness_core.ports import Transaction
from awareness_core.recipients import Recipient
from awareness_core.results_plan import ResultChanges

AT_MOST = 10_000
"""So many people and events are remembered, some megabytes, and those of one batch more."""


class ResultsMemory:
    """The recipients of one campaign with all of their events, read through `transaction` and written through it."""

    def __init__(self, transaction: Transaction, campaign_id: CampaignId, *, at_most: int = AT_MOST) -> None:
        self._transaction = transaction
        self._campaign_id = campaign_id
        self._at_most = at_most
        self._people: dict[EmailKey, Recipient | None] = {}
        self._events: dict[EmailKey, dict[EventKey, Event]] = {}
        self._count = 0

    async def recipients(self, email_keys: AbstractSet[EmailKey]) -> Sequence[Recipient]:
        """As `Reading.recipients`."""
        unknown = email_keys - self._people.keys()
        if unknown:
            found = await self._transaction.recipients(self._campaign_id, unknown)
            self._people.update(dict.fromkeys(unknown))
            self._people.update((recipient.email.key, recipient) for recipient in found)
            self._count += len(unknown)
        return [one for key in email_keys if (one := self._people[key]) is not None]

    async def events_of(self, email_keys: AbstractSet[EmailKey]) -> Sequence[Event]:
        """All that happened to these recipients, in any order."""
        unknown = email_keys - self._events.keys()
        if unknown:
            found = await self._transaction.events(self._campaign_id, recipients=unknown)
            self._events.update((key, {}) for key in unknown)
            self._count += len(found)
            for event in found:
                self._events[event.recipient][event.key] = event
        return [event for key in email_keys for event in self._events[key].values()]

    async def save(self, changes: ResultChanges) -> None:
        """As `Transaction.save_results`. Of changes that remove anything, all is forgotten."""
        await self._transaction.save_results(self._campaign_id, changes)
        if changes.gone_events or changes.gone_recipients or self._count > self._at_most:
            self._forget()
            return
        for recipient in changes.new_recipients:
            # Nothing happened to them before they were there.
            self._events.setdefault(recipient.email.key, {})
        self._keep_people(changes.new_recipients, changes.changed_recipients, changes.progressed_recipients)
        self._keep_events(changes.new_events, changes.changed_events, changes.judged_events)
        self._count += len(changes.new_events)

    def _keep_people(self, *lists: Collection[Recipient]) -> None:
        for people in lists:
            self._people.update((recipient.email.key, recipient) for recipient in people)

    def _keep_events(self, *lists: Collection[Event]) -> None:
        for events in lists:
            for event in events:
                # Of those of whom not all is known, nothing is.
                if event.recipient in self._events:
                    self._events[event.recipient][event.key] = event

    def _forget(self) -> None:
        self._people.clear()
        self._events.clear()
        self._count = 0
