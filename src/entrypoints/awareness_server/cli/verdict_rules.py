"""`awareness campaigns rules` and `reclassify`: what a company takes for a machine's doing, and judging by it again."""

from __future__ import annotations

from datetime import timedelta

from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.verdict_rules import (
    JudgingProgress,
    Reclassified,
    change_verdict_rules,
    read_verdict_rules,
    reclassify_campaigns,
    reset_verdict_rules,
)
from awareness_core.verdict_rules import RulesChange, VerdictRules
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import JsonValue, progress_bar, say, write_json, write_table
from awareness_server.cli.plain_text import count_of
from awareness_server.exit_codes import CommandFailed, ExitCode


async def show_rules(*, company: str, as_json: bool) -> None:
    """Print the company's rules."""
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        rules = await read_verdict_rules(ports, owner.id)
    _write(rules, None, as_json=as_json)


async def change_rules(change: RulesChange | None, *, company: str, as_json: bool) -> None:
    """Keep other rules, the defaults for None, judge everything by them again, and print both."""
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        if change is None:
            rules = await reset_verdict_rules(ports, owner.id)
        else:
            rules = await change_verdict_rules(ports, owner.id, change)
        outcome = await _reclassify(ports, owner.id)
    _write(rules, outcome, as_json=as_json)


async def reclassify_all(*, company: str, as_json: bool) -> None:
    """Judge everything again by the rules as they are, and print what that changed."""
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        outcome = await _reclassify(ports, owner.id)
    if as_json:
        write_json(_outcome_as_json(outcome))
    else:
        say(_outcome_as_text(outcome))


def span(option: str, seconds: float | None) -> timedelta | None:
    """A number of seconds that was typed. Raises `CommandFailed` for what is no length of time."""
    if seconds is None:
        return None
    try:
        return timedelta(milliseconds=round(seconds * 1000))
    except (ValueError, OverflowError) as error:
        raise CommandFailed(f"{option}: '{seconds}' is no number of seconds", ExitCode.USAGE) from error


async def _reclassify(ports: Ports, company_id: CompanyId) -> Reclassified:
    with progress_bar("Judging campaigns", total=None) as bar:

        def show(progress: JudgingProgress) -> None:
            bar.update(bar.task_ids[0], completed=progress.done, total=progress.total)

        return await reclassify_campaigns(ports, company_id, on_progress=show)


def _write(rules: VerdictRules, outcome: Reclassified | None, *, as_json: bool) -> None:
    if as_json:
        told = {} if outcome is None else {"reclassified": _outcome_as_json(outcome)}
        write_json({"rules": _rules_as_json(rules), **told})
        return
    rows = [
        ("soon", f"within {_seconds(rules.soon)} of a sending"),
        ("crowd", f"{rules.crowd} recipients from one address within {_seconds(rules.crowd_window)}"),
        ("burst", f"{rules.burst} interactions of one recipient within {_seconds(rules.burst_window)}"),
        ("head request", "always"),
        *(("user agent", agent) for agent in rules.scanner_agents),
    ]
    write_table(("SIGN", "A MACHINE'S WHEN"), rows)
    if outcome is not None:
        say(_outcome_as_text(outcome))


def _rules_as_json(rules: VerdictRules) -> JsonValue:
    return {
        "soon": rules.soon.total_seconds(),
        "crowd": rules.crowd,
        "crowd_window": rules.crowd_window.total_seconds(),
        "burst": rules.burst,
        "burst_window": rules.burst_window.total_seconds(),
        "agents": list(rules.scanner_agents),
    }


def _outcome_as_json(outcome: Reclassified) -> JsonValue:
    return {
        "campaigns": outcome.campaigns,
        "changed_campaigns": outcome.changed_campaigns,
        "changed_events": outcome.changed_events,
    }


def _outcome_as_text(outcome: Reclassified) -> str:
    verdicts = count_of(outcome.changed_events, "verdict", "verdicts")
    campaigns = count_of(outcome.campaigns, "campaign", "campaigns")
    return f"{verdicts} changed, in {outcome.changed_campaigns} of {campaigns}"


def _seconds(length: timedelta) -> str:
    return f"{length.total_seconds():g} s"
