"""What an import tells: a table for people, cut where it would bury what matters, or everything as JSON.

Every failure is listed, and the first of each other kind; what is left out is counted, and `--verbose` lists it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import attrs

from awareness_core.employees import Action, Employee, EmployeeId, EmployeeRecord
from awareness_core.errors import Fault, MassDeactivationBlocked
from awareness_core.records import InvalidRecord
from awareness_core.sync_plan import SyncError, SyncItem, SyncSummary, SyncWarning
from awareness_core.use_cases.provision import SyncReport
from awareness_server.cli.output import JsonValue, say, write_text
from awareness_server.cli.people_table import Column, write_people
from awareness_server.cli.plain_text import count_of, shown
from awareness_server.roster import Roster, RosterEntry, RosterFormat
from awareness_server.roster_headers import RosterField

_SHOWN_PER_ACTION = 20
_WIDEST_CELL = 60

_ATTRIBUTES: Mapping[RosterField, str] = {RosterField.SECTOR: "sector_id", RosterField.ACTIVE: "state"}
"""What a field is called in an employee, where that differs."""

_ERRORS: Mapping[SyncError, str] = {
    SyncError.EMAIL_CONFLICT_OTHER_TENANT: "another company's person has this e-mail",
    SyncError.DUPLICATE_IN_PAYLOAD: "an earlier line means the same person",
    SyncError.VALIDATION_ERROR: "a field cannot be taken",
    SyncError.EMAIL_CONFLICT: "another person has this e-mail",
    SyncError.EXTERNAL_ID_CONFLICT: "the person with this e-mail has another external id",
    SyncError.UNKNOWN_SECTOR: "no sector has this number",
    SyncError.SECTOR_CONFLICT: "the sector's name and number mean two sectors",
}

_WARNINGS: Mapping[SyncWarning, str] = {
    SyncWarning.UNKNOWN_LEAVER: "left before we knew them",
    SyncWarning.EMAIL_NOT_UPDATED: "archived, but not given the new e-mail, which is another person's",
    SyncWarning.EMAIL_TAKEN_FROM_ARCHIVED: "the e-mail was an archived person's",
    SyncWarning.LINKED_BY_EMAIL: "known by e-mail, now by this external id too",
}


def place_of(form: RosterFormat) -> str:
    """What a file of this format numbers its people by: lines, or in a JSON array indices from 0."""
    return "index" if form is RosterFormat.JSON else "line"


def fault_lines(record: EmployeeRecord | InvalidRecord) -> list[str]:
    """Each thing that is wrong with the record, after the column that it is in."""
    if isinstance(record, EmployeeRecord):
        return []
    return [shown(_fault(fault)) for fault in record.faults]


def show_report(roster: Roster, report: SyncReport, *, verbose: bool) -> None:
    """The table and the summary on stdout; what the table leaves out on stderr."""
    changed = _changed_columns(roster, report)
    lines = [
        _line(entry, item, changed=changed.get(item.id, ()))
        for entry, item in zip(roster.entries, report.items, strict=True)
    ]
    lines += [_absentee(person) for person in _absentees(report)]
    listed, hidden = (lines, Counter[Action]()) if verbose else _cut(lines)
    if listed:
        columns = (
            Column(title=place_of(roster.format).upper(), right=True, whole=True),
            Column(title="ACTION", whole=True),
            Column(title="NAME", is_name=True, room=16),
            Column(title="E-MAIL", is_email=True),
            Column(title="EXTERNAL ID"),
            Column(title="NOTE", room=26),
        )
        write_people(columns, [line.cells for line in listed], bad_words=(Action.FAILED.value,))
        write_text("")
    write_text(_sentence(report))
    if report.dry_run:
        write_text("Dry run: nothing was written.")
    if hidden:
        counts = ", ".join(f"{count:,} {action.value}" for action, count in hidden.items())
        say(f"Not listed: {counts}; --verbose lists them.")


def spell_report(roster: Roster, report: SyncReport) -> JsonValue:
    """Everything, for programs: results in the file's order, absentees apart."""
    place = place_of(roster.format)
    return {
        "ok": report.is_ok,
        "dry_run": report.dry_run,
        "summary": _summary(report.summary),
        "results": [
            {place: entry.line, **_spell_item(item, planned=report.dry_run)}
            for entry, item in zip(roster.entries, report.items, strict=True)
        ],
        "missing": [
            {"id": person.id, "external_id": person.external_id, "email": person.email.text}
            for person in _absentees(report)
        ],
        "file": {
            "format": roster.format.value,
            "encoding": roster.encoding,
            "columns": {column: field.value for column, field in roster.columns},
            "ignored": list(roster.unread),
        },
    }


def spell_blocked(blocked: MassDeactivationBlocked, *, dry_run: bool) -> JsonValue:
    """The same for an import that was refused as a whole."""
    return {
        "ok": False,
        "dry_run": dry_run,
        "code": blocked.code,
        "planned_deactivations": blocked.planned,
        "results": [],
    }


@attrs.frozen(kw_only=True)
class _Line:
    action: Action
    has_warning: bool
    cells: tuple[str, ...]


def _line(entry: RosterEntry, item: SyncItem, *, changed: Sequence[str]) -> _Line:
    return _Line(
        action=item.action,
        has_warning=item.warning is not None,
        cells=(
            str(entry.line),
            item.action.value,
            shown(_name(entry.record), limit=_WIDEST_CELL),
            shown(item.email, limit=_WIDEST_CELL),
            shown(item.external_id or "", limit=_WIDEST_CELL),
            _note(item, changed),
        ),
    )


def _absentees(report: SyncReport) -> list[Employee]:
    return sorted(report.absentees, key=lambda person: person.external_id or "")


def _absentee(person: Employee) -> _Line:
    return _Line(
        action=Action.DEACTIVATED,
        has_warning=False,
        cells=(
            "",
            Action.DEACTIVATED.value,
            f"{person.first_name} {person.last_name}",
            person.email.text,
            person.external_id or "",
            "not in the file",
        ),
    )


def _cut(lines: Sequence[_Line]) -> tuple[list[_Line], Counter[Action]]:
    listed, hidden, counts = [], Counter[Action](), Counter[Action]()
    for line in lines:
        counts[line.action] += 1
        is_quiet = line.action is Action.SKIPPED and not line.has_warning
        if line.action is Action.FAILED or (not is_quiet and counts[line.action] <= _SHOWN_PER_ACTION):
            listed.append(line)
        else:
            hidden[line.action] += 1
    return listed, hidden


def _name(record: EmployeeRecord | InvalidRecord) -> str:
    return "" if isinstance(record, InvalidRecord) else f"{record.first_name} {record.last_name}"


def _note(item: SyncItem, changed: Sequence[str]) -> str:
    if item.faults:
        return "; ".join(shown(_fault(fault)) for fault in item.faults)
    if item.error is not None:
        return _ERRORS[item.error]
    notes = [shown(f"changed: {', '.join(changed)}")] if changed else []
    if item.warning is not None:
        notes.append(_WARNINGS[item.warning])
    return "; ".join(notes)


def _changed_columns(roster: Roster, report: SyncReport) -> Mapping[EmployeeId | None, Sequence[str]]:
    """The columns in which the file differs from what was known, for each person who was known."""
    attributes = [(column, _ATTRIBUTES.get(field, field.value)) for column, field in roster.columns]
    return {
        change.after.id: [
            column
            for column, attribute in attributes
            if getattr(change.before, attribute) != getattr(change.after, attribute)
        ]
        for change in report.changes
        if change.before is not None
    }


def _fault(fault: Fault) -> str:
    return f"{fault.field}: {fault.message}" if fault.field else fault.message


def _sentence(report: SyncReport) -> str:
    counts = ", ".join(_counts(report))
    return f"{count_of(report.summary.received, 'person', 'people')} read: {counts}."


def _counts(report: SyncReport) -> Iterator[str]:
    counts = attrs.asdict(report.summary)
    del counts["received"]
    for name, count in counts.items():
        if count or name in {"created", "updated", "failed"}:
            is_partly_missing = name == "deactivated" and report.absentees
            yield f"{count:,} {name}" + (
                f" ({len(report.absentees):,} not in the file)" if is_partly_missing else ""
            )


def _summary(summary: SyncSummary) -> dict[str, JsonValue]:
    return attrs.asdict(summary)


def _spell_item(item: SyncItem, *, planned: bool) -> dict[str, JsonValue]:
    spelt: dict[str, JsonValue] = {
        "external_id": item.external_id,
        "email": item.email,
        "action": item.action.value,
    }
    if item.id is not None:
        spelt["id"] = item.id
    if item.error is not None:
        spelt["error"] = item.error.value
    if item.warning is not None:
        spelt["warning"] = item.warning.value
    if item.faults:
        spelt["details"] = [
            {"field": fault.field, "message": fault.message, "code": fault.code} for fault in item.faults
        ]
    if planned:
        spelt["planned"] = True
    return spelt
