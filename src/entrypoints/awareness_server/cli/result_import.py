"""`awareness campaigns import`: find out what a file of results is, take it in, and tell what was left out.

Decides nothing about results. The content of the file decides how it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import attrs

from awareness_core.errors import ValidationFailed
from awareness_core.results_intake import ImportOutcome, LineFailure, ResultsPayload
from awareness_core.use_cases.import_results import import_results
from awareness_gophish import Export, ExportUnusable, read_export
from awareness_http.result_lines import JsonResults, LineResults
from awareness_server.cli.campaign_words import spell_campaign
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import progress_bar, say, write_json, write_text
from awareness_server.cli.plain_text import count_of, shown
from awareness_server.exit_codes import CommandFailed, ExitCode

_LINES_TOLD = 20


@attrs.frozen(kw_only=True)
class _Failure:
    place: str
    message: str
    code: str


class _Told(Protocol):
    """A payload that knows where in the file its lines stand."""

    @property
    def payload(self) -> ResultsPayload: ...

    def failures(self, failures: Iterable[LineFailure]) -> Iterator[_Failure]: ...


async def import_file(file: Path, *, company: str, name: str, as_json: bool) -> int:
    """Import `file` and print what came of it; the exit code tells whether something was left out.

    Raises `CommandFailed` when nothing was imported at all.
    """
    with ExitStack() as opened:
        told = _read(file, name, opened)
        async with open_ports() as ports:
            owner = await find_company(ports, company)
            try:
                with progress_bar("Importing", total=None):
                    outcome = await import_results(ports, owner.id, told.payload)
            except ValidationFailed as refusal:
                raise _unusable(file, refusal.message) from refusal
    failures = list(told.failures(outcome.failures))
    if as_json:
        _write_json(outcome, failures)
    else:
        _write(outcome, failures)
    return ExitCode.OK if outcome.is_ok else ExitCode.PARTIAL


def _read(file: Path, name: str, opened: ExitStack) -> _Told:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}") from error
    try:
        if _is_lines(data):
            lines = opened.enter_context(LineResults())
            lines.feed(data)
            lines.finish()
            return _Ours(lines)
        if _is_ours(data):
            return _Ours(JsonResults(data))
        return _Gophishs(read_export(data, name=name))
    except (ExportUnusable, ValidationFailed) as unusable:
        raise _unusable(file, str(unusable)) from unusable


@attrs.frozen
class _Ours:
    payload: JsonResults | LineResults

    def failures(self, failures: Iterable[LineFailure]) -> Iterator[_Failure]:
        for error in self.payload.errors(failures):
            yield _Failure(place=error.field, message=error.message, code=error.code)


@attrs.frozen
class _Gophishs:
    payload: Export

    def failures(self, failures: Iterable[LineFailure]) -> Iterator[_Failure]:
        for failure in failures:
            for fault in failure.faults:
                place = f"{self.payload.places[failure.index]} {fault.field}".rstrip()
                yield _Failure(place=place, message=fault.message, code=fault.code)


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


def _unusable(file: Path, message: str) -> CommandFailed:
    return CommandFailed(shown(f"{file}: {message}"), ExitCode.USAGE)


def _write_json(outcome: ImportOutcome, failures: Iterable[_Failure]) -> None:
    counted = outcome.summary
    write_json(
        {
            "ok": outcome.is_ok,
            "campaign": spell_campaign(outcome.campaign),
            "summary": {
                "recipients": counted.recipients,
                "events": counted.events,
                "new": counted.new,
                "known": counted.known,
                "failed": counted.failed,
            },
            "errors": [
                {"place": failure.place, "message": failure.message, "code": failure.code}
                for failure in failures
            ],
        }
    )


def _write(outcome: ImportOutcome, failures: list[_Failure]) -> None:
    campaign, counted = outcome.campaign, outcome.summary
    write_text(shown(f"{campaign.id}  {campaign.name}"))
    write_text(
        f"{count_of(campaign.funnel.total, 'recipient', 'recipients')}; of "
        f"{count_of(counted.events, 'event', 'events')} in the file {counted.new} new, {counted.known} known"
    )
    for failure in failures[:_LINES_TOLD]:
        say(shown(f"left out: {failure.place}: {failure.message}"))
    if counted.failed:
        say(f"{count_of(counted.failed, 'line', 'lines')} left out; --json tells the first thousand")
