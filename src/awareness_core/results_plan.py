"""What a batch of told results changes in a campaign: pure, from what is known of everyone concerned.

The outcome is a function of the set of events alone. So a batch may arrive in any order, twice, or in parts: who is
concerned is looked at again with all of their events, whichever of them are new.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import attrs

from awareness_core.campaign_events import Event, EventKey, merged, places_around
from awareness_core.campaigns import Campaign
from awareness_core.emails import EmailKey
from awareness_core.employees import Employee
from awareness_core.errors import Fault
from awareness_core.interactions import judge_anew
from awareness_core.kpis import MachineSteps
from awareness_core.recipients import Directory, Recipient, merged_recipient, progress_of, recounted
from awareness_core.results_check import EventTelling, RefusedLine
from awareness_core.verdict_rules import VerdictRules

Line = Recipient | EventTelling | RefusedLine
"""One line of a batch: somebody who is targeted, something that happened, or what could not be read."""


@attrs.frozen
class ErasedLine:
    """In the place of a line about somebody who was erased; it says nothing."""


@attrs.frozen(kw_only=True)
class ResultChanges:
    """All that is to be written of one campaign's recipients and events; what is gone is removed first."""

    new_events: Sequence[Event] = ()
    changed_events: Sequence[Event] = ()
    new_recipients: Sequence[Recipient] = ()
    changed_recipients: Sequence[Recipient] = ()
    gone_events: Sequence[EventKey] = ()
    gone_recipients: Sequence[EmailKey] = ()


@attrs.frozen(kw_only=True)
class ImportSummary:
    """What was told: lines of each kind, how many of the events were new or known, and lines that failed.

    `erased` counts lines about people who were erased; they are counted nowhere else.
    """

    recipients: int = 0
    events: int = 0
    new: int = 0
    known: int = 0
    failed: int = 0
    erased: int = 0


@attrs.define
class Batch:
    """One batch of lines about one campaign, with what the store knows of those concerned.

    Takes it in this order: `recall` the events of `keys_told` and `people_told`, `meet` those in `places`, `know` the
    recipients of `people_told` and `awaited`, `plan` with the events of `awaited` and the employees of `untied`.
    """

    lines: Sequence[Line | ErasedLine]
    faults: dict[int, tuple[Fault, ...]] = attrs.field(init=False)
    new: int = attrs.field(default=0, init=False)
    known: int = attrs.field(default=0, init=False)
    _events: dict[EventKey, Event] = attrs.field(factory=dict, init=False)
    _stored: dict[EventKey, Event] = attrs.field(factory=dict, init=False)
    _gone: list[Event] = attrs.field(factory=list, init=False)
    _fresh: dict[EventKey, Event] = attrs.field(factory=dict, init=False)
    _before: Mapping[EmailKey, Recipient] = attrs.field(factory=dict, init=False)
    _after: dict[EmailKey, Recipient] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.faults = {
            index: line.faults for index, line in enumerate(self.lines) if isinstance(line, RefusedLine)
        }

    @property
    def keys_told(self) -> frozenset[EventKey]:
        """The events that the batch speaks of."""
        return frozenset(telling.event.key for _, telling in self._tellings())

    @property
    def people_told(self) -> frozenset[EmailKey]:
        """Whom the batch speaks of."""
        named = {line.email.key for line in self.lines if isinstance(line, Recipient)}
        return frozenset(named | self.people_acting)

    @property
    def people_acting(self) -> frozenset[EmailKey]:
        """To whom something happened, by this batch."""
        return frozenset(telling.event.recipient for _, telling in self._tellings())

    def recall(self, stored: Iterable[Event]) -> None:
        """Take the stored events of `keys_told` and of `people_acting`."""
        self._stored = {event.key: event for event in stored}

    @property
    def places(self) -> frozenset[str]:
        """Where others may have acted beside them, which decides about both."""
        told = [telling.event for _, telling in self._tellings()]
        known = [self._stored[event.key] for event in told if event.key in self._stored]
        return places_around((*told, *known), 2)

    def meet(self, stored: Iterable[Event], rules: VerdictRules) -> None:
        """Take the stored events in `places`, and judge all with the new."""
        self._stored.update((event.key, event) for event in stored)
        self._events = dict(self._stored)
        for index, telling in self._tellings():
            self._take(index, telling.event)
        if self._fresh:
            judged = judge_anew(list(self._events.values()), [*self._fresh.values(), *self._gone], rules)
            self._events = {event.key: event for event in judged}

    @property
    def awaited(self) -> frozenset[EmailKey]:
        """Who else is concerned: others whose interactions turned out to be a machine's, or a person's after all.

        All of their events have to be given to `plan`, too.
        """
        return frozenset(event.recipient for event in self._changed()) - self.people_acting

    def know(self, recipients: Iterable[Recipient]) -> None:
        """Take the stored recipients of `people_told` and `awaited`, and add what is told of them."""
        self._before = {recipient.email.key: recipient for recipient in recipients}
        self._after = self._told_recipients()

    @property
    def untied(self) -> Sequence[Recipient]:
        """Whose employee is to be sought: those nobody was found for yet, and those who gained an external id."""
        return [
            recipient
            for key, recipient in self._after.items()
            if recipient.employee_id is None
            or (key in self._before and recipient.external_id != self._before[key].external_id)
        ]

    def plan(
        self, campaign: Campaign, *, others: Iterable[Event], people: Sequence[Employee]
    ) -> tuple[Campaign, ResultChanges]:
        """The campaign with its counts as they are now, and what is to be written."""
        directory = Directory(people)
        for recipient in self.untied:
            self._after[recipient.email.key] = directory.tied(recipient)
        before, after = self._before, self._after
        events = {**{event.key: event for event in others}, **self._events}
        concerned = self.people_acting | self.awaited
        by_recipient: defaultdict[EmailKey, list[Event]] = defaultdict(list)
        for event in events.values():
            if event.recipient in concerned:
                by_recipient[event.recipient].append(event)
        for key in concerned & after.keys():
            progress = progress_of(by_recipient[key], ends_at=campaign.ends_at)
            if progress != after[key].progress:
                after[key] = attrs.evolve(after[key], progress=progress)
        changed = [
            recipient for key, recipient in after.items() if key in before and recipient != before[key]
        ]
        new = [recipient for key, recipient in after.items() if key not in before]
        changes = ResultChanges(
            new_events=[event for event in self._events.values() if event.key not in self._stored],
            changed_events=[event for event in self._changed() if event.key in self._stored],
            new_recipients=new,
            changed_recipients=changed,
        )
        replaced = [before[recipient.email.key] for recipient in changed]
        return recounted_campaign(campaign, replaced, [*changed, *new]), changes

    def _tellings(self) -> Iterator[tuple[int, EventTelling]]:
        return (
            (index, line)
            for index, line in enumerate(self.lines)
            if isinstance(line, EventTelling) and index not in self.faults
        )

    def _take(self, index: int, event: Event) -> None:
        known = self._events.get(event.key)
        if known is None:
            self.new += 1
            self._events[event.key] = self._fresh[event.key] = event
            return
        if known.is_same_as != event.is_same_as:
            message = "another event of this campaign has that id; an id names one event for good"
            self.faults[index] = (Fault(field="id", code="event_id_reused", message=message),)
            return
        self.known += 1
        fuller = merged(known, event)
        if fuller is not known:
            self._gone.append(known)
            self._events[event.key] = self._fresh[event.key] = fuller

    def _changed(self) -> Iterator[Event]:
        return (event for key, event in self._events.items() if event is not self._stored.get(key))

    def _told_recipients(self) -> dict[EmailKey, Recipient]:
        after = dict(self._before)
        for index, line in enumerate(self.lines):
            if index in self.faults or isinstance(line, RefusedLine | ErasedLine):
                continue
            told = line if isinstance(line, Recipient) else Recipient(email=line.email)
            known = after.get(told.email.key)
            if known is None:
                after[told.email.key] = told
            elif told.email != known.email or told.external_id not in {None, known.external_id}:
                after[told.email.key] = merged_recipient(known, told)
        return after


def progress_again(
    campaign: Campaign, recipients: Iterable[Recipient], events: Iterable[Event], *, ends_at: datetime | None
) -> tuple[Campaign, ResultChanges]:
    """The campaign and these recipients, of whom all events are given, if it ends then."""
    by_recipient: defaultdict[EmailKey, list[Event]] = defaultdict(list)
    for event in events:
        by_recipient[event.recipient].append(event)
    before, after = [], []
    for recipient in recipients:
        progress = progress_of(by_recipient[recipient.email.key], ends_at=ends_at)
        if progress != recipient.progress:
            before.append(recipient)
            after.append(attrs.evolve(recipient, progress=progress))
    return recounted_campaign(campaign, before, after), ResultChanges(changed_recipients=after)


def recounted_campaign(
    campaign: Campaign, before: Sequence[Recipient], after: Sequence[Recipient]
) -> Campaign:
    """`campaign` with what the recipients `after` add to its counts in the place of what they added `before`."""
    funnel = recounted(campaign.funnel, before, after)
    more = recounted(campaign.funnel_with_machine, before, after, with_machine=True)
    return attrs.evolve(
        campaign,
        funnel=funnel,
        machine_steps=MachineSteps(
            sent=more.sent - funnel.sent,
            opened=more.opened - funnel.opened,
            clicked=more.clicked - funnel.clicked,
            submitted=more.submitted - funnel.submitted,
        ),
    )
