"""Sources in a database: an operator's business, like companies and keys, in transactions that are no tenant's."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, null, or_, select, update

from awareness_core.errors import NotFound, StoreUnavailable
from awareness_core.sources import CampaignReading, Source, SourceId
from awareness_core.tenants import CompanyId
from awareness_sql.engine import NO_PARAMETERS, Connection, Database
from awareness_sql.rows import Row, milliseconds_from
from awareness_sql.source_rows import (
    READING_COLUMNS,
    SOURCE_COLUMNS,
    reading_from_row,
    reading_row,
    source_from_row,
    source_row,
)
from awareness_sql.storable import is_storable
from awareness_sql.tables import companies, source_readings, sources

_log = logging.getLogger(__name__)

_COMPANY = select(companies.c.id).where(companies.c.id == bindparam("company_id"))
_NEW = insert(sources)
_THIS = sources.c.id == bindparam("source_id")
_ALL = select(*SOURCE_COLUMNS).order_by(sources.c.created_at, sources.c.id)
_OF_COMPANY = _ALL.where(sources.c.company_id == bindparam("company_id"))
_ONE = select(*SOURCE_COLUMNS).where(_THIS)
_GONE = delete(sources).where(_THIS)
_RESALTED = update(sources).where(_THIS).values(salt=bindparam("new_salt"))
_IS_HELD = sources.c.holder == bindparam("by")
_CLAIMED = (
    update(sources)
    .where(_THIS, or_(sources.c.holder.is_(None), _IS_HELD, sources.c.held_until <= bindparam("now")))
    .values(holder=bindparam("by"), held_until=bindparam("until"))
)
_LET_GO = {"polled_at": bindparam("now"), "holder": null(), "held_until": null()}
_WENT_WELL = update(sources).where(_THIS, _IS_HELD).values(**_LET_GO, ok_at=bindparam("now"), error=null())
_WENT_WRONG = update(sources).where(_THIS, _IS_HELD).values(**_LET_GO, error=bindparam("what"))
_WANTED = update(sources).where(_THIS).values(wanted_at=bindparam("now"))
_FORGED = update(sources).where(_THIS).values(forged=sources.c.forged + bindparam("more"))

_READINGS = select(*READING_COLUMNS).where(source_readings.c.source_id == bindparam("source_id"))
_NEW_READING = insert(source_readings)
_UNREAD = delete(source_readings).where(source_readings.c.source_id == bindparam("source_id"))
_CHANGED_READING = (
    update(source_readings)
    .where(
        source_readings.c.source_id == bindparam("of_source"),
        source_readings.c.told_id == bindparam("of_told"),
    )
    .values(digest=bindparam("digest"), read_at=bindparam("read_at"), left_out=bindparam("left_out"))
)


class SqlSources:
    """`Sources` in a database. Forgeries are counted behind the caller's back, many in one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._forged: Counter[SourceId] = Counter()
        self._writing: asyncio.Task[None] | None = None

    async def add_source(self, source: Source) -> None:
        """See `Sources`. Raises `ConstraintViolated` for an id that exists, too."""
        async with self._database.writing(None) as connection:
            if not await connection.fetch(_COMPANY, {"company_id": source.company_id}, _first):
                raise NotFound("No such company.")
            await connection.run(_NEW, source_row(source))

    async def find_source(self, source_id: SourceId) -> Source | None:
        """See `Sources`."""
        if not is_storable(source_id):
            return None
        async with self._database.reading(None) as connection:
            return await _found(connection, source_id)

    async def list_sources(self, company_id: CompanyId | None = None) -> Sequence[Source]:
        """See `Sources`. Forgeries that this process has yet to write are written before."""
        await self.close()
        async with self._database.reading(None) as connection:
            if company_id is None:
                return await connection.fetch(_ALL, NO_PARAMETERS, source_from_row)
            return await connection.fetch(_OF_COMPANY, {"company_id": company_id}, source_from_row)

    async def remove_source(self, source_id: SourceId) -> bool:
        """See `Sources`."""
        async with self._database.writing(None) as connection:
            await connection.run(_UNREAD, {"source_id": source_id})
            return bool(await connection.run(_GONE, {"source_id": source_id}))

    async def resalt_source(self, source_id: SourceId, salt: bytes) -> bool:
        """See `Sources`."""
        async with self._database.writing(None) as connection:
            return bool(await connection.run(_RESALTED, {"source_id": source_id, "new_salt": salt}))

    async def claim_source(self, source_id: SourceId, *, holder: str, at: datetime, until: datetime) -> bool:
        """See `Sources`. One statement, so that of two at the same moment one finds it taken."""
        parameters = {
            "source_id": source_id,
            "by": holder,
            "now": milliseconds_from(at),
            "until": milliseconds_from(until),
        }
        async with self._database.writing(None) as connection:
            return bool(await connection.run(_CLAIMED, parameters))

    async def record_poll(self, source_id: SourceId, *, holder: str, at: datetime, error: str | None) -> None:
        """See `Sources`."""
        parameters = {"source_id": source_id, "by": holder, "now": milliseconds_from(at)}
        async with self._database.writing(None) as connection:
            if error is None:
                await connection.run(_WENT_WELL, parameters)
            else:
                await connection.run(_WENT_WRONG, {**parameters, "what": error})

    async def want_poll(self, source_id: SourceId, *, at: datetime) -> None:
        """See `Sources`."""
        async with self._database.writing(None) as connection:
            await connection.run(_WANTED, {"source_id": source_id, "now": milliseconds_from(at)})

    async def count_forgery(self, source_id: SourceId) -> None:
        """See `Sources`. Never waits, and never fails; nothing for a source that does not exist."""
        self._forged[source_id] += 1
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write_forged())

    async def campaign_readings(self, source_id: SourceId) -> Mapping[str, CampaignReading]:
        """See `Sources`."""
        async with self._database.reading(None) as connection:
            return dict(await connection.fetch(_READINGS, {"source_id": source_id}, reading_from_row))

    async def record_campaign_reading(
        self, source_id: SourceId, told_id: str, reading: CampaignReading
    ) -> None:
        """See `Sources`."""
        async with self._database.writing(None) as connection:
            source = await _found(connection, source_id)
            if source is None:
                return
            row = reading_row(source, told_id, reading)
            changed = {
                "of_source": source_id,
                "of_told": told_id,
                "digest": row["digest"],
                "read_at": row["read_at"],
                "left_out": row["left_out"],
            }
            if not await connection.run(_CHANGED_READING, changed):
                await connection.run(_NEW_READING, row)

    async def close(self) -> None:
        """Write what is remembered."""
        if self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])

    async def _write_forged(self) -> None:
        while self._forged:
            written, self._forged = self._forged, Counter()
            rows = [{"source_id": source_id, "more": count} for source_id, count in written.items()]
            try:
                async with self._database.writing(None) as connection:
                    await connection.run_many(_FORGED, rows)
            except StoreUnavailable as error:
                self._forged += written
                _log.warning("%d forged notices are not counted yet: %s", sum(written.values()), error)
                return


async def _found(connection: Connection, source_id: SourceId) -> Source | None:
    found = await connection.fetch(_ONE, {"source_id": source_id}, source_from_row)
    return found[0] if found else None


def _first(row: Row) -> str:
    return str(row[0])
