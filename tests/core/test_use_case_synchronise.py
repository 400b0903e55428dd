"""A payload in chunks: what one chunk cannot decide is decided at the end, in its place, and a fault undoes it all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import attrs
import pytest

from awareness_core.employees import Action, Employee, Presence, archive
from awareness_core.errors import Conflict, ConstraintViolated, MassDeactivationBlocked
from awareness_core.records import InvalidRecord
from awareness_core.sectors import SectorReference
from awareness_core.sync_plan import SyncError, SyncItem, SyncSummary
from awareness_core.use_cases.provision import provision
from awareness_core.use_cases.synchronise import SyncOutcome, synchronise
from tests.core.strategies import NOW
from tests.core.test_sync import Payload
from tests.core.test_sync_rows import A, B, person, record
from tests.core.test_synchronise import CollectedResults, ListedPayload, told
from tests.core.worlds import (
    OURS,
    World,
    people_of,
    refusal_or_answer,
    run,
    sectors_of,
    settled_world,
)

C, D = "c@x.example", "d@x.example"


@attrs.frozen(kw_only=True)
class Ending:
    """What a payload came to: the answers, the counts, and the company afterwards."""

    answers: list[tuple[object, ...]]
    summary: SyncSummary
    people: list[tuple[object, ...]]
    sectors: list[str]


SWAP = [person(1, A, "1"), person(2, B, "2")]
STORIES: dict[str, tuple[list[Employee], list[Employee], Payload, bool]] = {
    "two swap addresses": (SWAP, [], [record(B, "1"), record(A, "2")], False),
    "two swap addresses among others": (
        SWAP,
        [],
        [record(C, "3"), record(B, "1"), record(D, "4"), record(A, "2"), record("e@x.example", "5")],
        False,
    ),
    "a chain moves on": (
        [*SWAP, person(3, C, "3")],
        [],
        [record(B, "1"), record(C, "2"), record(D, "3")],
        False,
    ),
    "a chain ends at somebody who stays": (
        [*SWAP, person(3, C, "3")],
        [],
        [record(B, "1"), record(C, "2"), record(D, "4")],
        False,
    ),
    "who waits brings a new sector": (
        SWAP,
        [],
        [
            record(B, "1", sector=SectorReference(name="new")),
            record(A, "2", sector=SectorReference(name="NEW")),
        ],
        False,
    ),
    "a successor comes after the leaver": (
        SWAP,
        [],
        [record(A, "1", Presence.LEAVING), record(A, "3"), record(B, "2")],
        False,
    ),
    "a successor comes before the leaver": (
        SWAP,
        [],
        [record(A, "3"), record(B, "2"), record(A, "1", Presence.LEAVING)],
        False,
    ),
    "a mailbox is recycled": (SWAP, [], [record(A, "9"), record(B, "2")], True),
    "a mailbox is recycled only if it comes to that": (
        SWAP,
        [],
        [record(A, "9", sector=SectorReference(id="77")), record(B, "2")],
        True,
    ),
    "some are missing": ([*SWAP, person(3, C, "3"), person(4, D)], [], [record(B, "2")], True),
    "an invalid record names an external id": (
        SWAP,
        [],
        [InvalidRecord(faults=(), external_id="1", email="nobody"), record(B, "2")],
        True,
    ),
    "an invalid record names an address": (
        SWAP,
        [],
        [InvalidRecord(faults=(), email=A), record(B, "2")],
        True,
    ),
    "an address is another company's": (SWAP, [person(9, C)], [record(C, "3"), record(A, "1")], False),
    "an address of one who waits is another company's": (
        SWAP,
        [person(9, C)],
        [record(B, "1"), record(C, "2")],
        False,
    ),
    "somebody is meant twice": (SWAP, [], [record(A, "1"), record(A), record(B, "1"), record(B, "2")], False),
}


@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize("name", STORIES)
def test_a_payload_in_chunks_comes_to_the_same_as_at_once(name: str, size: int) -> None:
    people, others, payload, is_whole = STORIES[name]

    async def story() -> tuple[Ending, Ending]:
        one, other = await settled_world(people, others=others), await settled_world(people, others=others)
        results = CollectedResults()
        outcome = await synchronise(
            one, OURS, ListedPayload(payload, size), results, deactivate_missing=is_whole
        )
        report = await provision(other, OURS, payload, deactivate_missing=is_whole)
        return (
            await _ending(one, results.told(), outcome.summary),
            await _ending(other, [told(item) for item in report.items], report.summary),
        )

    in_chunks, at_once = run(story())

    assert at_once == in_chunks


@pytest.mark.parametrize("size", [1, 2, 10])
@pytest.mark.parametrize("name", STORIES)
def test_an_unchanged_payload_sent_again_is_answered_as_if_it_had_been_read(name: str, size: int) -> None:
    people, others, payload, _ = STORIES[name]
    twice = [*payload, *payload]

    async def story() -> tuple[Ending, Ending]:
        one, other = await settled_world(people, others=others), await settled_world(people, others=others)
        await synchronise(one, OURS, ListedPayload(payload, size), CollectedResults())
        await provision(other, OURS, payload)
        results = CollectedResults()
        outcome = await synchronise(one, OURS, ListedPayload(twice, size), results)
        report = await provision(other, OURS, twice)
        return (
            await _ending(one, results.told(), outcome.summary),
            await _ending(other, [told(item) for item in report.items], report.summary),
        )

    in_chunks, at_once = run(story())

    assert at_once == in_chunks


@pytest.mark.parametrize("name", STORIES)
def test_a_dry_run_tells_the_same_and_leaves_everything_as_it_was(name: str) -> None:
    people, others, payload, is_whole = STORIES[name]

    async def story() -> None:
        world = await settled_world(people, others=others)
        before = (await people_of(world), await sectors_of(world))
        rehearsal, real = CollectedResults(), CollectedResults()
        outcomes = []
        for results, dry_run in ((rehearsal, True), (real, False)):
            outcomes.append(
                await synchronise(
                    world,
                    OURS,
                    ListedPayload(payload, 1),
                    results,
                    dry_run=dry_run,
                    deactivate_missing=is_whole,
                )
            )
            if dry_run:
                assert before == (await people_of(world), await sectors_of(world))

        assert rehearsal.told() == real.told()
        assert [True, False] == [outcome.dry_run for outcome in outcomes]
        assert outcomes[0].summary == outcomes[1].summary
        for position, item in real.items.items():
            rehearsed = rehearsal.items[position]
            if isinstance(item, SyncItem) and isinstance(rehearsed, SyncItem):
                assert rehearsed.id == (None if item.action is Action.CREATED else item.id)
                assert (item.id is None) == (item.action is Action.FAILED and item.employee is None)

    run(story())


def test_an_unchanged_directory_is_not_written() -> None:
    payload = [record(A, "1"), record(B), record(C, "3")]

    async def story() -> tuple[SyncOutcome, list[str]]:
        world = await settled_world()
        await synchronise(world, OURS, ListedPayload(payload, 2), CollectedResults())
        world.store.writes.clear()
        world.clock.advance(timedelta(days=1))
        outcome = await synchronise(
            world, OURS, ListedPayload(payload, 2), CollectedResults(), deactivate_missing=True
        )
        return outcome, world.store.writes

    outcome, writes = run(story())

    assert (SyncSummary(received=3, skipped=3), [], True) == (outcome.summary, writes, outcome.is_ok)


def test_a_failed_record_is_not_ok() -> None:
    async def story() -> SyncOutcome:
        payload: Payload = [InvalidRecord(faults=(), email="nobody")]
        return await synchronise(await settled_world(), OURS, ListedPayload(payload, 1), CollectedResults())

    outcome = run(story())

    assert (SyncSummary(received=1, failed=1), False) == (outcome.summary, outcome.is_ok)


@pytest.mark.parametrize("times", [1, 2])
def test_a_write_that_meets_a_faster_writer_begins_the_payload_anew(times: int) -> None:
    async def story() -> tuple[SyncOutcome, CollectedResults, list[Employee]]:
        world = await settled_world(SWAP)
        _refuse_writes(world, times)
        results = CollectedResults()
        payload = ListedPayload([record(C, "3"), record(B, "1"), record(A, "2")], 1)
        return await synchronise(world, OURS, payload, results), results, await people_of(world)

    outcome, results, people = run(story())

    assert SyncSummary(received=3, created=1, updated=2) == outcome.summary
    assert [Action.CREATED, Action.UPDATED, Action.UPDATED] == [answer[2] for answer in results.told()]
    assert {A, B, C} == {str(person_.email) for person_ in people}


def test_a_payload_that_always_meets_faster_writers_is_given_up_and_leaves_nothing() -> None:
    async def story() -> tuple[object, list[Employee], int]:
        world = await settled_world()
        attempts = _refuse_writes(world, 1000)
        payload = ListedPayload([record(A, "1"), record(B, "2")], 1)
        answer = await refusal_or_answer(synchronise(world, OURS, payload, CollectedResults()))
        return answer, await people_of(world), len(attempts)

    refusal, people, attempts = run(story())

    assert isinstance(refusal, Conflict)
    assert "Other requests kept changing the same people. Nothing was written; send it again." == str(refusal)
    assert ([], 3) == (people, attempts)


def test_more_missing_people_than_fit_in_one_write_are_all_archived() -> None:
    people = [person(number, f"p{number}@x.example", f"e{number}") for number in range(1, 2002)]
    payload = ListedPayload([record(A, "new")], 1)

    async def story() -> tuple[SyncOutcome, list[Employee], list[str]]:
        world = await settled_world(people)
        outcome = await synchronise(
            world,
            OURS,
            payload,
            CollectedResults(),
            deactivate_missing=True,
            confirm_deactivations=len(people),
        )
        return outcome, await people_of(world), world.store.writes

    outcome, stored, writes = run(story())

    assert SyncSummary(received=1, created=1, deactivated=2001) == outcome.summary
    assert [archive(person_, now=NOW) for person_ in people] == [
        person_ for person_ in stored if not person_.is_active
    ]
    assert ["apply"] * 4 == writes


@pytest.mark.parametrize(
    ("absent", "present", "is_blocked"),
    [(5, 0, False), (6, 54, False), (6, 53, True)],
)
def test_the_guard_counts_those_who_were_there_before_the_payload(
    *, absent: int, present: int, is_blocked: bool
) -> None:
    people = [
        person(number, f"p{number}@x.example", f"e{number}") for number in range(1, 1 + absent + present)
    ]
    # The many new people do not make the missing ones a smaller share.
    payload: Payload = [
        *(record(str(person_.email), person_.external_id) for person_ in people[absent:]),
        *(record(f"n{number}@x.example", f"n{number}") for number in range(30)),
    ]

    async def story() -> object:
        return await refusal_or_answer(
            synchronise(
                await settled_world(people),
                OURS,
                ListedPayload(payload, 7),
                CollectedResults(),
                deactivate_missing=True,
            )
        )

    answer = run(story())

    assert is_blocked == isinstance(answer, MassDeactivationBlocked)
    if isinstance(answer, MassDeactivationBlocked):
        assert (absent, absent + present) == (answer.planned, answer.active)


def test_a_second_mention_of_somebody_unchanged_echoes_what_was_sent() -> None:
    payload = [record(A, "1"), record(A)]

    async def story() -> list[tuple[object, ...]]:
        world = await settled_world()
        for one in payload:
            await synchronise(world, OURS, ListedPayload([one], 1), CollectedResults())
        results = CollectedResults()
        await synchronise(world, OURS, ListedPayload([payload[1], payload[1], payload[0]], 1), results)
        return results.told()

    first, *others = run(story())

    assert Action.SKIPPED is first[2]
    assert [(Action.FAILED, SyncError.DUPLICATE_IN_PAYLOAD)] * 2 == [answer[2:4] for answer in others]
    assert [A, A] == [answer[1] for answer in others]


async def _ending(world: World, answers: Sequence[tuple[object, ...]], summary: SyncSummary) -> Ending:
    names = {sector.id: sector.key for sector in await sectors_of(world)}
    people = [
        (
            names.get(person_.sector_id) if person_.sector_id else None,
            person_.email.text,
            person_.external_id,
            person_.last_name,
            person_.state,
            person_.created_at,
            person_.archived_at,
            person_.updated_at,
        )
        for person_ in await people_of(world)
    ]
    return Ending(
        answers=list(answers),
        summary=summary,
        people=sorted(people, key=repr),
        sectors=sorted(names.values()),
    )


def _refuse_writes(world: World, times: int) -> list[int]:
    """Let the next writes meet a faster writer; the list returned grows by one for each."""
    attempts: list[int] = []

    async def refuse() -> None:
        attempts.append(len(attempts))
        if len(attempts) <= times:
            raise ConstraintViolated("Another writer was faster.")

    world.store.before_apply = refuse
    return attempts
