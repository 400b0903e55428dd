"""What a file of results is, and its reading as a payload that knows where in the file its lines stand.

The content decides, never the file's name. Reads no row itself: the tools' own adapters, the HTTP wire and `event_csv`
do.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Protocol

import attrs

from awareness_core.campaigns import CampaignState
from awareness_core.errors import ValidationFailed
from awareness_core.periods import spell_moment
from awareness_core.results_check import RawCampaign
from awareness_core.results_intake import LineFailure, ResultsPayload
from awareness_gophish import Export, ExportUnusable, is_export, read_export
from awareness_http.result_lines import JsonResults, LineResults
from awareness_server.cli.output import say
from awareness_server.cli.plain_text import count_of, folded, shown
from awareness_server.event_csv import EventFile, read_event_csv
from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.roster_csv import parse_delimiter
from awareness_server.roster_table import RosterUnusable
from awareness_server.roster_text import read_roster_file

_OPTIONS = {
    "external_id": "--external-id",
    "name": "--name",
    "starts_at": "--start",
    "ends_at": "--end",
    "state": "--status",
    "encoding": "--encoding",
    "delimiter": "--delimiter",
}


@attrs.frozen(kw_only=True)
class Said:
    """What the caller says of a campaign and its file; None is for what is not said."""

    name: str | None = None
    external_id: str | None = None
    state: CampaignState | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    encoding: str | None = None
    delimiter: str | None = None


@attrs.frozen(kw_only=True)
class Failure:
    """One fault of a line, and where in the file that is."""

    place: str
    message: str
    code: str


class Told(Protocol):
    """A payload that knows where in the file its lines stand."""

    @property
    def payload(self) -> ResultsPayload:
        """What the file tells."""

    def failures(self, failures: Iterable[LineFailure]) -> Iterator[Failure]:
        """These failures by their place in the file."""


def read_file(file: Path, said: Said, opened: ExitStack) -> Told:
    """Read `file`; what stays open meanwhile is closed with `opened`. Raises `CommandFailed` when it is no result."""
    try:
        data = read_roster_file(file)
        if _is_web_page(data):
            raise unusable_file(
                file,
                "a web page, and no results",
                "Was it saved while logged out? Save what the tool exports: JSON or CSV.",
            )
        told = _told_whole(file, data, said, opened)
        if told is None:
            return _read_events(file, data, said)
    except RosterUnusable as unusable:
        raise unusable_file(file, unusable.message, *unusable.hints) from unusable
    except (ExportUnusable, ValidationFailed) as unusable:
        raise unusable_file(file, str(unusable)) from unusable
    taken = {"name", "external_id"} if isinstance(told, _Placed) else {"name"}
    _refuse_what_the_file_says(file, said, taken)
    return told


def unusable_file(file: Path, message: str, *hints: str) -> CommandFailed:
    """The refusal of a file as it is."""
    return CommandFailed(shown(f"{file}: {message}"), ExitCode.USAGE, details=tuple(map(shown, hints)))


def _told_whole(file: Path, data: bytes, said: Said, opened: ExitStack) -> Told | None:
    """What a file tells that holds its campaign too; None for any other."""
    if _is_lines(data):
        lines = opened.enter_context(LineResults())
        lines.feed(data)
        lines.finish()
        return _Ours(lines)
    if _is_ours(data):
        return _Ours(JsonResults(data))
    if is_export(data):
        return _Placed(
            read_export(
                data,
                name=said.name or file.stem,
                is_name_guessed=said.name is None,
                external_id=said.external_id,
            )
        )
    return None


def _read_events(file: Path, data: bytes, said: Said) -> Told:
    campaign = RawCampaign(
        external_id=file.stem if said.external_id is None else said.external_id,
        name=file.stem if said.name is None else said.name,
        is_name_guessed=said.name is None,
        # The file does not say; a later telling may.
        state=said.state or CampaignState.RUNNING,
        is_state_guessed=said.state is None,
        starts_at=None if said.starts_at is None else spell_moment(said.starts_at),
        ends_at=None if said.ends_at is None else spell_moment(said.ends_at),
    )
    delimiter = None if said.delimiter is None else parse_delimiter(said.delimiter)
    read = read_event_csv(data, campaign, names=_OPTIONS, encoding=said.encoding, delimiter=delimiter)
    say(shown(f"{file.name}: events in {read.encoding}, {count_of(read.rows, 'row', 'rows')}"))
    columns = ", ".join(f"{column} → {field.value}" for column, field in read.columns)
    say(folded(shown(f"Read: {columns}")))
    if read.unread:
        say(folded(shown(f"Ignored: {', '.join(read.unread)}")))
    return _Placed(read)


def _refuse_what_the_file_says(file: Path, said: Said, taken: Collection[str]) -> None:
    """What such a file says itself nobody else may: it would be passed over."""
    given = [
        option
        for field, option in _OPTIONS.items()
        if field not in taken and getattr(said, field) is not None
    ]
    if given:
        raise unusable_file(file, f"{' and '.join(given)}: only for a CSV of events, which this file is not")


@attrs.frozen
class _Ours:
    payload: JsonResults | LineResults

    def failures(self, failures: Iterable[LineFailure]) -> Iterator[Failure]:
        for error in self.payload.errors(failures):
            yield Failure(place=error.field, message=error.message, code=error.code)


@attrs.frozen
class _Placed:
    payload: Export | EventFile

    def failures(self, failures: Iterable[LineFailure]) -> Iterator[Failure]:
        for failure in failures:
            for fault in failure.faults:
                place = f"{self.payload.places[failure.index]} {fault.field}".rstrip()
                yield Failure(place=place, message=fault.message, code=fault.code)


def _is_web_page(data: bytes) -> bool:
    start = data[:512].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    return start.startswith((b"<!doctype", b"<html", b"<head", b"<body"))


def _is_lines(data: bytes) -> bool:
    """Whether the first line is a campaign and nothing else, and more lines follow."""
    first, _, rest = data.lstrip().partition(b"\n")
    return bool(rest.strip()) and _names(first) == {"campaign"}


def _is_ours(data: bytes) -> bool:
    return "campaign" in _names(data)


def _names(data: bytes) -> frozenset[str]:
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(told) if isinstance(told, dict) else frozenset()
