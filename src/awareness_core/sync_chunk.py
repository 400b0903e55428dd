"""The passes over one chunk of records: who is meant, which sectors exist, who gets which address, what to write.

It keeps nothing between chunks; what a payload has claimed so far is the `Rollcall`'s, and `sync` puts the chunks
together. Rules: docs/explanation/sync.md; Choice: decisions/007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import attrs

from awareness_core.absent import ABSENT
from awareness_core.chains import follow_chains
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
    hire,
)
from awareness_core.matching import NOBODY, Match, PeopleIndex
from awareness_core.records import InvalidRecord, UnchangedPerson
from awareness_core.rollcall import Rollcall, asks_for_address
from awareness_core.sectors import SectorDirectory, SectorId, UnresolvableSector
from awareness_core.sync_plan import Candidates, SyncError, SyncItem, SyncWarning

_NOBODY = -1
"""The position of whom one waits for who is in no entry, and therefore never makes way."""

_DUPLICATE = SyncError.DUPLICATE_IN_PAYLOAD


@attrs.define(kw_only=True)
class Entry:
    """One record on its way through the plan."""

    position: int
    record: EmployeeRecord | InvalidRecord | UnchangedPerson
    match: Match = NOBODY
    transition: Transition | None = None
    error: SyncError | None = None
    takes_email: bool = True
    is_deferred: bool = False


class Chunk:
    """The passes over the records of one chunk: who is meant, which sectors exist, who gets which address."""

    def __init__(
        self,
        records: Sequence[EmployeeRecord | InvalidRecord | UnchangedPerson],
        candidates: Candidates,
        rollcall: Rollcall,
        sectors: SectorDirectory,
        *,
        is_whole: bool,
        is_last: bool,
    ) -> None:
        self.entries: list[Entry] = []
        self._records = records
        self._rollcall = rollcall
        self._people = PeopleIndex(candidates.employees, rollcall)
        self._sectors = sectors
        self._held_elsewhere = candidates.held_elsewhere
        self._is_whole = is_whole
        self._is_last = is_last
        self._entry_of: dict[EmployeeId, int] = {}

    def conclude(
        self, entry: Entry, *, new_ids: Iterator[EmployeeId], now: datetime
    ) -> tuple[SyncItem, EmployeeChange | None]:
        """The answer for one entry, and the write it asks for."""
        record, person = entry.record, entry.match.person
        if not isinstance(record, EmployeeRecord):
            return _uncounted(record, entry.error), None
        if entry.error is not None or entry.transition is None:
            return _item(record, person, Action.FAILED, error=entry.error), None
        if entry.transition.next is None:
            return _item(record, None, entry.transition.action, warning=SyncWarning.UNKNOWN_LEAVER), None
        sector_id = self._sector_id(record, person)
        if person is None:
            self._rollcall.note_newcomer(record.email.key)
            hired = hire(record, employee_id=next(new_ids), sector_id=sector_id, now=now)
            return _item(record, hired, Action.CREATED), _change(None, hired, record, warning=None)
        email = record.email if entry.takes_email else person.email
        amended = amend(
            person, record, email=email, sector_id=sector_id, next_state=entry.transition.next, now=now
        )
        warning = _warning(entry, record, person)
        if entry.match.linked:
            self._rollcall.note_link(person.id)
        if amended is person:
            return _item(record, person, Action.SKIPPED, warning=warning), None
        return (
            _item(record, amended, entry.transition.action, warning=warning),
            _change(person, amended, record, warning=warning),
        )

    def replaced(self) -> list[Employee]:
        """Whose mailbox a record of this chunk takes over without their being listed."""
        return [
            entry.match.rival
            for entry in self.entries
            if entry.match.rival is not None
            and entry.error is None
            and not entry.is_deferred
            and self._replaces(entry, entry.match.rival)
        ]

    def match_all(self, *, was_deferred: bool) -> None:
        """Find whom each record means, and let the first of those who mean the same person count."""
        known: list[UnchangedPerson] = []
        for position, record in enumerate(self._records):
            if isinstance(record, UnchangedPerson):
                known.append(record)
                continue
            self._claim_unchanged(known, position)
            known = []
            entry = Entry(position=position, record=record)
            self._match(entry, record, was_deferred=was_deferred)
            self.entries.append(entry)
        self._claim_unchanged(known, len(self._records))

    def _claim_unchanged(self, people: Sequence[UnchangedPerson], end: int) -> None:
        """Let those count who are known at the positions up to `end`: together, which hardly ever fails, or each."""
        if not people or self._rollcall.claim_unchanged(people):
            return
        for position, person in enumerate(people, end - len(people)):
            if not self._rollcall.claim_unchanged((person,)):
                self._rollcall.mention_unchanged(person)
                self.entries.append(Entry(position=position, record=person, error=_DUPLICATE))

    def _match(self, entry: Entry, record: EmployeeRecord | InvalidRecord, *, was_deferred: bool) -> None:
        if isinstance(record, InvalidRecord):
            self._rollcall.mention(record)
            entry.error = SyncError.VALIDATION_ERROR
            return
        match = self._people.match(record)
        if not was_deferred and not self._rollcall.claim(record, match.person):
            self._rollcall.mention(record)
            entry.error = _DUPLICATE
            return
        entry.match = match
        if match.person is not None:
            self._entry_of[match.person.id] = len(self.entries)
        state = None if match.person is None else match.person.state
        entry.transition = TRANSITIONS[state, self._presence(record)]

    def _presence(self, record: EmployeeRecord) -> Presence:
        # A whole directory lists those who are there, so being listed means being present.
        if record.presence is Presence.UNSTATED and self._is_whole:
            return Presence.PRESENT
        return record.presence

    def check_sectors(self) -> None:
        """Refuse records whose sector cannot be; creates none yet, as the record may still fail otherwise."""
        for entry in self.entries:
            if (
                not isinstance(entry.record, EmployeeRecord)
                or entry.error is not None
                or not entry.record.sector
            ):
                continue
            try:
                self._sectors.find(entry.record.sector)
            except UnresolvableSector as error:
                entry.error = SyncError(error.code)

    def _sector_id(self, record: EmployeeRecord, person: Employee | None) -> SectorId | None:
        if record.sector is ABSENT:
            return None if person is None else person.sector_id
        return None if record.sector is None else self._sectors.find_or_create(record.sector).id

    def share_addresses(self) -> None:
        """Let each address go to who asks for it, as far as those who have it now make way.

        An entry waits for at most one other, the one of the person who holds the address it asks for; addresses asked
        for are distinct, so the waiting forms chains and rings, and a ring is a swap that succeeds.
        """
        waits_for: dict[int, int] = {}
        asking: dict[int, EmployeeRecord] = {}
        for position, entry in enumerate(self.entries):
            if isinstance(entry.record, EmployeeRecord) and entry.error is None:
                awaited = self._awaited(entry, entry.record)
                if awaited is not None:
                    waits_for[position], asking[position] = awaited, entry.record
        if not waits_for:
            return
        stuck = {
            position
            for position, entry in enumerate(self.entries)
            if entry.error is not None or entry.is_deferred
        }
        for position in follow_chains(waits_for, stuck=stuck | {_NOBODY}, free=self._leaving(waits_for)):
            entry = self.entries[position]
            if self._is_last:
                self._deny(entry, asking[position], _conflict(entry))
            else:
                entry.is_deferred = True

    def _awaited(self, entry: Entry, record: EmployeeRecord) -> int | None:
        """Whose entry must make way for this one; None when nobody must, or when that would not help."""
        rival = entry.match.rival
        if entry.transition is None or entry.transition.next is None:
            self._judge_unknown_leaver(entry)
        elif self._keeps_address(entry, record):
            return None
        elif not self._is_last and not asks_for_address(record, entry.match.person):
            # Whether a successor asks for the address is known at the end.
            entry.is_deferred = True
        elif (
            self._is_last
            and self._rollcall.is_claimed(record.email.key)
            and not asks_for_address(record, entry.match.person)
        ):
            entry.takes_email = False
        elif record.email.key in self._held_elsewhere:
            self._deny(entry, record, SyncError.EMAIL_CONFLICT_OTHER_TENANT)
        elif rival is not None and self._people.holds(rival) and not self._replaces(entry, rival):
            return self._entry_of.get(rival.id, _NOBODY)
        return None

    def _leaving(self, waits_for: Mapping[int, int]) -> frozenset[int]:
        # A leaver makes way in any case, but in its own chunk only when it is not itself deferred.
        return frozenset(
            position
            for position, entry in enumerate(self.entries)
            if _is_leaving(entry) and not entry.is_deferred and (self._is_last or position not in waits_for)
        )

    def _judge_unknown_leaver(self, entry: Entry) -> None:
        # An unknown leaver asks for nothing, but one who looks like a known person under another id is an error to be
        # seen, unless the payload tells of that person by themselves: it may be the known person who is leaving.
        rival = entry.match.rival
        if rival is None or not rival.is_active or self._rollcall.is_named(rival):
            return
        if self._is_last:
            entry.error = SyncError.EXTERNAL_ID_CONFLICT
        else:
            entry.is_deferred = True

    def _keeps_address(self, entry: Entry, record: EmployeeRecord) -> bool:
        person = entry.match.person
        if person is None or person.email.key != record.email.key:
            return False
        # Coming back means holding the address again, which others may have taken meanwhile.
        return entry.transition is not None and (
            person.is_active or entry.transition.next is not EmployeeState.ACTIVE
        )

    @staticmethod
    def _deny(entry: Entry, record: EmployeeRecord, error: SyncError) -> None:
        # Nobody who leaves is kept by an address: the rest of what the record says is done without it.
        if record.presence is Presence.LEAVING:
            entry.takes_email = False
        else:
            entry.error = error

    def _replaces(self, entry: Entry, rival: Employee) -> bool:
        # A recycled mailbox must not inherit a history: in a whole directory that no longer lists the external id of
        # its holder, the holder has left when somebody else comes to hold the address.
        return (
            self._is_last
            and self._is_whole
            and entry.transition is not None
            and entry.transition.next is EmployeeState.ACTIVE
            and rival.is_active
            and rival.external_id is not None
            and not self._rollcall.is_mentioned(external_id=rival.external_id)
        )


def _is_leaving(entry: Entry) -> bool:
    return (
        entry.error is None and entry.transition is not None and entry.transition.action is Action.DEACTIVATED
    )


def _conflict(entry: Entry) -> SyncError:
    return SyncError.EMAIL_CONFLICT if entry.match.person is not None else SyncError.EXTERNAL_ID_CONFLICT


def _warning(entry: Entry, record: EmployeeRecord, person: Employee) -> SyncWarning | None:
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


def _change(
    before: Employee | None, after: Employee, record: EmployeeRecord, *, warning: SyncWarning | None
) -> EmployeeChange:
    # Sent again, such a record says nothing new: of somebody active, whom it asks neither to leave nor to be warned of,
    # and whom it names in full.
    says_it_all = (
        after.is_active
        and warning is None
        and record.presence is not Presence.LEAVING
        and record.external_id == after.external_id
    )
    return EmployeeChange(before=before, after=after, fingerprint=record.fingerprint if says_it_all else None)


def _uncounted(record: InvalidRecord | UnchangedPerson, error: SyncError | None) -> SyncItem:
    return SyncItem(
        external_id=record.external_id,
        email=record.email,
        action=Action.FAILED,
        error=error,
        faults=record.faults if isinstance(record, InvalidRecord) else (),
    )
