"""Between rows and values of sources; a part of `rows`."""

from __future__ import annotations

from awareness_core.sources import CampaignReading, Source, SourceKind
from awareness_core.texts import folded_name
from awareness_sql.rows import (
    Row,
    RowValues,
    milliseconds_from,
    moment_from,
    optional_milliseconds,
    optional_moment,
)
from awareness_sql.tables import source_readings, sources

SOURCE_COLUMNS = (
    sources.c.id,
    sources.c.company_id,
    sources.c.kind,
    sources.c.name,
    sources.c.url,
    sources.c.api_key_file,
    sources.c.salt,
    sources.c.created_at,
    sources.c.polled_at,
    sources.c.ok_at,
    sources.c.error,
    sources.c.wanted_at,
    sources.c.forged,
    sources.c.held_until,
)


def source_row(source: Source) -> RowValues:
    """All columns of `sources` of a source that nobody polls, the company's too: no tenant's transaction asks."""
    return {
        "id": source.id,
        "company_id": source.company_id,
        "kind": source.kind.value,
        "name": source.name,
        "name_key": folded_name(source.name),
        "url": source.url,
        "api_key_file": source.api_key_file,
        "salt": source.salt,
        "created_at": milliseconds_from(source.created_at),
        "polled_at": optional_milliseconds(source.polled_at),
        "ok_at": optional_milliseconds(source.ok_at),
        "error": source.error,
        "wanted_at": optional_milliseconds(source.wanted_at),
        "forged": source.forged,
        "holder": None,
        "held_until": None,
    }


def source_from_row(row: Row) -> Source:
    """The value of a row of `SOURCE_COLUMNS`."""
    (
        source_id,
        company_id,
        kind,
        name,
        url,
        file,
        salt,
        created_at,
        polled_at,
        ok_at,
        error,
        wanted_at,
        forged,
        held_until,
    ) = row
    return Source(
        id=source_id,
        company_id=company_id,
        kind=SourceKind(kind),
        name=name,
        url=url,
        api_key_file=file,
        salt=salt,
        created_at=moment_from(created_at),
        polled_at=optional_moment(polled_at),
        ok_at=optional_moment(ok_at),
        error=error,
        wanted_at=optional_moment(wanted_at),
        forged=forged,
        held_until=optional_moment(held_until),
    )


READING_COLUMNS = (
    source_readings.c.told_id,
    source_readings.c.digest,
    source_readings.c.read_at,
    source_readings.c.left_out,
)


def reading_row(source: Source, told_id: str, reading: CampaignReading) -> RowValues:
    """All columns of `source_readings`."""
    return {
        "company_id": source.company_id,
        "source_id": source.id,
        "told_id": told_id,
        "digest": reading.digest,
        "read_at": milliseconds_from(reading.read_at),
        "left_out": reading.left_out,
    }


def reading_from_row(row: Row) -> tuple[str, CampaignReading]:
    """The tool's id and the value of a row of `READING_COLUMNS`."""
    told_id, digest, read_at, left_out = row
    return told_id, CampaignReading(digest=digest, read_at=moment_from(read_at), left_out=left_out)
