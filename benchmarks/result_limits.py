"""The limits of campaign results: one page of counters read by the raw driver, and events written by it.

No rule, no verdict, no recipient, no answer. Run as a module it is one measurement.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import asyncpg

from awareness_core.campaigns import CampaignId
from awareness_sql.result_rows import CAMPAIGN_COLUMNS, event_row
from awareness_sql.tables import campaign_events
from benchmarks.apart import Taken, tell
from benchmarks.taking_in import told_campaigns

_PAGES = 1000
_PAGE_COLUMNS = ", ".join(column.name for column in CAMPAIGN_COLUMNS)
_EVENT_COLUMNS = [column.name for column in campaign_events.columns]
_NEW_CAMPAIGN = (
    "INSERT INTO campaigns (company_id, id, name, state, created_at, listed_at, total, sent, opened, clicked, "
    "submitted, reported, errors, machine) VALUES ($1, $2, 'Campaign', 'running', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)"
)


def page_query(state: str) -> str:
    """The page of 20 campaigns of a company from an offset on, the latest first, each with how many there are in all.

    Of one state, or of any for ''.
    """
    wanted = (
        f"FROM campaigns WHERE company_id = $1 AND listed_at BETWEEN 0 AND $2{state and ' AND state = $4'}"
    )
    return (
        f"SELECT {_PAGE_COLUMNS}, (SELECT count(*) {wanted}) {wanted} "
        "ORDER BY listed_at DESC, id DESC LIMIT 20 OFFSET $3"
    )


def sqlite_page(path: str, company_id: str, offset: str, state: str) -> Taken:
    """The median time of reading a page."""
    connection = sqlite3.connect(path)
    query = page_query(state).replace("$", "?")
    arguments = [company_id, 2**52, int(offset), *([state] if state else [])]
    walls = []
    cpu = time.process_time()
    for _ in range(_PAGES):
        began = time.perf_counter()
        connection.execute(query, arguments).fetchall()
        walls.append(time.perf_counter() - began)
    return Taken(median(walls), (time.process_time() - cpu) / _PAGES)


def postgres_page(url: str, company_id: str, offset: str, state: str) -> Taken:
    """The same."""

    async def read() -> Taken:
        connection = await asyncpg.connect(url)
        query = page_query(state)
        arguments = [company_id, 2**52, int(offset), *([state] if state else [])]
        walls = []
        cpu = time.process_time()
        for _ in range(_PAGES):
            began = time.perf_counter()
            await connection.fetch(query, *arguments)
            walls.append(time.perf_counter() - began)
        return Taken(median(walls), (time.process_time() - cpu) / _PAGES)

    return asyncio.run(read())


def sqlite_events(path: str, company_id: str, *counts: str) -> Taken:
    """INSERT every event into the indexed table, in one durable transaction."""
    rows = _rows(company_id, counts)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    for campaign_id in _campaign_ids(counts):
        connection.execute(_NEW_CAMPAIGN.replace("$", "?"), (company_id, campaign_id))
    insert = (
        f"INSERT INTO campaign_events ({', '.join(_EVENT_COLUMNS)}) "
        f"VALUES ({', '.join('?' * len(_EVENT_COLUMNS))})"
    )
    began, cpu = time.perf_counter(), time.process_time()
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(insert, rows)
    connection.execute("COMMIT")
    return Taken(time.perf_counter() - began, time.process_time() - cpu)


def postgres_events(url: str, company_id: str, *counts: str) -> Taken:
    """COPY every event into the indexed table, in one transaction."""
    rows = _rows(company_id, counts)

    async def copy() -> Taken:
        connection = await asyncpg.connect(url)
        await connection.executemany(
            _NEW_CAMPAIGN, [(company_id, campaign_id) for campaign_id in _campaign_ids(counts)]
        )
        began, cpu = time.perf_counter(), time.process_time()
        await connection.copy_records_to_table("campaign_events", records=rows, columns=_EVENT_COLUMNS)
        return Taken(time.perf_counter() - began, time.process_time() - cpu)

    return asyncio.run(copy())


LIMITS: dict[str, Callable[..., Taken]] = {
    "sqlite-page": sqlite_page,
    "postgres-page": postgres_page,
    "sqlite-events": sqlite_events,
    "postgres-events": postgres_events,
}


def _rows(company_id: str, counts: Sequence[str]) -> list[tuple[Any, ...]]:
    campaigns, people, events = map(int, counts)
    told = told_campaigns(campaigns, people=people, events=events)
    return [
        tuple(
            {"company_id": company_id, **event_row(CampaignId(campaign_id), line.event)}[name]
            for name in _EVENT_COLUMNS
        )
        for campaign_id, campaign in zip(_campaign_ids(counts), told, strict=True)
        for line in campaign.tellings
    ]


def _campaign_ids(counts: Sequence[str]) -> list[str]:
    return [f"{number:036}" for number in range(int(counts[0]))]


def main(arguments: Sequence[str]) -> None:
    """Measure once."""
    what, *rest = arguments
    tell(LIMITS[what](*rest))


if __name__ == "__main__":
    main(sys.argv[1:])
