"""A payload taken in chunks through a store comes to the same as the same records provisioned at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import anyio
import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.emails import parse_email
from awareness_core.employees import Action, Employee, EmployeeChange, EmployeeRecord
from awareness_core.errors import MassDeactivationBlocked, NotFound
from awareness_core.ports import Ports
from awareness_core.records import InvalidRecord, UnchangedPerson, fingerprint_of
from awareness_core.sectors import Sector
from awareness_core.sync_plan import Candidates, SyncItem
from awareness_core.tenants import Company, CompanyId
from awareness_core.use_cases.provision import provision
from awareness_core.use_cases.synchronise import Answer, synchronise
from awareness_memory import ManualClock, memory_ports
from tests.core import strategies as draw
from tests.core.test_sync import PAYLOADS, Payload, directories
from tests.core.test_sync_rows import A, B, person, record

US, THEM = CompanyId("us"), CompanyId("them")


@attrs.frozen
class SpeltLine:
    """A `Glance` at a line whose spelling is the record's own description."""

    record: EmployeeRecord | InvalidRecord

    @property
    def fingerprint(self) -> bytes:
        """See `Glance`."""
        return fingerprint_of(repr(self.record).encode())

    @property
    def external_id(self) -> str | None:
        """See `Glance`."""
        return self.record.external_id

    @property
    def email(self) -> str:
        """See `Glance`."""
        return str(self.record.email)


@attrs.frozen
class SpeltLines:
    """Some lines."""

    records: Sequence[EmployeeRecord | InvalidRecord]

    def glances(self) -> Sequence[SpeltLine]:
        """See `Lines`."""
        return [SpeltLine(record_) for record_ in self.records]

    def read(self, offset: int) -> EmployeeRecord | InvalidRecord:
        """See `Lines`."""
        record_ = self.records[offset]
        if isinstance(record_, InvalidRecord):
            return record_
        return attrs.evolve(record_, fingerprint=SpeltLine(record_).fingerprint)


@attrs.frozen
class ListedPayload:
    """Records in memory, handed out in chunks."""

    records: Sequence[EmployeeRecord | InvalidRecord]
    size: int

    async def chunks(self) -> AsyncIterator[SpeltLines]:
        """See `Payload`."""
        for start in range(0, len(self.records), self.size):
            yield SpeltLines(self.records[start : start + self.size])


class CollectedResults:
    """Answers by position."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """See `Results`."""
        self.items: dict[int, Answer] = {}
        self.changes: list[EmployeeChange] = []
        self.absentees: list[Employee] = []
        self._open: set[int] = set()
        self._next = 0

    def put(self, start: int, answers: Sequence[Answer | None]) -> None:
        """See `Results`."""
        assert start == self._next
        self._next += len(answers)
        for position, answer in enumerate(answers, start):
            if answer is None:
                self._open.add(position)
            else:
                self.items[position] = answer

    def put_late(self, position: int, answer: Answer) -> None:
        """See `Results`."""
        self._open.remove(position)
        self.items[position] = answer

    def note_written(self, changes: Sequence[EmployeeChange]) -> None:
        """See `Results`."""
        self.changes.extend(changes)

    def note_absentees(self, people: Sequence[Employee]) -> None:
        """See `Results`."""
        self.absentees.extend(people)

    def told(self) -> list[tuple[object, ...]]:
        """What was answered, in order, but for the ids of new people."""
        assert self._open == set()
        return [told(self.items[position]) for position in range(self._next)]


def told(item: SyncItem | UnchangedPerson) -> tuple[object, ...]:
    """An answer without the ids that differ from run to run."""
    if isinstance(item, UnchangedPerson):
        return item.external_id, item.email, Action.SKIPPED, None, None
    return item.external_id, item.email, item.action, item.error, item.warning


async def world(people: Sequence[Employee], sectors: Sequence[Sector]) -> Ports:
    """A store in memory with one company of these people, and another one."""
    ports = memory_ports(clock=ManualClock(draw.NOW))
    for company_id in (US, THEM):
        company = Company(id=company_id, name=company_id, created_at=draw.NOW)
        await ports.companies.add_company(company)
    async with ports.store.transaction(US) as transaction:
        known = [attrs.evolve(person_, sector_id=None) for person_ in people]
        changes = [EmployeeChange(before=None, after=person_) for person_ in known]
        await transaction.apply(changes=changes, sectors=sectors)
    return ports


async def directory(ports: Ports) -> set[tuple[object, ...]]:
    """Everybody, as a reader sees them, without the ids that differ from run to run."""
    async with ports.store.reading(US) as reading:
        names = {sector.id: sector.key for sector in await reading.sectors()}
        people = [*await reading.matching_employees(external_ids=draw.EXTERNAL_IDS, email_keys=KEYS)]
    return {
        (
            names.get(one.sector_id) if one.sector_id else None,
            attrs.evolve(one, id=draw.numbered_id(0), sector_id=None),
        )
        for one in people
    }


KEYS = [parse_email(f"{letter}@x.example").key for letter in "abcd"]


@given(
    payload=PAYLOADS, before=directories(), size=st.integers(min_value=1, max_value=3), is_whole=st.booleans()
)
def test_chunks_through_a_store_come_to_the_same_as_provisioning(
    *, payload: Payload, before: Candidates, size: int, is_whole: bool
) -> None:
    async def both() -> None:
        one = await world(before.employees, before.sectors)
        other = await world(before.employees, before.sectors)
        results = CollectedResults()
        count = 100
        outcome = await synchronise(
            one,
            US,
            ListedPayload(payload, size),
            results,
            deactivate_missing=is_whole,
            confirm_deactivations=await confirmation(one, payload) if is_whole else None,
        )
        report = await provision(
            other,
            US,
            payload,
            deactivate_missing=is_whole,
            confirm_deactivations=await confirmation(other, payload) if is_whole else count,
        )

        assert results.told() == [told(item) for item in report.items]
        assert _written(results.changes) == _written(report.changes)
        assert {one.id for one in results.absentees} == {one.id for one in report.absentees}
        assert len(results.absentees) == len(report.absentees)
        assert outcome.summary == report.summary
        assert await directory(one) == await directory(other)

    anyio.run(both)


def _written(changes: Sequence[EmployeeChange]) -> set[tuple[object, ...]]:
    """Who was changed, from one state to the other, and who is new."""
    return {
        (change.after.email, change.after.state, change.before and (change.before.id, change.before.state))
        for change in changes
    }


async def confirmation(ports: Ports, payload: Payload) -> int | None:
    """The number that the guard asks for, when it does."""
    try:
        await provision(ports, US, payload, dry_run=True, deactivate_missing=True)
    except MassDeactivationBlocked as refusal:
        return refusal.planned
    return None


@given(PAYLOADS, directories(), st.integers(min_value=1, max_value=3))
def test_a_dry_run_says_the_same_and_writes_nothing(payload: Payload, before: Candidates, size: int) -> None:
    async def both() -> None:
        ports = await world(before.employees, before.sectors)
        untouched = await directory(ports)
        rehearsal, real = CollectedResults(), CollectedResults()
        dry = await synchronise(ports, US, ListedPayload(payload, size), rehearsal, dry_run=True)

        assert await directory(ports) == untouched
        outcome = await synchronise(ports, US, ListedPayload(payload, size), real)

        assert rehearsal.told() == real.told()
        assert (dry.summary, dry.dry_run) == (outcome.summary, True)
        for item in rehearsal.items.values():
            if isinstance(item, SyncItem) and item.action is Action.CREATED:
                assert item.id is None

    anyio.run(both)


def test_an_unchanged_directory_is_recognised_without_being_read() -> None:
    async def twice() -> None:
        ports = await world([], [])
        payload = ListedPayload([record(A, "1"), record(B, "2")], 1)
        await synchronise(ports, US, payload, CollectedResults())
        results = CollectedResults()
        outcome = await synchronise(ports, US, payload, results)

        assert {type(item) for item in results.items.values()} == {UnchangedPerson}
        assert outcome.summary.skipped == 2

    anyio.run(twice)


def test_any_other_write_makes_the_record_be_read_again() -> None:
    async def changed_between() -> None:
        ports = await world([], [])
        payload = ListedPayload([record(A, "1")], 1)
        await synchronise(ports, US, payload, CollectedResults())
        await provision(ports, US, [record(A, "1", last_name="Other")])
        results = CollectedResults()
        await synchronise(ports, US, payload, results)

        assert results.told() == [("1", A, Action.UPDATED, None, None)]

    anyio.run(changed_between)


def test_a_blocked_payload_leaves_nothing_behind() -> None:
    people = [person(number, f"p{number}@x.example", f"e{number}") for number in range(10)]

    async def blocked() -> None:
        ports = await world(people, [])
        payload = ListedPayload([record(A, "1")], 1)
        with pytest.raises(MassDeactivationBlocked) as refusal:
            await synchronise(ports, US, payload, CollectedResults(), deactivate_missing=True)

        assert (refusal.value.planned, refusal.value.active) == (10, 10)
        async with ports.store.reading(US) as reading:
            assert len(await reading.rostered_employees()) == 10
        outcome = await synchronise(
            ports, US, payload, CollectedResults(), deactivate_missing=True, confirm_deactivations=10
        )
        assert (outcome.summary.created, outcome.summary.deactivated) == (1, 10)

    anyio.run(blocked)


def test_an_unknown_company_is_told() -> None:
    async def unknown() -> None:
        ports = await world([], [])
        with pytest.raises(NotFound):
            await synchronise(ports, CompanyId("nobody"), ListedPayload([], 1), CollectedResults())

    anyio.run(unknown)


def test_what_breaks_off_in_the_middle_leaves_nothing_behind() -> None:
    class CutConnection(ListedPayload):
        """Breaks after the first chunk."""

        async def chunks(self) -> AsyncIterator[SpeltLines]:
            """See `Payload`."""
            yield SpeltLines(self.records[:1])
            raise ConnectionError

    async def cut() -> None:
        ports = await world([], [])
        with pytest.raises(ConnectionError):
            await synchronise(ports, US, CutConnection([record(A, "1")], 1), CollectedResults())

        assert await directory(ports) == set()

    anyio.run(cut)
