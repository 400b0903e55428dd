"""`awareness employees purge`: everybody who left long ago, for good, after asking."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import attrs

from awareness_core.ports import Ports
from awareness_core.tenants import Company
from awareness_core.use_cases.purge_archived import count_archived, purge_archived
from awareness_server.cli.employee_erase import insist
from awareness_server.cli.invocation import current_settings, find_company, open_ports
from awareness_server.cli.output import moment, progress_bar, say, shown_moment, write_json, write_table
from awareness_server.cli.plain_text import count_of, shown
from awareness_server.exit_codes import CommandFailed, ExitCode


@attrs.frozen(kw_only=True)
class _Due:
    """One company, and how many of it are to go, or went."""

    company: Company
    people: int


async def purge_employees(
    company: str | None, *, everywhere: bool, days: int | None, dry_run: bool, is_sure: bool, as_json: bool
) -> None:
    """Erase who was archived longer ago than `days`, or than the settings say, and print how many."""
    if everywhere == (company is not None):
        raise CommandFailed("say whose people: either --company, or --all", ExitCode.USAGE)
    settings = current_settings()
    kept = days or settings.retention_archived_days
    if not kept:
        raise CommandFailed(
            "say after how many days: --days, or the setting retention_archived_days", ExitCode.USAGE
        )
    async with open_ports(settings) as ports:
        before = ports.clock.now() - timedelta(days=kept)
        owners = (
            await ports.companies.list_companies()
            if company is None
            else [await find_company(ports, company)]
        )
        due = [
            _Due(company=owner, people=await count_archived(ports, owner.id, before=before))
            for owner in owners
        ]
        if not dry_run and any(one.people for one in due):
            insist(_question(due, before), is_sure=is_sure, otherwise="nobody was erased")
            due = [await _purged(ports, one, before) for one in due]
    if as_json:
        _write_json(due, before, dry_run=dry_run)
    else:
        _write(due, before, dry_run=dry_run)


async def _purged(ports: Ports, due: _Due, before: datetime) -> _Due:
    with progress_bar(f"Erasing of {due.company.name}", total=due.people) as bar:
        erased = await purge_archived(
            ports,
            due.company.id,
            before=before,
            on_progress=lambda count: bar.update(bar.task_ids[0], completed=count),
        )
    return attrs.evolve(due, people=erased)


def _question(due: Sequence[_Due], before: datetime) -> str:
    people = count_of(sum(one.people for one in due), "person", "people")
    names = ", ".join(one.company.name for one in due if one.people)
    return f"{people} of {names}, archived before {shown_moment(before)}, will be erased for good."


def _write_json(due: Sequence[_Due], before: datetime, *, dry_run: bool) -> None:
    write_json(
        {
            "dry_run": dry_run,
            "before": moment(before),
            "companies": [
                {"id": one.company.id, "name": one.company.name, "people": one.people} for one in due
            ],
        }
    )


def _write(due: Sequence[_Due], before: datetime, *, dry_run: bool) -> None:
    write_table(
        ("COMPANY", "PEOPLE"), [(shown(one.company.name), str(one.people)) for one in due], right=("PEOPLE",)
    )
    people = count_of(sum(one.people for one in due), "person", "people")
    done = "would be erased" if dry_run else "erased"
    say(f"{people} {done}, archived before {shown_moment(before)}.")
