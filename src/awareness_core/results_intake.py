"""Taking in what is told of one campaign, inside a transaction that somebody has opened: see `use_cases`.

A batch of lines at a time, so that memory does not grow with a payload. What is told again changes nothing, whatever
the order.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import attrs

from awareness_core.anonymity import is_erased_from, marked
from awareness_core.campaigns import Campaign, CampaignId, CampaignState, CampaignTelling, retold
from awareness_core.employees import Employee
from awareness_core.errors import Fault
from awareness_core.identifiers import UUID7_ENTROPY_BYTES, uuid7
from awareness_core.ports import Ports, Transaction
from awareness_core.recipients import Recipient
from awareness_core.results_check import RefusedLine
from awareness_core.results_memory import ResultsMemory
from awareness_core.results_plan import Batch, ErasedLine, ImportSummary, Line, progress_again
from awareness_core.verdict_rules import VerdictRules

MAX_ERRORS = 1000
"""So many lines that failed are told one by one; the summary counts all (Choice: decisions/022)."""

_RECIPIENTS_AT_ONCE = 1000


class ResultsPayload(Protocol):
    """What is told of one campaign."""

    @property
    def campaign(self) -> CampaignTelling:
        """The campaign itself."""

    def batches(self) -> AsyncIterator[Sequence[Line]]:
        """The lines in the order sent, some hundreds at a time: each batch is decided and written in one go."""


@attrs.frozen(kw_only=True)
class LineFailure:
    """A line that was left out. `index` counts the payload's lines from 0."""

    index: int
    faults: Sequence[Fault]


@attrs.frozen(kw_only=True)
class ImportOutcome:
    """The answer to a payload. `failures` holds the first `MAX_ERRORS` of `summary.failed`."""

    campaign: Campaign
    summary: ImportSummary
    failures: Sequence[LineFailure] = ()

    @property
    def is_ok(self) -> bool:
        """Whether no line failed."""
        return self.summary.failed == 0


async def take_in(ports: Ports, transaction: Transaction, payload: ResultsPayload) -> ImportOutcome:
    """Take in the payload; the company's rules say what a machine did.

    Raises `ValidationFailed` when the campaign would end before it starts, and whatever reading the payload raises.
    """
    campaign = await _begin(ports, transaction, payload.campaign)
    run = _Run(transaction, campaign, await transaction.verdict_rules(), await transaction.erasure_secret())
    async for lines in payload.batches():
        await run.take(lines)
    return await run.finish()


async def _begin(ports: Ports, transaction: Transaction, telling: CampaignTelling) -> Campaign:
    known = await transaction.campaign_by_external_id(telling.external_id)
    now = ports.clock.now()
    blank = Campaign(
        id=CampaignId(uuid7(at=now, entropy=ports.entropy.take(UUID7_ENTROPY_BYTES))),
        name=telling.name,
        state=CampaignState.DRAFT,
        created_at=telling.created_at or now,
    )
    campaign = retold(known or attrs.evolve(blank, state=telling.state), telling)
    if known is None:
        await transaction.save_campaigns([campaign])
    elif campaign.ends_at != known.ends_at:
        campaign = await _count_again(transaction, known, campaign)
    return campaign


async def _count_again(transaction: Transaction, known: Campaign, campaign: Campaign) -> Campaign:
    """Whoever acted after the old end or the new one may have come less far, or farther."""
    ends = [at for at in (known.ends_at, campaign.ends_at) if at is not None]
    keys = await transaction.recipients_active_after(campaign.id, min(ends))
    for start in range(0, len(keys), _RECIPIENTS_AT_ONCE):
        part = keys[start : start + _RECIPIENTS_AT_ONCE]
        campaign, changes = progress_again(
            campaign,
            await transaction.recipients(campaign.id, part),
            await transaction.events(campaign.id, recipients=part),
            ends_at=campaign.ends_at,
        )
        await transaction.save_results(campaign.id, changes)
    return campaign


class _Run:
    """One payload, in one transaction."""

    def __init__(
        self, transaction: Transaction, campaign: Campaign, rules: VerdictRules, secret: bytes | None
    ) -> None:
        self._transaction = transaction
        self._memory = ResultsMemory(transaction, campaign.id)
        self._campaign = campaign
        self._rules = rules
        self._secret = secret
        self._summary = ImportSummary()
        self._failures: list[LineFailure] = []
        self._position = 0

    async def take(self, lines: Sequence[Line]) -> None:
        """Decide and write one batch."""
        store, memory, campaign_id = self._transaction, self._memory, self._campaign.id
        batch = Batch(await self._without_erased(lines))
        batch.know(await memory.recipients(batch.people_told))
        batch.recall(await store.events(campaign_id, keys=batch.keys_told))
        stirred = await memory.events_of(batch.people_stirred)
        beside = await store.events(campaign_id, places=batch.places(self._rules))
        batch.judge([*stirred, *beside], self._rules)
        awaited = batch.awaited
        batch.know(await memory.recipients(awaited))
        self._campaign, changes = batch.plan(
            self._campaign,
            others=await memory.events_of(awaited),
            people=await self._people(batch.untied),
        )
        await memory.save(changes)
        self._count(batch)

    async def finish(self) -> ImportOutcome:
        """Write the counts."""
        await self._transaction.save_campaigns([self._campaign])
        return ImportOutcome(campaign=self._campaign, summary=self._summary, failures=self._failures)

    async def _without_erased(self, lines: Sequence[Line]) -> Sequence[Line | ErasedLine]:
        if self._secret is None:
            return lines
        of_mark = marked(
            (line.email.key for line in lines if not isinstance(line, RefusedLine)), self._secret
        )
        found = await self._transaction.erased_addresses(of_mark.keys())
        gone = {of_mark[one.mark] for one in found if is_erased_from(one, self._campaign)}
        if not gone:
            return lines
        # Whoever is a recipient under that address was not erased.
        gone -= {one.email.key for one in await self._transaction.recipients(self._campaign.id, gone)}
        return [
            ErasedLine() if not isinstance(line, RefusedLine) and line.email.key in gone else line
            for line in lines
        ]

    async def _people(self, untied: Sequence[Recipient]) -> Sequence[Employee]:
        if not untied:
            return []
        return await self._transaction.matching_employees(
            external_ids={one.external_id for one in untied if one.external_id is not None},
            email_keys={one.email.key for one in untied},
        )

    def _count(self, batch: Batch) -> None:
        known = self._summary
        self._summary = ImportSummary(
            recipients=known.recipients + sum(isinstance(line, Recipient) for line in batch.lines),
            events=known.events + batch.new + batch.known,
            new=known.new + batch.new,
            known=known.known + batch.known,
            failed=known.failed + len(batch.faults),
            erased=known.erased + sum(isinstance(line, ErasedLine) for line in batch.lines),
        )
        for index in sorted(batch.faults):
            if len(self._failures) < MAX_ERRORS:
                self._failures.append(LineFailure(index=self._position + index, faults=batch.faults[index]))
        self._position += len(batch.lines)
