"""Poll one source: list its campaigns, read those that may have changed, take in what is new.

Each campaign is a transaction of its own, so that what was read stays when the tool goes away in the middle; the next
poll goes on where this one ended. One process polls a source at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

import attrs

from awareness_core.campaigns import CampaignTelling
from awareness_core.errors import AwarenessError, Conflict, Fault, SourceUnavailable, ValidationFailed
from awareness_core.ports import Ports
from awareness_core.results_intake import ImportOutcome, take_in
from awareness_core.results_plan import Line
from awareness_core.source_ports import ResultTool, ToldCampaign
from awareness_core.sources import (
    LEASE,
    MAX_DOUBTFUL,
    UNREADABLE,
    CampaignGlance,
    CampaignReading,
    Source,
    is_another,
    unread,
)

_HOLDER_BYTES = 16
_LINES_AT_ONCE = 250
_MAX_ERROR = 500
_ANOTHER = Fault(
    field="campaign",
    code="another_campaign",
    message="it was made after the campaign ended that had this number before; has the tool been set up anew?",
)


MAX_LEFT_OUT = 20
"""So many faults of lines that were left out are told one by one; `failed_lines` counts all."""


@attrs.frozen(kw_only=True)
class LeftOut:
    """A fault of a line that was left out. Its field says where in the tool's answer about the campaign the line is."""

    told_id: str
    campaign: str
    fault: Fault


@attrs.frozen(kw_only=True)
class SyncProgress:
    """How far a poll has come: `done` of `total` campaigns that are read."""

    done: int
    total: int


@attrs.frozen(kw_only=True)
class SyncedSource:
    """What a poll did. `errors` says what went wrong, campaign by campaign, or once for all.

    `left_out` holds the first `MAX_LEFT_OUT` faults of lines that cannot be read.
    """

    campaigns: int = 0
    read: int = 0
    new_events: int = 0
    failed_lines: int = 0
    left_out: Sequence[LeftOut] = ()
    errors: Sequence[str] = ()

    @property
    def is_ok(self) -> bool:
        """Whether nothing went wrong. Lines that failed are the tool's own, and fail every time."""
        return not self.errors


@attrs.frozen
class _Payload:
    """One campaign's results as a payload."""

    told: ToldCampaign

    @property
    def campaign(self) -> CampaignTelling:
        return self.told.campaign

    async def batches(self) -> AsyncIterator[Sequence[Line]]:
        for start in range(0, len(self.told.lines), _LINES_AT_ONCE):
            yield self.told.lines[start : start + _LINES_AT_ONCE]


def _ignore(_progress: SyncProgress) -> None:
    pass


async def sync_source(
    ports: Ports,
    source: Source,
    *,
    everything: bool = False,
    on_progress: Callable[[SyncProgress], None] = _ignore,
) -> SyncedSource:
    """Poll `source`; with `everything`, read every campaign again. What went wrong is in the outcome and on record.

    Raises `Conflict` when another process polls it at this moment, or it is not there any more.
    """
    poll = _Poll(ports, source, ports.entropy.take(_HOLDER_BYTES).hex())
    if not await poll.claim():
        raise Conflict(
            f"The source '{source.name}' is being polled by another process, or was removed. One that was killed in "
            f"the middle keeps it for {LEASE.total_seconds() / 60:g} minutes."
        )
    ending: str | None = "the poll was interrupted"
    try:
        outcome = await poll.run(everything=everything, on_progress=on_progress)
        ending = "; ".join(outcome.errors)[:_MAX_ERROR] or None
        return outcome
    except AwarenessError as error:
        ending = error.message[:_MAX_ERROR]
        raise
    finally:
        await poll.end(ending)


class _Poll:
    def __init__(self, ports: Ports, source: Source, holder: str) -> None:
        self._ports = ports
        self._source = source
        self._holder = holder
        self._tool: ResultTool = ports.tools[source.kind]

    async def claim(self) -> bool:
        now = self._ports.clock.now()
        return await self._ports.sources.claim_source(
            self._source.id, holder=self._holder, at=now, until=now + LEASE
        )

    async def end(self, error: str | None) -> None:
        await self._ports.sources.record_poll(
            self._source.id, holder=self._holder, at=self._ports.clock.now(), error=error
        )

    async def run(self, *, everything: bool, on_progress: Callable[[SyncProgress], None]) -> SyncedSource:
        try:
            glances = await self._tool.glances(self._source)
        except SourceUnavailable as error:
            return SyncedSource(errors=[error.message])
        await self._keep()
        readings = await self._ports.sources.campaign_readings(self._source.id)
        outcome = SyncedSource(campaigns=len(glances))
        wanted = unread(glances, readings, now=self._ports.clock.now(), everything=everything)
        doubtful = 0
        for done, glance in enumerate(wanted):
            on_progress(SyncProgress(done=done, total=len(wanted)))
            try:
                outcome = _added(outcome, glance, await self._read(glance))
            except SourceUnavailable as error:
                outcome = _failed(outcome, error.message)
                if error.is_doubtful:
                    doubtful += 1
                    await self._note_failure(glance, readings.get(glance.told_id))
                if error.spoils_all or doubtful == MAX_DOUBTFUL:
                    break
            except ValidationFailed as error:
                outcome = _failed(
                    outcome, f"campaign {glance.told_id} '{glance.telling.name}': {error.message}"
                )
            await self._keep()
        on_progress(SyncProgress(done=len(wanted), total=len(wanted)))
        return outcome

    async def _keep(self) -> None:
        """Show that this poll is alive: what comes next may take nearly as long as the lease."""
        if not await self.claim():
            raise Conflict(
                f"The source '{self._source.name}' was removed, or taken over, while it was polled."
            )

    async def _note_failure(self, glance: CampaignGlance, known: CampaignReading | None) -> None:
        failed = CampaignReading(
            digest=UNREADABLE,
            read_at=self._ports.clock.now(),
            left_out=0 if known is None else known.left_out,
        )
        await self._ports.sources.record_campaign_reading(self._source.id, glance.told_id, failed)

    async def _read(self, glance: CampaignGlance) -> ImportOutcome:
        began = self._ports.clock.now()
        told = await self._tool.results(self._source, glance)
        async with self._ports.store.transaction(self._source.company_id) as transaction:
            known = await transaction.campaign_by_external_id(told.campaign.external_id)
            if known is not None and is_another(known, told.campaign):
                raise ValidationFailed([_ANOTHER])
            outcome = await take_in(self._ports, transaction, _Payload(told))
        # After the commit: what is read twice does no harm, what is never read would.
        reading = CampaignReading(digest=glance.digest, read_at=began, left_out=outcome.summary.failed)
        await self._ports.sources.record_campaign_reading(self._source.id, glance.told_id, reading)
        return outcome


def _failed(outcome: SyncedSource, error: str) -> SyncedSource:
    return attrs.evolve(outcome, errors=[*outcome.errors, error])


def _added(outcome: SyncedSource, glance: CampaignGlance, imported: ImportOutcome) -> SyncedSource:
    left_out = [
        LeftOut(told_id=glance.told_id, campaign=glance.telling.name, fault=fault)
        for failure in imported.failures[:MAX_LEFT_OUT]
        for fault in failure.faults
    ]
    return attrs.evolve(
        outcome,
        read=outcome.read + 1,
        new_events=outcome.new_events + imported.summary.new,
        failed_lines=outcome.failed_lines + imported.summary.failed,
        left_out=[*outcome.left_out, *left_out][:MAX_LEFT_OUT],
    )
