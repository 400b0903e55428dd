"""What a transaction remembers of a campaign is what the store would answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

import attrs
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.campaign_events import Event, Sign
from awareness_core.campaigns import CampaignId
from awareness_core.emails import EmailKey
from awareness_core.kpis import Step
from awareness_core.ports import Transaction
from awareness_core.recipients import Progress, Recipient
from awareness_core.results_memory import ResultsMemory
from awareness_core.results_plan import ResultChanges
from awareness_core.use_cases.import_results import import_results
from tests.core.strategies import NOW
from tests.core.tellings import SPRING, Told, happened, targeted
from tests.core.worlds import OURS, run, settled_world

PEOPLE = 4
whos = st.integers(0, PEOPLE - 1)
Move = tuple[str, frozenset[int], Step, bool]
moves: st.SearchStrategy[Move] = st.tuples(
    st.sampled_from(["people", "events", "tell", "tell", "remove"]),
    st.frozensets(whos, min_size=1),
    st.sampled_from(Step),
    st.booleans(),
)


def keys_of(who: Collection[int]) -> frozenset[EmailKey]:
    return frozenset(targeted(one).email.key for one in who)


def in_order(events: Collection[Event]) -> list[Event]:
    return sorted(events, key=lambda event: event.key)


@attrs.frozen
class Asked:
    """A transaction that notes whom it was asked about."""

    transaction: Transaction
    people: list[EmailKey] = attrs.field(factory=list)
    happenings: list[EmailKey] = attrs.field(factory=list)

    async def recipients(
        self, campaign_id: CampaignId, email_keys: Collection[EmailKey]
    ) -> Sequence[Recipient]:
        self.people.extend(email_keys)
        return await self.transaction.recipients(campaign_id, email_keys)

    async def events(
        self, campaign_id: CampaignId, *, recipients: Collection[EmailKey] = ()
    ) -> Sequence[Event]:
        self.happenings.extend(recipients)
        return await self.transaction.events(campaign_id, recipients=recipients)

    async def save_results(self, campaign_id: CampaignId, changes: ResultChanges) -> None:
        await self.transaction.save_results(campaign_id, changes)


async def change(
    transaction: Transaction, campaign_id: CampaignId, who: Collection[int], step: Step, *, is_written: bool
) -> ResultChanges:
    """Each is told of for the first time, or else, if `is_written`, as others than they were or as farther."""
    known = await transaction.recipients(campaign_id, keys_of(who))
    stored = {event.key for event in await transaction.events(campaign_id, recipients=keys_of(who))}
    events = [happened(one, step).event for one in who]
    old = {recipient.email.key for recipient in known}
    return ResultChanges(
        new_recipients=[targeted(one) for one in who if targeted(one).email.key not in old],
        changed_recipients=[attrs.evolve(one, external_id=step.value) for one in known if is_written],
        progressed_recipients=[
            attrs.evolve(one, progress=Progress(sent_at=NOW)) for one in known if not is_written
        ],
        new_events=[event for event in events if event.key not in stored],
        changed_events=[
            attrs.evolve(event, user_agent="curl") for event in events if event.key in stored and is_written
        ],
        judged_events=[
            attrs.evolve(event, signs=Sign.BURST)
            for event in events
            if event.key in stored and not is_written
        ],
    )


@given(story=st.lists(moves, max_size=12), at_most=st.sampled_from([0, 3, 100]))
def test_what_is_remembered_is_what_the_store_would_answer(story: list[Move], at_most: int) -> None:
    async def play() -> None:
        world = await settled_world()
        campaign_id = (await import_results(world, OURS, Told(SPRING))).campaign.id
        async with world.store.transaction(OURS) as transaction:
            memory = ResultsMemory(transaction, campaign_id, at_most=at_most)
            for move, who, step, is_written in story:
                keys = keys_of(who)
                if move == "tell":
                    changes = await change(transaction, campaign_id, who, step, is_written=is_written)
                    await memory.save(changes)
                elif move == "remove":
                    gone = await transaction.events(campaign_id, recipients=keys)
                    await memory.save(
                        ResultChanges(gone_recipients=sorted(keys), gone_events=[event.key for event in gone])
                    )
                elif move == "people":
                    await memory.recipients(keys)
                else:
                    await memory.events_of(keys)
            everyone = keys_of(range(PEOPLE))
            people = await transaction.recipients(campaign_id, everyone)
            events = await transaction.events(campaign_id, recipients=everyone)

            assert {one.email.key: one for one in people} == {
                one.email.key: one for one in await memory.recipients(everyone)
            }
            assert in_order(events) == in_order(await memory.events_of(everyone))

    run(play())


def test_nobody_is_asked_for_twice_and_nothing_of_whom_it_brought_until_it_is_too_much() -> None:
    a, b = targeted("a"), targeted("b")

    async def asked(at_most: int) -> Asked:
        world = await settled_world()
        campaign_id = (await import_results(world, OURS, Told(SPRING, [[b]]))).campaign.id
        async with world.store.transaction(OURS) as transaction:
            watched = Asked(transaction)
            memory = ResultsMemory(cast("Transaction", watched), campaign_id, at_most=at_most)
            for _ in range(2):
                await memory.recipients({a.email.key, b.email.key})
                await memory.events_of({b.email.key})
            sent = happened("a", Step.SENT).event
            await memory.save(ResultChanges(new_recipients=[a], new_events=[sent]))

            assert [sent] == await memory.events_of({a.email.key})
            assert [a] == await memory.recipients({a.email.key})
        return watched

    async def story() -> None:
        remembering, forgetting = await asked(10), await asked(1)

        assert ([a.email.key, b.email.key], [b.email.key]) == (
            sorted(remembering.people),
            remembering.happenings,
        )
        assert ([a.email.key], [a.email.key]) == (forgetting.people[2:], forgetting.happenings[1:])

    run(story())
