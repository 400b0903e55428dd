"""What the core asks of the outside world about sources: where they are kept, and the tools that they name.

A part of `ports`, which says what holds for every port.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

import attrs

from awareness_core.campaigns import CampaignTelling
from awareness_core.results_plan import Line
from awareness_core.sources import CampaignGlance, CampaignReading, Source, SourceId
from awareness_core.tenants import CompanyId


class Sources(Protocol):
    """The sources of all companies: a notice comes in before it is known whose it is."""

    async def add_source(self, source: Source) -> None:
        """Store a new source.

        Raises `NotFound` when its company does not exist, `ConstraintViolated` when another source of the company has
        the name (compared by `folded_name`).
        """

    async def find_source(self, source_id: SourceId) -> Source | None:
        """The source of that id."""

    async def list_sources(self, company_id: CompanyId | None = None) -> Sequence[Source]:
        """The sources of one company, or of all; oldest first, then by id."""

    async def remove_source(self, source_id: SourceId) -> bool:
        """Forget it and what was read of it; campaigns stay. False when there is no such source."""

    async def resalt_source(self, source_id: SourceId, salt: bytes) -> bool:
        """Give it another salt. False when there is no such source."""

    async def claim_source(self, source_id: SourceId, *, holder: str, at: datetime, until: datetime) -> bool:
        """Make it `holder`'s to poll until then, or keep it so. False when at `at` it is another's, or not there."""

    async def record_poll(self, source_id: SourceId, *, holder: str, at: datetime, error: str | None) -> None:
        """Note how a poll ended, and let go of it. Nothing when it is not `holder`'s any more."""

    async def want_poll(self, source_id: SourceId, *, at: datetime) -> None:
        """Note that a poll was asked for."""

    async def count_forgery(self, source_id: SourceId) -> None:
        """One more notice with a bad signature. May be lost in a crash; never waits for a disk."""

    async def campaign_readings(self, source_id: SourceId) -> Mapping[str, CampaignReading]:
        """What was read of its campaigns, by the tool's own id."""

    async def record_campaign_reading(
        self, source_id: SourceId, told_id: str, reading: CampaignReading
    ) -> None:
        """Note that a campaign was read. Nothing when there is no such source."""


@attrs.frozen(kw_only=True)
class Notice:
    """What a tool's webhook tells. `told_id` is the campaign's, None in what old tools tell; `line` is what happened.

    `is_test` says that the tool only tried whether somebody listens. Without a line it tells of nothing that counts.
    """

    told_id: str | None = None
    line: Line | None = None
    is_test: bool = False


@attrs.frozen(kw_only=True)
class ToldCampaign:
    """All that a tool tells of a campaign. `campaign` holds of its dates what the lines bear out."""

    campaign: CampaignTelling
    lines: Sequence[Line]


class ResultTool(Protocol):
    """A tool that campaigns are run with. What it is asked for goes over the network, never inside a transaction."""

    async def api_key(self, source: Source) -> str:
        """The API key in the source's file. Raises `SourceUnavailable` when there is none."""

    async def glances(self, source: Source) -> Sequence[CampaignGlance]:
        """Every campaign, as the tool lists them. Raises `SourceUnavailable`."""

    async def results(self, source: Source, glance: CampaignGlance) -> ToldCampaign:
        """One campaign with all its recipients and events. Raises `SourceUnavailable`.

        What of its dates cannot be is among the lines that cannot be read. The faults of such a line name it as the
        tool does, like `timeline[3].time`.
        """

    def read_notice(self, body: bytes) -> Notice:
        """What the body of a notice says; its signature was checked. Raises `ValidationFailed`."""
