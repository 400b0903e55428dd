"""`awareness campaigns import`: take in a file of results, and tell what was left out.

Decides nothing about results, and does not know what files there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from awareness_core.errors import ValidationFailed
from awareness_core.results_intake import ImportOutcome
from awareness_core.use_cases.import_results import import_results
from awareness_server.cli.campaign_words import spell_campaign
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import progress_bar, say, write_json, write_text
from awareness_server.cli.plain_text import count_of, shown
from awareness_server.cli.result_files import Failure, Said, read_file, unusable_file
from awareness_server.exit_codes import ExitCode

_LINES_TOLD = 20


async def import_file(file: Path, said: Said, *, company: str, as_json: bool) -> int:
    """Import `file` and print what came of it; the exit code tells whether something was left out.

    Raises `CommandFailed` when nothing was imported at all.
    """
    with ExitStack() as opened:
        told = read_file(file, said, opened)
        async with open_ports() as ports:
            owner = await find_company(ports, company)
            try:
                with progress_bar("Importing", total=None):
                    outcome = await import_results(ports, owner.id, told.payload)
            except ValidationFailed as refusal:
                raise unusable_file(file, refusal.message) from refusal
        failures = list(told.failures(outcome.failures))
    if as_json:
        _write_json(outcome, failures)
    else:
        _write(outcome, failures)
    return ExitCode.OK if outcome.is_ok else ExitCode.PARTIAL


def _write_json(outcome: ImportOutcome, failures: Iterable[Failure]) -> None:
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
                "erased": counted.erased,
            },
            "errors": [
                {"place": failure.place, "message": failure.message, "code": failure.code}
                for failure in failures
            ],
        }
    )


def _write(outcome: ImportOutcome, failures: list[Failure]) -> None:
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
    if counted.erased:
        say(f"{count_of(counted.erased, 'line', 'lines')} of people who were erased, left out")
