"""A CSV of events from any tool, as results of one campaign.

Encoding, delimiter and quoting are found out as those of rosters; columns are known by their names. The campaign itself
is not in such a file, so it is an argument. A row that cannot be read is told in its place and spoils no other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from awareness_core.campaigns import CampaignTelling
from awareness_core.emails import EmailKey
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.kpis import Step
from awareness_core.periods import spell_moment
from awareness_core.recipients import Recipient
from awareness_core.results_check import (
    EventTelling,
    RawCampaign,
    RawEvent,
    RefusedLine,
    check_campaign,
    check_event,
    check_recipient,
)
from awareness_core.results_plan import Line
from awareness_server.event_headers import (
    HEADERS,
    REQUIRED,
    STEP_WORDS,
    EventField,
    field_of,
    recognises,
    step_said,
)
from awareness_server.roster_csv import header_below, read_csv
from awareness_server.roster_table import RosterRow, RosterUnusable
from awareness_server.roster_text import decode_roster

_AT_ONCE: Final = 250
_EXAMPLES: Final = 6


@attrs.frozen(kw_only=True)
class EventFile:
    """A `ResultsPayload`. `places` tells where in the file each of its lines stands.

    `columns` are the names that are read, in the file's order, each with its field; `unread` are the others.
    """

    campaign: CampaignTelling
    lines: Sequence[Line]
    places: Sequence[str]
    encoding: str
    columns: Sequence[tuple[str, EventField]]
    unread: Sequence[str]
    rows: int

    async def batches(self) -> AsyncIterator[Sequence[Line]]:
        """See `ResultsPayload`."""
        for start in range(0, len(self.lines), _AT_ONCE):
            yield self.lines[start : start + _AT_ONCE]


def read_event_csv(
    data: bytes,
    campaign: RawCampaign,
    *,
    names: Mapping[str, str],
    encoding: str | None = None,
    delimiter: str | None = None,
) -> EventFile:
    """What the file holds of `campaign`, which begins with the first sending in it when its start is not told.

    Raises `RosterUnusable` for a file without the columns it needs, `ValidationFailed` when the campaign itself is
    wrong, speaking of its fields by `names`.
    """
    read = decode_roster(data, encoding=encoding)
    table = read_csv(read.text, recognises=recognises, delimiter=delimiter)
    try:
        positions = _positions(table.columns)
    except RosterUnusable as unusable:
        header = header_below(read.text, recognises=recognises)
        if header is None:
            raise
        message = f"line {header} looks like its header; delete what stands above it"
        raise RosterUnusable(message) from unusable
    if not table.rows:
        raise RosterUnusable("it has a header and nothing below it")
    reader = _RowReader(table.columns, positions)
    told = [(line, f"line {row.line}") for row in table.rows for line in reader.read(row)]
    lines = [line for line, _ in told]
    by_position = {position: field for field, position in positions.items()}
    return EventFile(
        campaign=check_campaign(
            attrs.evolve(campaign, starts_at=campaign.starts_at or _first_sending(lines)), names=names
        ),
        lines=lines,
        places=[place for _, place in told],
        encoding=read.encoding,
        columns=[(table.columns[position], by_position[position]) for position in sorted(by_position)],
        unread=[column for i, column in enumerate(table.columns) if column and i not in by_position],
        rows=len(table.rows),
    )


def _positions(columns: Sequence[str]) -> Mapping[EventField, int]:
    """Where each field is read from. Never by guess: a field that no column, or more than one, could mean is told."""
    candidates: defaultdict[EventField, list[int]] = defaultdict(list)
    for position, column in enumerate(columns):
        field = field_of(column)
        if field is not None:
            candidates[field].append(position)
    absent = [field for field in REQUIRED if field not in candidates]
    rivals = [(field, found) for field, found in candidates.items() if len(found) > 1]
    problems = [
        f"{_ambiguity(field, [columns[i] for i in found])}; rename all but one" for field, found in rivals
    ]
    if absent:
        lacking = ", ".join(f"'{HEADERS[field][0]}'" for field in absent)
        problems.insert(0, f"as a CSV of events it lacks the column{'s' * (len(absent) > 1)} {lacking}")
    if problems:
        raise RosterUnusable(
            "; ".join(problems), hints=[_columns_found(columns), *(_headers_known(field) for field in absent)]
        )
    return {field: found[0] for field, found in candidates.items()}


class _RowReader:
    """Makes lines of the rows of one file, whose columns have been chosen."""

    def __init__(self, columns: Sequence[str], positions: Mapping[EventField, int]) -> None:
        self._positions = positions
        self._names = {field.value: columns[position] for field, position in positions.items()}
        self._known: set[tuple[EmailKey, str | None]] = set()

    def read(self, row: RosterRow) -> Iterator[Line]:
        """Yield what the row tells: an event, a recipient, or both; or all that is wrong with it."""
        if row.problem is not None:
            # What its cells hold may be another's.
            yield RefusedLine(faults=(Fault(field="", code="unreadable", message=row.problem),))
            return
        texts = {field: str(row.values[position]) or None for field, position in self._positions.items()}
        faults: dict[str, Fault] = {}
        told: list[Line | None] = []
        if texts[EventField.STEP] is None or texts.get(EventField.EXTERNAL_ID) is not None:
            told.append(self._recipient(texts, faults))
        if texts[EventField.STEP] is not None:
            told.append(self._event(texts, faults))
        if faults:
            yield RefusedLine(faults=tuple(faults.values()))
            return
        yield from (line for line in told if line is not None)

    def _event(self, texts: Mapping[EventField, str | None], faults: dict[str, Fault]) -> EventTelling | None:
        word = texts[EventField.STEP] or ""
        step = step_said(word)
        if step is None:
            _note(faults, [self._unknown_step(word)])
        raw = RawEvent(
            email=texts[EventField.EMAIL] or "",
            # With an unknown one the other fields are checked all the same, so that all is told at once.
            step=step or Step.SENT,
            at=texts[EventField.AT] or "",
            id=texts.get(EventField.ID),
            address=texts.get(EventField.ADDRESS),
            user_agent=texts.get(EventField.USER_AGENT),
            method=texts.get(EventField.METHOD),
        )
        try:
            return check_event(raw, names=self._names)
        except ValidationFailed as refusal:
            _note(faults, refusal.faults)
            return None

    def _recipient(
        self, texts: Mapping[EventField, str | None], faults: dict[str, Fault]
    ) -> Recipient | None:
        """The recipient that the row tells of; None also when a row above told as much."""
        email, external_id = texts[EventField.EMAIL] or "", texts.get(EventField.EXTERNAL_ID)
        try:
            recipient = check_recipient(email, external_id, names=self._names)
        except ValidationFailed as refusal:
            _note(faults, refusal.faults)
            return None
        told = (recipient.email.key, recipient.external_id)
        is_known = told in self._known
        self._known.add(told)
        return None if is_known else recipient

    def _unknown_step(self, word: str) -> Fault:
        message = f"'{word}' must be one of {', '.join(STEP_WORDS)}; empty for somebody only targeted"
        return Fault(field=self._names[EventField.STEP.value], code="unknown_value", message=message)


def _note(faults: dict[str, Fault], found: Iterable[Fault]) -> None:
    """Add them, each field's first: an address is checked for the event and for its recipient."""
    for fault in found:
        faults.setdefault(fault.field, fault)


def _first_sending(lines: Iterable[Line]) -> str | None:
    sent = [
        line.event.at for line in lines if isinstance(line, EventTelling) and line.event.step is Step.SENT
    ]
    return spell_moment(min(sent)) if sent else None


def _ambiguity(field: EventField, names: Sequence[str]) -> str:
    if len(set(names)) == 1:
        return f"{len(names)} columns are named '{names[0]}'"
    return f"{' and '.join(map(repr, names))} could each be the column '{HEADERS[field][0]}'"


def _columns_found(columns: Sequence[str]) -> str:
    named = [f"'{column}'" for column in columns if column]
    return f"Columns found: {', '.join(named) or 'none with a name'}"


def _headers_known(field: EventField) -> str:
    headers = HEADERS[field]
    examples = ", ".join(f"'{header}'" for header in headers[1 : _EXAMPLES + 1])
    more = " and others" if len(headers) > _EXAMPLES + 1 else ""
    return f"Recognised as '{headers[0]}' too: {examples}{more}"
