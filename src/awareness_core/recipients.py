"""A recipient of a campaign: who that is, how far they came and when, derived from their events alone.

Any order, repetition or splitting of the same events gives the same recipient. A recipient is tied to the employee they
were when they were first heard of, and keeps the sector of that moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import attrs

from awareness_core.anonymity import is_anonymous
from awareness_core.campaign_events import Event
from awareness_core.emails import EmailAddress, EmailKey
from awareness_core.employees import Employee, EmployeeId
from awareness_core.kpis import IMPLIES, Funnel, Step
from awareness_core.sectors import SectorId


@attrs.frozen(kw_only=True)
class Progress:
    """The first moment of each step, those that later steps prove included; late and machine events do not count.

    `error_at` is None as well for somebody whom a later attempt reached, as whatever happened after the error proves.
    `machine` is how many interactions were a machine's, `with_machine` the steps that were reached if they count.
    """

    sent_at: datetime | None = None
    opened_at: datetime | None = None
    clicked_at: datetime | None = None
    submitted_at: datetime | None = None
    reported_at: datetime | None = None
    error_at: datetime | None = None
    machine: int = 0
    with_machine: frozenset[Step] = frozenset()

    @property
    def reached(self) -> frozenset[Step]:
        """The steps that count."""
        return frozenset([step for step, at in self._moments() if at is not None])

    @property
    def report_delay(self) -> timedelta | None:
        """How long after the mail the report came; None when nothing earlier than the report is known."""
        return self._after_mail(self.reported_at)

    @property
    def click_delay(self) -> timedelta | None:
        """The same of the first click; None also when the click is all that proves the mail."""
        return self._after_mail(self.clicked_at)

    def _after_mail(self, at: datetime | None) -> timedelta | None:
        if at is None or self.sent_at is None or self.sent_at == at:
            return None
        return at - self.sent_at

    def _moments(self) -> Iterable[tuple[Step, datetime | None]]:
        return (
            (Step.SENT, self.sent_at),
            (Step.OPENED, self.opened_at),
            (Step.CLICKED, self.clicked_at),
            (Step.SUBMITTED, self.submitted_at),
            (Step.REPORTED, self.reported_at),
            (Step.ERROR, self.error_at),
        )


NO_PROGRESS = Progress()


@attrs.frozen(kw_only=True)
class Recipient:
    """One targeted address of one campaign. `employee_id` is None for somebody the company does not know."""

    email: EmailAddress
    external_id: str | None = None
    employee_id: EmployeeId | None = None
    sector_id: SectorId | None = None
    progress: Progress = NO_PROGRESS

    @property
    def who(self) -> tuple[str, str | None, EmployeeId | None, SectorId | None]:
        """All but how far they came."""
        return self.email.text, self.external_id, self.employee_id, self.sector_id

    @property
    def is_erased(self) -> bool:
        """Whether all that is left is what they did."""
        return is_anonymous(self.email)


def progress_of(events: Iterable[Event], *, ends_at: datetime | None) -> Progress:
    """How far the recipient of all these events came, of a campaign that ends then."""
    firsts: dict[Step, datetime] = {}
    with_machine: set[Step] = set()
    machine = 0
    last_error: datetime | None = None
    last_proof: datetime | None = None
    for event in events:
        if ends_at is not None and event.at > ends_at:
            continue
        with_machine |= IMPLIES[event.step]
        if event.is_machine:
            machine += 1
            continue
        if event.step is Step.ERROR:
            last_error = event.at if last_error is None else max(last_error, event.at)
        else:
            last_proof = event.at if last_proof is None else max(last_proof, event.at)
        for step in IMPLIES[event.step]:
            known = firsts.get(step)
            if known is None or event.at < known:
                firsts[step] = event.at
    if last_error is not None and last_proof is not None and last_error <= last_proof:
        del firsts[Step.ERROR]
        with_machine.discard(Step.ERROR)
    return Progress(
        sent_at=firsts.get(Step.SENT),
        opened_at=firsts.get(Step.OPENED),
        clicked_at=firsts.get(Step.CLICKED),
        submitted_at=firsts.get(Step.SUBMITTED),
        reported_at=firsts.get(Step.REPORTED),
        error_at=firsts.get(Step.ERROR),
        machine=machine,
        with_machine=frozenset(with_machine),
    )


def recounted(
    funnel: Funnel, before: Iterable[Recipient], after: Iterable[Recipient], *, with_machine: bool = False
) -> Funnel:
    """`funnel` with what the recipients `after` add to it in the place of what they added `before`."""
    count = _counted_with_machine if with_machine else _counted
    gone, come = (count([recipient.progress for recipient in people]) for people in (before, after))
    return Funnel(
        total=funnel.total + come.total - gone.total,
        sent=funnel.sent + come.sent - gone.sent,
        opened=funnel.opened + come.opened - gone.opened,
        clicked=funnel.clicked + come.clicked - gone.clicked,
        submitted=funnel.submitted + come.submitted - gone.submitted,
        reported=funnel.reported + come.reported - gone.reported,
        errors=funnel.errors + come.errors - gone.errors,
        machine=funnel.machine + come.machine - gone.machine,
    )


def _counted(people: Sequence[Progress]) -> Funnel:
    return Funnel(
        total=len(people),
        sent=sum([one.sent_at is not None for one in people]),
        opened=sum([one.opened_at is not None for one in people]),
        clicked=sum([one.clicked_at is not None for one in people]),
        submitted=sum([one.submitted_at is not None for one in people]),
        reported=sum([one.reported_at is not None for one in people]),
        errors=sum([one.error_at is not None for one in people]),
        machine=sum([one.machine for one in people]),
    )


def _counted_with_machine(people: Sequence[Progress]) -> Funnel:
    return Funnel(
        total=len(people),
        sent=sum([Step.SENT in one.with_machine for one in people]),
        opened=sum([Step.OPENED in one.with_machine for one in people]),
        clicked=sum([Step.CLICKED in one.with_machine for one in people]),
        submitted=sum([Step.SUBMITTED in one.with_machine for one in people]),
        reported=sum([Step.REPORTED in one.with_machine for one in people]),
        errors=sum([Step.ERROR in one.with_machine for one in people]),
        machine=sum([one.machine for one in people]),
    )


def merged_recipient(known: Recipient, told: Recipient) -> Recipient:
    """`known` with what `told` adds. Of two spellings or external ids the same one is kept in any order of telling."""
    ids = [text for text in (known.external_id, told.external_id) if text is not None]
    return attrs.evolve(
        known, email=min(known.email, told.email, key=str), external_id=max(ids, default=None)
    )


class Directory:
    """The employees whom recipients may be."""

    def __init__(self, people: Iterable[Employee]) -> None:
        self._by_external_id: dict[str, Employee] = {}
        self._by_address: dict[EmailKey, Employee] = {}
        # Of several who had an address the active one is meant, else the one who came last.
        for person in sorted(people, key=lambda person: (person.is_active, person.id)):
            self._by_address[person.email.key] = person
            if person.external_id is not None:
                self._by_external_id[person.external_id] = person

    def tied(self, recipient: Recipient) -> Recipient:
        """`recipient` tied to whom it means: by external id, else by address; itself when nobody is found."""
        found = None
        if recipient.external_id is not None:
            found = self._by_external_id.get(recipient.external_id)
        found = found or self._by_address.get(recipient.email.key)
        if found is None:
            return recipient
        return attrs.evolve(recipient, employee_id=found.id, sector_id=found.sector_id)
