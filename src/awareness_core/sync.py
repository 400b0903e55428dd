"""What a directory sync does: from records and the people who may be meant, to a plan of writes and an answer.

A single record is a sync of one. The plan is decided from values alone; it depends on the order of records only in
that the first of two that mean the same person counts (and a new sector gets the first spelling), never on the order
in which people were loaded. It takes time proportional to the records. Rules: docs/explanation/sync.md; Choice:
decisions/007.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

import attrs

from awareness_core.absent import ABSENT
from awareness_core.chains import follow_chains
from awareness_core.emails import EmailKey
from awareness_core.employees import (
    TRANSITIONS,
    Action,
    Employee,
    EmployeeChange,
    EmployeeId,
    EmployeeRecord,
    EmployeeState,
    Presence,
    Transition,
    amend,
    archive,
    hire,
)
from awareness_core.matching import (
    Match,
    PeopleIndex,
    mentioned_email_keys,
    mentioned_external_ids,
    missing,
)
from awareness_core.records import InvalidRecord
from awareness_core.sectors import SectorDirectory, SectorId, UnresolvableSector
from awareness_core.sync_plan import (
    Candidates,
    SyncError,
    SyncItem,
    SyncPlan,
    SyncSummary,
    SyncWarning,
)


def plan_sync(
    records: Sequence[EmployeeRecord | InvalidRecord],
    candidates: Candidates,
    *,
    new_ids: Iterator[EmployeeId],
    now: datetime,
) -> SyncPlan:
    """Decide every record of one payload. `items` are in the order of `records`."""
    planner = _Planner(records, candidates)
    items, changes = [], []
    for entry in planner.entries:
        item, change = planner.conclude(entry, new_ids=new_ids, now=now)
        items.append(item)
        if change is not None:
            changes.append(change)
    absentees = planner.absentees()
    changes.extend(EmployeeChange(before=person, after=archive(person, now=now)) for person in absentees)
    return SyncPlan(
        items=tuple(items),
        summary=_summarise(items, len(absentees)),
        changes=tuple(changes),
        sectors=planner.sectors.created,
        absentees=absentees,
        rostered=None if candidates.rostered is None else len(candidates.rostered),
    )


_NOBODY = -1
"""The position of whom one waits for who is in no entry, and therefore never makes way."""

_UNMATCHED = Match()


@attrs.define(kw_only=True)
class _Entry:
    """One record on its way through the plan."""

    record: EmployeeRecord | InvalidRecord
    match: Match = _UNMATCHED
    transition: Transition | None = None
    error: SyncError | None = None
    takes_email: bool = True


class _Planner:
    """The passes over one payload: who is meant, which sectors exist, who gets which address.

    Each pass looks at every entry before the next begins, which is what makes the outcome independent of order.
    """

    def __init__(self, records: Sequence[EmployeeRecord | InvalidRecord], candidates: Candidates) -> None:
        self.sectors = SectorDirectory(candidates.sectors)
        self.entries = [_Entry(record=record) for record in records]
        self._held_elsewhere = candidates.held_elsewhere
        self._rostered = candidates.rostered
        self._external_ids = mentioned_external_ids(records)
        self._email_keys = mentioned_email_keys(records)
        self._entry_of: dict[EmployeeId, int] = {}
        self._match_all(PeopleIndex(candidates.employees))
        self._check_sectors()
        self._share_addresses()

    def conclude(
        self, entry: _Entry, *, new_ids: Iterator[EmployeeId], now: datetime
    ) -> tuple[SyncItem, EmployeeChange | None]:
        """The answer for one entry, and the write it asks for."""
        record, person = entry.record, entry.match.person
        if isinstance(record, InvalidRecord):
            return _failed_validation(record), None
        if entry.error is not None or entry.transition is None:
            return _item(record, person, Action.FAILED, error=entry.error), None
        if entry.transition.next is None:
            return _item(record, None, entry.transition.action, warning=SyncWarning.UNKNOWN_LEAVER), None
        sector_id = self._sector_id(record, person)
        if person is None:
            hired = hire(record, employee_id=next(new_ids), sector_id=sector_id, now=now)
            return _item(record, hired, Action.CREATED), EmployeeChange(before=None, after=hired)
        email = record.email if entry.takes_email else person.email
        amended = amend(
            person, record, email=email, sector_id=sector_id, next_state=entry.transition.next, now=now
        )
        warning = _warning(entry, record, person)
        if amended is person:
            return _item(record, person, Action.SKIPPED, warning=warning), None
        return (
            _item(record, amended, entry.transition.action, warning=warning),
            EmployeeChange(before=person, after=amended),
        )

    def absentees(self) -> tuple[Employee, ...]:
        """Who is archived for not being in the payload: those not mentioned, and those whose mailbox was recycled."""
        if self._rostered is None:
            return ()
        unmentioned = missing(self._rostered, external_ids=self._external_ids, email_keys=self._email_keys)
        replaced = [
            entry.match.rival
            for entry in self.entries
            if entry.error is None and entry.match.rival is not None and self._is_replaced(entry.match.rival)
        ]
        return (*unmentioned, *sorted(replaced, key=lambda person: person.id))

    def _match_all(self, people: PeopleIndex) -> None:
        external_ids: set[str] = set()
        email_keys: set[EmailKey] = set()
        for position, entry in enumerate(self.entries):
            record = entry.record
            if isinstance(record, InvalidRecord):
                entry.error = SyncError.VALIDATION_ERROR
                continue
            entry.match = people.match(record)
            person = entry.match.person
            if (
                record.email.key in email_keys
                or (record.external_id is not None and record.external_id in external_ids)
                or (person is not None and person.id in self._entry_of)
            ):
                # A record that does not count claims nothing: later ones are compared with the first alone.
                entry.error = SyncError.DUPLICATE_IN_PAYLOAD
                continue
            email_keys.add(record.email.key)
            if record.external_id is not None:
                external_ids.add(record.external_id)
            if person is not None:
                self._entry_of[person.id] = position
            entry.transition = TRANSITIONS[None if person is None else person.state, self._presence(record)]

    def _presence(self, record: EmployeeRecord) -> Presence:
        # A whole directory lists those who are there, so being listed means being present.
        if record.presence is Presence.UNSTATED and self._rostered is not None:
            return Presence.PRESENT
        return record.presence

    def _check_sectors(self) -> None:
        for entry in self.entries:
            if isinstance(entry.record, InvalidRecord) or entry.error is not None or not entry.record.sector:
                continue
            try:
                self.sectors.find(entry.record.sector)
            except UnresolvableSector as error:
                entry.error = SyncError(error.code)

    def _sector_id(self, record: EmployeeRecord, person: Employee | None) -> SectorId | None:
        if record.sector is ABSENT:
            return None if person is None else person.sector_id
        return None if record.sector is None else self.sectors.find_or_create(record.sector).id

    def _share_addresses(self) -> None:
        """Let each address go to who asks for it, as far as those who have it now make way.

        An entry waits for at most one other, the one of the person who holds the address it asks for; addresses asked
        for are distinct, so the waiting forms chains and rings, and a ring is a swap that succeeds.
        """
        waits_for: dict[int, int] = {}
        for position, entry in enumerate(self.entries):
            record, rival = entry.record, entry.match.rival
            if isinstance(record, InvalidRecord) or entry.transition is None or entry.error is not None:
                continue
            is_blocked = rival is not None and rival.is_active and not self._is_replaced(rival)
            if entry.transition.next is None:
                # An unknown leaver asks for nothing, but one who looks like a known person under another id is an
                # error to be seen: it may be the known person who is leaving.
                entry.error = SyncError.EXTERNAL_ID_CONFLICT if is_blocked else None
            elif self._keeps_address(entry, record):
                continue
            elif record.email.key in self._held_elsewhere:
                self._deny(entry, record, SyncError.EMAIL_CONFLICT_OTHER_TENANT)
            elif rival is not None and is_blocked:
                waits_for[position] = self._entry_of.get(rival.id, _NOBODY)
        stuck = {position for position, entry in enumerate(self.entries) if entry.error is not None}
        leaving = {position for position, entry in enumerate(self.entries) if _is_leaving(entry)}
        for position in follow_chains(waits_for, stuck=stuck | {_NOBODY}, free=leaving):
            entry = self.entries[position]
            if isinstance(entry.record, EmployeeRecord):
                self._deny(entry, entry.record, _conflict(entry))

    def _keeps_address(self, entry: _Entry, record: EmployeeRecord) -> bool:
        person = entry.match.person
        if person is None or person.email.key != record.email.key:
            return False
        # Coming back means holding the address again, which others may have taken meanwhile.
        return entry.transition is not None and (
            person.is_active or entry.transition.next is not EmployeeState.ACTIVE
        )

    @staticmethod
    def _deny(entry: _Entry, record: EmployeeRecord, error: SyncError) -> None:
        # Nobody who leaves is kept by an address: the rest of what the record says is done without it.
        if record.presence is Presence.LEAVING:
            entry.takes_email = False
        else:
            entry.error = error

    def _is_replaced(self, rival: Employee) -> bool:
        # A recycled mailbox must not inherit a history: in a whole directory that no longer lists the old holder's
        # external id, the old holder has left.
        return (
            self._rostered is not None
            and rival.is_active
            and rival.external_id is not None
            and rival.external_id not in self._external_ids
        )


def _is_leaving(entry: _Entry) -> bool:
    return (
        entry.error is None and entry.transition is not None and entry.transition.action is Action.DEACTIVATED
    )


def _conflict(entry: _Entry) -> SyncError:
    return SyncError.EMAIL_CONFLICT if entry.match.person is not None else SyncError.EXTERNAL_ID_CONFLICT


def _warning(entry: _Entry, record: EmployeeRecord, person: Employee) -> SyncWarning | None:
    if not entry.takes_email:
        return SyncWarning.EMAIL_NOT_UPDATED
    if entry.match.linked:
        return SyncWarning.LINKED_BY_EMAIL
    rival = entry.match.rival
    if rival is not None and not rival.is_active and person.email.key != record.email.key:
        return SyncWarning.EMAIL_TAKEN_FROM_ARCHIVED
    return None


def _item(
    record: EmployeeRecord,
    person: Employee | None,
    action: Action,
    *,
    error: SyncError | None = None,
    warning: SyncWarning | None = None,
) -> SyncItem:
    return SyncItem(
        external_id=record.external_id if record.external_id or person is None else person.external_id,
        email=record.email.text,
        action=action,
        id=None if person is None else person.id,
        error=error,
        warning=warning,
        employee=person,
    )


def _failed_validation(record: InvalidRecord) -> SyncItem:
    return SyncItem(
        external_id=record.external_id,
        email=record.email,
        action=Action.FAILED,
        error=SyncError.VALIDATION_ERROR,
        faults=record.faults,
    )


def _summarise(items: Sequence[SyncItem], absentees: int) -> SyncSummary:
    counts = Counter(item.action for item in items)
    return SyncSummary(
        received=len(items),
        created=counts[Action.CREATED],
        updated=counts[Action.UPDATED],
        reactivated=counts[Action.REACTIVATED],
        deactivated=counts[Action.DEACTIVATED] + absentees,
        skipped=counts[Action.SKIPPED],
        failed=counts[Action.FAILED],
    )
