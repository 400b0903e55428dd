"""`awareness doctor`: what stands between this installation and a working service, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

from awareness_server.cli.invocation import current_settings
from awareness_server.cli.output import AsJson, say, write_json, write_table
from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.findings import Finding, State, failed, ok
from awareness_server.settings import secrets_of


async def doctor(*, as_json: AsJson = False) -> ExitCode:
    """Check settings, database, mail and limits, and say what to do.

    Parameters
    ----------
    as_json
        Print JSON instead of a table.
    """
    findings = await _findings()
    bad = [finding for finding in findings if finding.state is State.FAIL]
    if as_json:
        write_json({"ok": not bad, "checks": [_as_json(finding) for finding in findings]})
    else:
        write_table(("CHECK", "STATE", "FOUND", "WHAT TO DO"), [_row(finding) for finding in findings])
        say(f"{len(bad)} of {len(findings)} checks failed." if bad else "It can work.")
    return _exit_code(bad)


async def _findings() -> Sequence[Finding]:
    from awareness_server.diagnosis import diagnose
    from awareness_server.logs import configure_logs

    try:
        settings = current_settings()
        # What adapters would log is what the table tells.
        configure_logs(log_format=settings.log_format, log_level="error", secrets=secrets_of(settings))
    except CommandFailed as error:
        remedy = "awareness config show lists the settings there are"
        return [failed("settings", detail, remedy, code=error.code) for detail in error.details]
    return [ok("settings", "all of them can be read"), *await diagnose(settings)]


def _exit_code(bad: Sequence[Finding]) -> ExitCode:
    codes = {finding.code for finding in bad}
    # Bad settings first: with them nothing that was found about the rest can be trusted.
    order = (ExitCode.BAD_SETTINGS, ExitCode.UNAVAILABLE, ExitCode.FAILURE)
    return next((code for code in order if code in codes), ExitCode.OK)


def _row(finding: Finding) -> tuple[str, ...]:
    return finding.name, finding.state.value, finding.detail, finding.remedy


def _as_json(finding: Finding) -> dict[str, str]:
    return {
        "name": finding.name,
        "state": finding.state.value,
        "detail": finding.detail,
        "remedy": finding.remedy,
    }
