"""All rows there are, by name, in the order of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.measuring import Row
from benchmarks.rows.directories import beside, growth, memory_of_sync, million, sync
from benchmarks.rows.downloads import download
from benchmarks.rows.ingest import hot, ingest
from benchmarks.rows.listing import campaigns
from benchmarks.rows.mailing import letters, mail
from benchmarks.rows.processes import memory, start
from benchmarks.rows.requests import create, ping, skip

ROWS: Final[Mapping[str, Row]] = {
    "ping": ping,
    "create": create,
    "skip": skip,
    "memory": memory,
    "start": start,
    "sync": sync,
    "beside": beside,
    "growth": growth,
    "sync-memory": memory_of_sync,
    "million": million,
    "campaigns": campaigns,
    "download": download,
    "ingest": ingest,
    "hot": hot,
    "letters": letters,
    "mail": mail,
}

WITHOUT_DATABASE: Final = frozenset({"letters"})
"""Measured once, whichever databases there are."""

LONG: Final = frozenset({"million"})
"""Take many minutes, so they are measured only when they are asked for."""
