"""What GoPhish tells of one campaign, as a file: the JSON of its API, or the raw events of its pages as CSV.

`GET /api/campaigns/{id}/results` has the recipients and the timeline; a whole campaign, which has its dates too, is
read alike, and the credentials in it are not looked at. The CSV has the timeline alone.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from typing import Final

import attrs

from awareness_core.campaigns import CampaignState, CampaignTelling
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.kpis import Step
from awareness_core.results_check import (
    EventTelling,
    RawCampaign,
    RefusedLine,
    check_campaign,
    check_recipient,
)
from awareness_core.results_plan import Line
from awareness_gophish.dates import DATES, believed, is_set
from awareness_gophish.states import STATES
from awareness_gophish.timeline import CREATED, read_event

_AT_ONCE: Final = 250
_FORMULA_STARTS: Final = ("'=", "'+", "'-", "'@")

_COLUMNS: Final = frozenset({"email", "time", "message", "details"})
_COLUMN_OF_RESULTS: Final = "send_date"
_DELIMITERS: Final = (",", ";", "\t")
"""GoPhish writes the first; a spreadsheet that saves a copy, what is usual where it runs."""

_LONGEST_HEADER: Final = 4096


class ExportUnusable(ValueError):
    """The file is none of these. The message says what would be."""


@attrs.frozen
class Export:
    """A `ResultsPayload`. `places` tells where in the file each of its lines stands."""

    campaign: CampaignTelling
    lines: Sequence[Line]
    places: Sequence[str]

    async def batches(self) -> AsyncIterator[Sequence[Line]]:
        """See `ResultsPayload`."""
        for start in range(0, len(self.lines), _AT_ONCE):
            yield self.lines[start : start + _AT_ONCE]


def is_export(data: bytes) -> bool:
    """Whether `data` begins as a file of GoPhish does: an object of JSON, or the columns of one of its two CSVs."""
    begin = data.removeprefix(codecs.BOM_UTF8).lstrip()
    if begin.startswith(b"{"):
        return True
    return _delimiter(begin[:_LONGEST_HEADER].decode("utf-8", "replace")) is not None


def read_export(
    data: bytes, *, name: str, is_name_guessed: bool = False, external_id: str | None = None
) -> Export:
    """What the file holds. `name` is what to call a campaign whose name is not in it, for want of a better one if that
    is guessed. `external_id` is what it is called here; by default its number says.

    Raises `ExportUnusable` for a file that is no export, `ValidationFailed` when the campaign itself is wrong.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ExportUnusable(f"not UTF-8: {error.reason} at byte {error.start}") from error
    if text.lstrip().startswith("{"):
        return _from_json(text, external_id)
    return _from_csv(text, name, is_name_guessed=is_name_guessed, external_id=external_id)


def _from_json(text: str, external_id: str | None) -> Export:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExportUnusable(f"not JSON: {error}") from error
    timeline, results = told.get("timeline"), told.get("results")
    if not isinstance(timeline, list) or not isinstance(results, list):
        raise ExportUnusable(
            "no results of GoPhish: expected an object with 'id', 'name', 'status', 'results' and 'timeline', "
            "as GET /api/campaigns/{id}/results answers"
        )
    state = STATES.get(str(told.get("status")))
    if state is None:
        known = ", ".join(STATES)
        raise ExportUnusable(f"'status' is none of GoPhish's ({known})")
    recipients = ((_read_recipient(result), f"results[{index}]") for index, result in enumerate(results))
    happened = [(read_event(event), f"timeline[{index}]") for index, event in enumerate(timeline)]
    return _export(
        RawCampaign(
            external_id=external_id or _external_id(told.get("id")),
            name=str(told.get("name") or "GoPhish"),
            state=state,
            created_at=_date(told.get("created_date")) or _created_at(timeline),
            starts_at=_date(told.get("launch_date")) or _first_sending(event for event, _ in happened),
            ends_at=_date(told.get("completed_date")),
        ),
        [*recipients, *happened],
    )


def _from_csv(text: str, name: str, *, is_name_guessed: bool, external_id: str | None) -> Export:
    delimiter = _delimiter(text.lstrip()[:_LONGEST_HEADER]) or ","
    reader = csv.DictReader(io.StringIO(text.lstrip(), newline=""), delimiter=delimiter, strict=True)
    try:
        columns = frozenset(reader.fieldnames or ())
        if _COLUMN_OF_RESULTS in columns:
            raise ExportUnusable(
                "these are results, which do not say when anything happened; export the raw events instead"
            )
        if not columns >= _COLUMNS:
            raise ExportUnusable(
                f"no raw events of GoPhish: expected the columns {', '.join(sorted(_COLUMNS))}"
            )
        rows = [{column: _unguarded(cell) for column, cell in row.items() if column} for row in reader]
    except csv.Error as error:
        raise ExportUnusable(f"not CSV: {error}") from error
    ids = {str(row["campaign_id"]) for row in rows if row.get("campaign_id")}
    if len(ids) > 1:
        raise ExportUnusable("holds the events of several campaigns; import one at a time")
    happened = [(read_event(row), f"row {number}") for number, row in enumerate(rows, start=2)]
    return _export(
        RawCampaign(
            external_id=external_id or f"gophish-{next(iter(ids), name)}",
            name=name,
            is_name_guessed=is_name_guessed,
            is_state_guessed=True,
            # The file does not say; a later telling may.
            state=CampaignState.RUNNING,
            created_at=_created_at(rows),
            starts_at=_first_sending(event for event, _ in happened),
        ),
        happened,
    )


def _delimiter(begin: str) -> str | None:
    """What stands between the columns of one of GoPhish's CSVs; None when the text begins as neither does."""
    header = next(iter(begin.splitlines()), "")
    for delimiter in _DELIMITERS:
        try:
            columns = frozenset(next(csv.reader([header], delimiter=delimiter), ()))
        except csv.Error:
            continue
        if columns >= _COLUMNS or _COLUMN_OF_RESULTS in columns:
            return delimiter
    return None


def _export(raw: RawCampaign, told: Sequence[tuple[Line | None, str]]) -> Export:
    kept = [(line, place) for line, place in told if line is not None]
    campaign, fault = believed(check_campaign(raw, names=DATES), [line for line, _ in kept])
    if fault is not None:
        kept.append((RefusedLine(faults=(fault,)), ""))
    return Export(campaign, [line for line, _ in kept], [place for _, place in kept])


def _external_id(campaign_id: object) -> str:
    if not isinstance(campaign_id, int) or isinstance(campaign_id, bool):
        raise ExportUnusable("'id' is no number, so the campaign cannot be told from others")
    return f"gophish-{campaign_id}"


def _read_recipient(result: object) -> Line:
    email = result.get("email") if isinstance(result, dict) else None
    if not isinstance(email, str):
        return RefusedLine(faults=(Fault(field="email", code="wrong_type", message="must be a text"),))
    try:
        return check_recipient(email, None, names={})
    except ValidationFailed as refusal:
        return RefusedLine(faults=refusal.faults)


def _date(told: object) -> str | None:
    return told if isinstance(told, str) and is_set(told) else None


def _created_at(timeline: Sequence[object]) -> str | None:
    times = (
        event.get("time") for event in timeline if isinstance(event, dict) and event.get("message") == CREATED
    )
    return next(map(_date, times), None)


def _first_sending(events: Iterator[Line | None]) -> str | None:
    sent = (one.event.at for one in events if isinstance(one, EventTelling) and one.event.step is Step.SENT)
    first: datetime | None = min(sent, default=None)
    return None if first is None else first.isoformat()


def _unguarded(cell: object) -> object:
    """GoPhish's pages put a quote before what a spreadsheet would run."""
    return cell[1:] if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell
