"""Sources in memory: the meaning that other stores copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import attrs

from awareness_core.errors import ConstraintViolated, NotFound
from awareness_core.sources import CampaignReading, Source, SourceId
from awareness_core.tenants import CompanyId
from awareness_core.texts import folded_name
from awareness_memory.store import MemoryStore


@attrs.frozen
class _Lease:
    holder: str
    until: datetime


class MemorySources:
    """`Sources` of the companies in `store`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._sources: dict[SourceId, Source] = {}
        self._leases: dict[SourceId, _Lease] = {}
        self._readings: dict[SourceId, dict[str, CampaignReading]] = {}

    async def add_source(self, source: Source) -> None:
        """See `Sources`. Raises `ConstraintViolated` for an id that exists, too."""
        if source.company_id not in {company.id for company in await self._store.list_companies()}:
            raise NotFound("No such company.")
        names = {folded_name(known.name) for known in await self.list_sources(source.company_id)}
        if source.id in self._sources or folded_name(source.name) in names:
            raise ConstraintViolated("A source of that id or name exists already.")
        self._sources[source.id] = source

    async def find_source(self, source_id: SourceId) -> Source | None:
        """See `Sources`."""
        return self._sources.get(source_id)

    async def list_sources(self, company_id: CompanyId | None = None) -> Sequence[Source]:
        """See `Sources`."""
        found = (one for one in self._sources.values() if company_id in {None, one.company_id})
        return sorted(found, key=lambda source: (source.created_at, source.id))

    async def remove_source(self, source_id: SourceId) -> bool:
        """See `Sources`."""
        self._leases.pop(source_id, None)
        self._readings.pop(source_id, None)
        return self._sources.pop(source_id, None) is not None

    async def resalt_source(self, source_id: SourceId, salt: bytes) -> bool:
        """See `Sources`."""
        return self._change(source_id, salt=salt)

    async def claim_source(self, source_id: SourceId, *, holder: str, at: datetime, until: datetime) -> bool:
        """See `Sources`."""
        lease = self._leases.get(source_id)
        is_free = lease is None or lease.holder == holder or lease.until <= at
        if source_id not in self._sources or not is_free:
            return False
        self._leases[source_id] = _Lease(holder, until)
        return self._change(source_id, held_until=until)

    async def record_poll(self, source_id: SourceId, *, holder: str, at: datetime, error: str | None) -> None:
        """See `Sources`."""
        lease = self._leases.get(source_id)
        if lease is not None and lease.holder == holder:
            del self._leases[source_id]
            ok = {} if error is not None else {"ok_at": at}
            self._change(source_id, polled_at=at, error=error, held_until=None, **ok)

    async def want_poll(self, source_id: SourceId, *, at: datetime) -> None:
        """See `Sources`."""
        self._change(source_id, wanted_at=at)

    async def count_forgery(self, source_id: SourceId) -> None:
        """See `Sources`."""
        source = self._sources.get(source_id)
        if source is not None:
            self._change(source_id, forged=source.forged + 1)

    async def campaign_readings(self, source_id: SourceId) -> Mapping[str, CampaignReading]:
        """See `Sources`."""
        return dict(self._readings.get(source_id, {}))

    async def record_campaign_reading(
        self, source_id: SourceId, told_id: str, reading: CampaignReading
    ) -> None:
        """See `Sources`."""
        if source_id in self._sources:
            self._readings.setdefault(source_id, {})[told_id] = reading

    def _change(self, source_id: SourceId, **changes: object) -> bool:
        source = self._sources.get(source_id)
        if source is None:
            return False
        self._sources[source_id] = attrs.evolve(source, **changes)  # type: ignore[arg-type]  # each by its own name
        return True
