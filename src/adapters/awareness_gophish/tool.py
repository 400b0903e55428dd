"""`ResultTool` for GoPhish: where the API key is read, and which answer becomes which values."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from awareness_core.errors import SourceUnavailable
from awareness_core.source_ports import Notice, ToldCampaign
from awareness_core.sources import CampaignGlance, Source
from awareness_gophish.client import GophishClient, Limits
from awareness_gophish.shapes import decode_notice
from awareness_gophish.translation import glance_of, notice_of, told_campaign

_LONGEST_KEY: Final = 1024
_DEFAULT_LIMITS: Final = Limits()


class GophishTool:
    """Reads any number of GoPhish servers. Keeps nothing between questions, so that a new key counts at once."""

    def __init__(self, limits: Limits = _DEFAULT_LIMITS) -> None:
        self._limits = limits

    async def api_key(self, source: Source) -> str:
        """See `ResultTool`."""
        return await asyncio.to_thread(_read_key, Path(source.api_key_file))

    async def glances(self, source: Source) -> Sequence[CampaignGlance]:
        """See `ResultTool`."""
        found = await (await self._client(source)).summaries()
        return [glance_of(source, summary) for summary in found.campaigns or ()]

    async def results(self, source: Source, glance: CampaignGlance) -> ToldCampaign:
        """See `ResultTool`."""
        found = await (await self._client(source)).results(glance.told_id)
        # Out of the event loop: a campaign may have a hundred thousand events.
        return await asyncio.to_thread(told_campaign, glance, found)

    def read_notice(self, body: bytes) -> Notice:
        """See `ResultTool`."""
        return notice_of(decode_notice(body))

    async def _client(self, source: Source) -> GophishClient:
        return GophishClient(source.url, await self.api_key(source), limits=self._limits)


def _read_key(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST_KEY + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SourceUnavailable(f"the file {path} with the API key cannot be read: {reason}") from None
    key = content.decode("ascii", "replace").strip()
    if not key or len(content) > _LONGEST_KEY or not key.isprintable() or not key.isascii() or " " in key:
        raise SourceUnavailable(f"the file {path} must hold the API key alone, on one line")
    return key
