"""What a batch of told results changes in a campaign: pure, from what is known of everyone concerned.

The outcome is a function of the set of events alone. So a batch may arrive in any order, twice, or in parts: who is
concerned is looked at again with all of their events, whichever of them are new.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import attrs

from awareness_core.campaign_events import Event, EventKey, merged
from awareness_core.campaigns import Campaign
from awareness_core.emails import EmailKey
from awareness_core.employees import Employee
from awareness_core.errors import Fault
from awareness_core.interactions import judge_anew, places_that_matter
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
    """All that is to be written of one campaign's recipients and events; what is gone is removed first.

    Of `judged_events` nothing but the signs has changed, of `progressed_recipients` nothing but the progress. Nobody
    and nothing is in two of these lists, or twice in one.
    """

    new_events: Sequence[Event] = ()
    changed_events: Sequence[Event] = ()
    judged_events: Sequence[Event] = ()
    new_recipients: Sequence[Recipient] = ()
    changed_recipients: Sequence[Recipient] = ()
    progressed_recipients: Sequence[Recipient] = ()
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

    Takes it in this order: `know` the recipients of `people_told`, `recall` the events of `keys_told`, `judge` with
    those of `people_stirred` and in `places`, `know` the recipients who are `awaited`, `plan` with their events and
    the employees of `untied`. An event in the store has its recipient there.
    """

    lines: Sequence[Line | ErasedLine]
    faults: dict[int, tuple[Fault, ...]] = attrs.field(init=False)
    new: int = attrs.field(default=0, init=False)
    known: int = attrs.field(default=0, init=False)
    _tellings: Sequence[tuple[int, EventTelling]] = attrs.field(init=False)
    _stored: dict[EventKey, Event] = attrs.field(factory=dict, init=False)
    _gone: list[Event] = attrs.field(factory=list, init=False)
    _fresh: dict[EventKey, Event] = attrs.field(factory=dict, init=False)
    _changed: dict[EventKey, Event] = attrs.field(factory=dict, init=False)
    _before: dict[EmailKey, Recipient] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.faults = {
            index: line.faults for index, line in enumerate(self.lines) if isinstance(line, RefusedLine)
        }
        self._tellings = [
            (index, line) for index, line in enumerate(self.lines) if isinstance(line, EventTelling)
        ]

    @property
    def people_told(self) -> frozenset[EmailKey]:
        """Whom the batch speaks of."""
        return frozenset(
            [line.email.key for line in self.lines if isinstance(line, EventTelling | Recipient)]
        )

    def know(self, recipients: Iterable[Recipient]) -> None:
        """Take the stored recipients of `people_told`, and later of `awaited`."""
        self._before.update((recipient.email.key, recipient) for recipient in recipients)

    @property
    def keys_told(self) -> frozenset[EventKey]:
        """The events that the batch speaks of."""
        return frozenset([telling.event.key for _, telling in self._tellings])

    def recall(self, stored: Iterable[Event]) -> None:
        """Take the stored events of `keys_told`, and find out which lines say anything new."""
        self._stored = {event.key: event for event in stored}
        for index, telling in self._tellings:
            self._take(index, telling.event)

    @property
    def people_stirred(self) -> frozenset[EmailKey]:
        """To whom something new happened, as far as anything may have happened to them before."""
        return frozenset([event.recipient for event in self._fresh.values()]) & self._before.keys()

    def places(self, rules: VerdictRules) -> frozenset[str]:
        """Where others may have acted beside what is new, which decides about both."""
        return places_that_matter((*self._fresh.values(), *self._gone), rules)

    def judge(self, stored: Iterable[Event], rules: VerdictRules) -> None:
        """Take the stored events of `people_stirred` and in `places`, and judge them with the new."""
        self._stored.update((event.key, event) for event in stored)
        events = {**self._stored, **self._fresh}
        judged = judge_anew(list(events.values()), [*self._fresh.values(), *self._gone], rules)
        self._changed = {**self._fresh, **{event.key: event for event in judged}}

    @property
    def awaited(self) -> frozenset[EmailKey]:
        """Who else is concerned: others whose interactions turned out to be a machine's, or a person's after all.

        All of their events have to be given to `plan`, too.
        """
        stirred = {event.recipient for event in self._fresh.values()}
        return frozenset([event.recipient for event in self._changed.values()]) - stirred

    @functools.cached_property
    def untied(self) -> Sequence[Recipient]:
        """Whose employee is to be sought: those nobody was found for yet, and those who gained an external id."""
        return [
            recipient
            for key, recipient in self._told_recipients.items()
            if recipient.employee_id is None
            or (key in self._before and recipient.external_id != self._before[key].external_id)
        ]

    def plan(
        self, campaign: Campaign, *, others: Iterable[Event], people: Sequence[Employee]
    ) -> tuple[Campaign, ResultChanges]:
        """The campaign with its counts as they are now, and what is to be written."""
        before, after = self._before, dict(self._told_recipients)
        directory = Directory(people)
        for recipient in self.untied:
            after[recipient.email.key] = directory.tied(recipient)
        for key, events in self._events_of_those_concerned(others).items():
            progress = progress_of(events, ends_at=campaign.ends_at)
            if progress != after[key].progress:
                after[key] = attrs.evolve(after[key], progress=progress)
        changed = [
            recipient
            for key, recipient in after.items()
            if key in before and recipient is not before[key] and recipient != before[key]
        ]
        new = [recipient for key, recipient in after.items() if key not in before]
        rewritten = [event for key, event in self._changed.items() if key in self._stored]
        changes = ResultChanges(
            new_events=[event for key, event in self._changed.items() if key not in self._stored],
            changed_events=[event for event in rewritten if event.key in self._fresh],
            judged_events=[event for event in rewritten if event.key not in self._fresh],
            new_recipients=new,
            changed_recipients=[one for one in changed if one.who != before[one.email.key].who],
            progressed_recipients=[one for one in changed if one.who == before[one.email.key].who],
        )
        replaced = [before[recipient.email.key] for recipient in changed]
        return recounted_campaign(campaign, replaced, [*changed, *new]), changes

    def _take(self, index: int, event: Event) -> None:
        known = self._fresh.get(event.key) or self._stored.get(event.key)
        if known is None:
            self.new += 1
            self._fresh[event.key] = event
            return
        if known.is_same_as != event.is_same_as:
            message = "another event of this campaign has that id; an id names one event for good"
            self.faults[index] = (Fault(field="id", code="event_id_reused", message=message),)
            return
        self.known += 1
        fuller = merged(known, event)
        if fuller is not known:
            self._gone.append(known)
            self._fresh[event.key] = fuller

    def _events_of_those_concerned(self, others: Iterable[Event]) -> Mapping[EmailKey, Sequence[Event]]:
        """All events of everybody of whom an event is new or judged otherwise."""
        events = {**{event.key: event for event in others}, **self._stored, **self._changed}
        found: dict[EmailKey, list[Event]] = {event.recipient: [] for event in self._changed.values()}
        for event in events.values():
            if event.recipient in found:
                found[event.recipient].append(event)
        return found

    @functools.cached_property
    def _told_recipients(self) -> Mapping[EmailKey, Recipient]:
        """Those in the store with what is told of them, and those who are told of for the first time."""
        after = dict(self._before)
        for index, line in enumerate(self.lines):
            if index in self.faults or isinstance(line, RefusedLine | ErasedLine):
                continue
            known = after.get(line.email.key)
            external_id = line.external_id if isinstance(line, Recipient) else None
            if known is None:
                after[line.email.key] = line if isinstance(line, Recipient) else Recipient(email=line.email)
            elif line.email.text != known.email.text or external_id not in {None, known.external_id}:
                told = Recipient(email=line.email, external_id=external_id)
                after[line.email.key] = merged_recipient(known, told)
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
    return recounted_campaign(campaign, before, after), ResultChanges(progressed_recipients=after)


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
