"""Years of results in minutes: one campaign is taken in as the service does it, and its rows are copied in SQL.

Each copy has another id, another name and all moments so many minutes later; the keys of the events are of their ids,
which campaigns may share. So every row, counter and verdict is what the service would have written, but for who is tied
to whom: the people are nobody's employees.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

import attrs
from sqlalchemy import Table

from awareness_core.campaigns import CampaignState
from awareness_core.identifiers import UUID7_ENTROPY_BYTES, uuid7
from awareness_sql.tables import campaign_events, campaigns, recipients
from benchmarks.stores import Backend, World
from benchmarks.taking_in import take_in, told_campaigns
from benchmarks.tellings import STARTED

CAMPAIGNS: Final = 2000
_EVENTS_A_RECIPIENT: Final = 2.5
_BYTES_AN_EVENT: Final = 3000
"""With its indexes, its share of a recipient, and the log of the writing of all that."""

_STATES: Final = tuple(CampaignState)
_EVERY: Final = timedelta(minutes=300)
_MOMENTS = {"created_at", "starts_at", "ends_at", "listed_at", "at"} | {
    f"{step}_at" for step in ("sent", "opened", "clicked", "submitted", "reported", "error")
}


def history_that_fits(events: int) -> int:
    """`events`, or as many as there is disk for."""
    free = shutil.disk_usage(tempfile.gettempdir()).free // _BYTES_AN_EVENT
    return min(events, free // CAMPAIGNS * CAMPAIGNS)


def write_history(backend: Backend, world: World, events: int) -> None:
    """`CAMPAIGNS` campaigns that have so many events together."""
    each = events // CAMPAIGNS
    people = int(each / _EVENTS_A_RECIPIENT)
    asyncio.run(take_in(world.url, world.company_id, told_campaigns(1, people=people, events=each)))
    copies = list(_copies())
    moved = [(copy.id, copy.shift) for copy in copies]
    named = [(copy.id, copy.shift, copy.external_id, copy.name, copy.state) for copy in copies]
    copied = ((campaigns, named), (recipients, moved), (campaign_events, moved))
    backend.write(
        world,
        [(_first(table), [()]) for table, _ in copied]
        + [(_copying(table), values) for table, values in copied],
    )


@attrs.frozen(kw_only=True)
class _Copy:
    """A campaign; `shift` is in milliseconds."""

    id: str
    shift: int
    external_id: str
    name: str
    state: str


def _copies() -> Iterator[_Copy]:
    for number in range(1, CAMPAIGNS):
        shift = number * _EVERY
        yield _Copy(
            id=uuid7(at=STARTED + shift, entropy=number.to_bytes(UUID7_ENTROPY_BYTES)),
            shift=shift // timedelta(milliseconds=1),
            external_id=f"campaign-{number}",
            name=f"Campaign {number}",
            state=_STATES[number % len(_STATES)].value,
        )


def _first(table: Table) -> str:
    """Put the rows of the first campaign where they are found without any index."""
    whose = "id" if table is campaigns else "campaign_id"
    return (
        f"CREATE TEMPORARY TABLE first_{table.name} AS SELECT * FROM {table.name} "
        f"WHERE {whose} = (SELECT id FROM campaigns WHERE external_id = 'campaign-0')"
    )


def _copying(table: Table) -> str:
    """INSERT them again, as those of another campaign."""
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    values = ", ".join(_value(table, column.name) for column in table.columns)
    return f"INSERT INTO {table.name} ({columns}) SELECT {values} FROM first_{table.name}"


def _value(table: Table, column: str) -> str:
    replaced = {
        **dict.fromkeys(("id", "campaign_id"), "$1"),
        **dict.fromkeys(_MOMENTS, f"{column} + $2"),
        # As `campaign_events.place_of` spells it; a shift is whole minutes.
        "place": "address || ' ' || ((at + $2) / 60000)",
        "name": "$4",
        "state": "$5",
    }
    if table is campaigns:
        replaced["external_id"] = "$3"
    return replaced.get(column, column)
