"""`awareness employees import`: read a roster, have the core provision it, and tell what came of each line.

Decides nothing about people. What it adds to the core's rules is one of prudence: nobody is archived for being missing
from a file in which a line could not be read, as that line may have been theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

from awareness_core.errors import MassDeactivationBlocked
from awareness_core.use_cases.synchronise import synchronise
from awareness_server.cli.import_payload import RosterPayload, RosterResults
from awareness_server.cli.import_report import (
    fault_lines,
    place_of,
    show_report,
    spell_blocked,
    spell_report,
)
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import progress_bar, say, write_json
from awareness_server.cli.plain_text import count_of, folded, shown
from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.roster import Roster, read_roster
from awareness_server.roster_columns import ColumnMap, parse_column_map
from awareness_server.roster_csv import parse_delimiter
from awareness_server.roster_table import RosterRow, RosterUnusable

_LINES_TOLD = 20


@attrs.frozen(kw_only=True)
class ImportOptions:
    """What was asked of one import, as typed."""

    company: str
    dry_run: bool
    deactivate_missing: bool
    confirm_deactivations: int | None
    mappings: tuple[str, ...]
    encoding: str | None
    delimiter: str | None
    verbose: bool
    as_json: bool


async def import_roster(file: Path, options: ImportOptions) -> int:
    """Import `file` and print the report; the exit code tells whether some lines failed.

    Raises `CommandFailed` when nothing was imported at all.
    """
    if options.confirm_deactivations is not None and not options.deactivate_missing:
        raise CommandFailed("--confirm-deactivations only goes with --deactivate-missing", ExitCode.USAGE)
    try:
        said = parse_column_map(options.mappings)
        delimiter = None if options.delimiter is None else parse_delimiter(options.delimiter)
    except RosterUnusable as unusable:
        raise CommandFailed(shown(unusable.message), ExitCode.USAGE) from unusable
    roster = _read(file, said, encoding=options.encoding, delimiter=delimiter)
    _tell_what_is_read(file, roster)
    if options.deactivate_missing:
        _refuse_unknown_lines(roster)
    async with open_ports() as ports:
        company = await find_company(ports, options.company)
        try:
            with progress_bar("Planning" if options.dry_run else "Importing", total=None):
                results = RosterResults()
                outcome = await synchronise(
                    ports,
                    company.id,
                    RosterPayload([entry.record for entry in roster.entries]),
                    results,
                    dry_run=options.dry_run,
                    deactivate_missing=options.deactivate_missing,
                    confirm_deactivations=options.confirm_deactivations,
                )
        except MassDeactivationBlocked as blocked:
            if options.as_json:
                write_json(spell_blocked(blocked, dry_run=options.dry_run))
            raise _refusal(blocked) from blocked
    report = results.report(outcome)
    if options.as_json:
        write_json(spell_report(roster, report))
    else:
        show_report(roster, report, verbose=options.verbose)
    return ExitCode.OK if report.is_ok else ExitCode.PARTIAL


def _read(file: Path, said: ColumnMap, *, encoding: str | None, delimiter: str | None) -> Roster:
    with progress_bar("Reading", total=None) as bar:

        def watched(rows: Sequence[RosterRow]) -> Iterable[RosterRow]:
            return bar.track(rows, total=len(rows), task_id=bar.task_ids[0])

        try:
            return read_roster(file, said=said, encoding=encoding, delimiter=delimiter, watched=watched)
        except RosterUnusable as unusable:
            raise CommandFailed(
                shown(f"{file}: {unusable.message}"),
                ExitCode.USAGE,
                details=tuple(shown(hint) for hint in unusable.hints),
            ) from unusable


def _tell_what_is_read(file: Path, roster: Roster) -> None:
    people = count_of(len(roster.entries), "person", "people")
    columns = ", ".join(f"{column} → {field.value}" for column, field in roster.columns)
    say(shown(f"{file.name}: {roster.format.value} in {roster.encoding}, {people}"))
    say(folded(shown(f"Read: {columns}")))
    if roster.unread:
        say(folded(shown(f"Ignored: {', '.join(roster.unread)}")))
    for remark in roster.remarks:
        say(folded(shown(f"Note: {remark}")))


def _refuse_unknown_lines(roster: Roster) -> None:
    unknown = [entry for entry in roster.entries if entry.names_nobody]
    if not unknown:
        return
    details = [
        f"{place_of(roster.format)} {entry.line}: {'; '.join(fault_lines(entry.record))}"
        for entry in unknown[:_LINES_TOLD]
    ]
    if len(unknown) > _LINES_TOLD:
        details.append(f"and {len(unknown) - _LINES_TOLD} more")
    raise CommandFailed(
        "nobody can tell who is missing from the file, as it is not clear whom some lines mean; nothing was written. "
        "Correct them, or import without --deactivate-missing",
        details=tuple(details),
    )


def _refusal(blocked: MassDeactivationBlocked) -> CommandFailed:
    people = count_of(blocked.active, "active person who carries", "active people who carry")
    return CommandFailed(
        f"this would archive {blocked.planned} of {people} an external id, as they are not in the file; "
        f"nothing was written. If that is right, add --confirm-deactivations {blocked.planned}",
        details=("Together with --dry-run that shows who they are.",),
    )
