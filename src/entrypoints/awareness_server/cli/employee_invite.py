"""`awareness employees invite`: mail access to people, and tell who was reached, skipped or not reached.

The core decides who is invited and how many at a time; this module only calls it again when told to go on.
"""

from __future__ import annotations

from collections.abc import Sequence

from awareness_core.employees import EmployeeId
from awareness_core.invitations import (
    MAX_PER_CALL,
    InvitationReport,
    InvitationResult,
    InvitationStatus,
    InvitationSummary,
)
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.invite import invite
from awareness_server.cli.invocation import current_settings, find_company, open_ports
from awareness_server.cli.output import JsonValue, progress_bar, say, write_json, write_text
from awareness_server.cli.people_table import Column, write_people
from awareness_server.cli.plain_text import count_of, shown
from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.logs import configure_logs
from awareness_server.settings import Settings, secrets_of

_MOST_LISTED = MAX_PER_CALL


async def invite_employees(
    company: str, ids: Sequence[str], *, everyone: bool, until_done: bool, force: bool, as_json: bool
) -> int:
    """Invite, print the report, and tell by the exit code whether somebody was not reached."""
    if everyone == bool(ids):
        raise CommandFailed("say whom to invite: either --all, or ids but not both", ExitCode.USAGE)
    if until_done and not everyone:
        raise CommandFailed("--until-done only goes with --all", ExitCode.USAGE)
    settings = current_settings()
    require_mail(settings, otherwise="nobody was invited")
    selection = None if everyone else [EmployeeId(text.strip().lower()) for text in ids]
    async with open_ports(settings) as ports:
        owner = await find_company(ports, company)
        report = await _invited(
            ports, owner.id, settings, selection=selection, force=force, until_done=until_done
        )
    if as_json:
        write_json(_as_json(report, mode="all_awaiting_access" if everyone else "selection"))
    else:
        _show(report)
    if report.summary.truncated:
        waiting = "run it again for them" + (", or with --until-done" if everyone else "")
        say(f"At most {MAX_PER_CALL} are mailed a call, and some are left: {waiting}.")
    return ExitCode.OK if report.is_ok else ExitCode.PARTIAL


def require_mail(settings: Settings, *, otherwise: str) -> None:
    """Raise `CommandFailed`, saying `otherwise`, where no mail can leave."""
    if not (settings.smtp_url or settings.mail_folder):
        raise CommandFailed(
            f"no mail can leave: set smtp_url and mail_from, or mail_folder to try things out; {otherwise}",
            ExitCode.BAD_SETTINGS,
        )


async def _invited(
    ports: Ports,
    company_id: CompanyId,
    settings: Settings,
    *,
    selection: Sequence[EmployeeId] | None,
    force: bool,
    until_done: bool,
) -> InvitationReport:
    reports: list[InvitationReport] = []
    with progress_bar("Inviting", total=None) as bar:
        # Inside, so that what the mailer logs of a refusal is printed above the bar.
        configure_logs(
            log_format=settings.log_format, log_level=settings.log_level, secrets=secrets_of(settings)
        )
        while not reports or (until_done and reports[-1].summary.truncated):
            report = await invite(ports, company_id, selection=selection, force=force)
            reports.append(report)
            total = reports[0].summary.total
            bar.update(bar.task_ids[0], total=total, advance=len(report.results))
    return _joined(reports)


def _joined(reports: Sequence[InvitationReport]) -> InvitationReport:
    results = tuple(result for report in reports for result in report.results)
    summaries = [report.summary for report in reports]
    return InvitationReport(
        summary=InvitationSummary(
            # Each call counts those that are left; so the first saw all, but for people who came meanwhile.
            total=summaries[0].total if summaries[-1].truncated else len(results),
            invited=sum(summary.invited for summary in summaries),
            skipped=sum(summary.skipped for summary in summaries),
            failed=sum(summary.failed for summary in summaries),
            truncated=summaries[-1].truncated,
        ),
        results=results,
    )


def _show(report: InvitationReport) -> None:
    listed = report.results
    if len(listed) > _MOST_LISTED:
        listed = tuple(result for result in listed if result.status is not InvitationStatus.INVITED)
    if listed:
        columns = (
            Column(title="ID", whole=True),
            Column(title="E-MAIL", is_email=True),
            Column(title="STATUS"),
            Column(title="REASON"),
        )
        write_people(columns, [_row(result) for result in listed], bad_words=(InvitationStatus.FAILED.value,))
        write_text("")
    summary = report.summary
    write_text(
        f"{count_of(summary.total, 'person', 'people')} considered: "
        f"{summary.invited:,} invited, {summary.skipped:,} skipped, {summary.failed:,} failed."
    )
    if len(listed) < len(report.results):
        say("Those who were invited are not listed; --json lists them.")


def _row(result: InvitationResult) -> tuple[str, ...]:
    return (
        shown(result.id),
        result.email or "",
        result.status.value,
        "" if result.code is None else result.code.value.replace("_", " "),
    )


def _as_json(report: InvitationReport, *, mode: str) -> JsonValue:
    summary = report.summary
    return {
        "ok": report.is_ok,
        "summary": {
            "total": summary.total,
            "invited": summary.invited,
            "skipped": summary.skipped,
            "failed": summary.failed,
            "truncated": summary.truncated,
            "max_per_call": MAX_PER_CALL,
            "mode": mode,
        },
        "results": [_spell_result(result) for result in report.results],
    }


def _spell_result(result: InvitationResult) -> dict[str, JsonValue]:
    spelt: dict[str, JsonValue] = {"id": result.id}
    if result.email is not None:
        spelt["email"] = result.email
    spelt["status"] = result.status.value
    if result.code is not None:
        spelt["code"] = result.code.value
    return spelt
