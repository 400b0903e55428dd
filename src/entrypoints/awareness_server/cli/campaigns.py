"""`awareness campaigns`: a company's campaigns with the rates of those who opened, clicked, submitted, reported.

Importing, picturing and judging have modules of their own.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import App, Parameter, validators
from cyclopts.validators import Number

from awareness_core.campaigns import Campaign, CampaignState
from awareness_core.kpis import rate
from awareness_core.pages import DEFAULT_LIMIT, MAX_LIMIT, MAX_PAGE, PageRequest
from awareness_core.periods import InvalidMoment, parse_moment
from awareness_core.use_cases.list_campaigns import list_campaigns
from awareness_server.cli.campaign_words import STEPS, count_of_step, spell_campaign
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import (
    AsJson,
    pagination,
    say,
    shown_moment,
    write_json,
    write_table,
)
from awareness_server.exit_codes import CommandFailed, ExitCode

app = App(name="campaigns", help="List, show, import and judge campaigns.")

Status: TypeAlias = Literal["draft", "scheduled", "running", "paused", "completed", "cancelled"]

_FIGURES = ("PEOPLE", *(step.upper() for step in STEPS))


@app.command(name="list")
async def list_(
    *,
    company: str,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    status: Status | None = None,
    page: Annotated[int, Parameter(validator=Number(gte=1, lte=MAX_PAGE))] = 1,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=MAX_LIMIT))] = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List campaigns by their start, latest first.

    Parameters
    ----------
    company
        The company's id or name.
    from_
        The earliest start: a date, or a date-time with offset. By default 30 days ago.
    to
        The latest start, a date through its end. By default now.
    status
        Only campaigns in this status.
    page
        Which page.
    limit
        How many on a page.
    as_json
        Print JSON instead of a table.
    """
    start = _moment("--from", from_)
    end = _moment("--to", to, end_of_day=True)
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        found = await list_campaigns(
            ports,
            owner.id,
            start=start,
            end=end,
            state=None if status is None else CampaignState(status),
            page=PageRequest(page=page, limit=limit),
        )
    if as_json:
        write_json(
            {"data": [spell_campaign(campaign) for campaign in found.items], "pagination": pagination(found)}
        )
        return
    write_table(
        ("ID", "NAME", "STATUS", "STARTS", "ENDS", *_FIGURES),
        [_row(campaign) for campaign in found.items],
        right=_FIGURES,
    )
    if not found.items:
        say("No campaign started in that time; --from reaches further back than 30 days.")
    elif found.has_more:
        say(f"{found.total} campaigns in all; the next: --page {page + 1}")


@app.command(name="import")
async def import_(
    file: Annotated[Path, Parameter(validator=validators.Path(exists=True, dir_okay=False))],
    /,
    *,
    company: str,
    external_id: str | None = None,
    name: str | None = None,
    status: Status | None = None,
    start: str | None = None,
    end: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    as_json: AsJson = False,
) -> int:
    """Import the results of a campaign from a file; importing it again changes nothing.

    Reads what GoPhish's API tells of a campaign, the raw events that its pages export as CSV, the JSON and lines that
    the HTTP interface takes, and a CSV of events from any tool: a header with email, type and survenu_at, or what tools
    call them in French and English, and a row for each event. --status and what follows it are for the latter.

    Parameters
    ----------
    file
        The file; its content decides how it is read.
    company
        The company's id or name.
    external_id
        What the tool calls the campaign, for good. By default the file's name.
    name
        What to call a campaign whose name is not in the file. By default the file's name.
    status
        How far the campaign is. By default running.
    start
        When it began: a date, or a date-time with offset. By default with the first mail in the file.
    end
        When it ended, a date through its end. Later events are kept and not counted.
    encoding
        The file's encoding, such as cp1252. By default UTF-8, UTF-16 with its mark, or else Windows-1252.
    delimiter
        The character between a CSV's cells. By default the one of ; , tab | that fits the header.
    as_json
        Print JSON instead of sentences.
    """
    from awareness_server.cli.result_files import Said
    from awareness_server.cli.result_import import import_file

    said = Said(
        name=name,
        external_id=external_id,
        state=None if status is None else CampaignState(status),
        starts_at=_moment("--start", start),
        ends_at=_moment("--end", end, end_of_day=True),
        encoding=encoding,
        delimiter=delimiter,
    )
    return await import_file(file, said, company=company, as_json=as_json)


@app.command
async def show(campaign_id: str, /, *, company: str, as_json: AsJson = False) -> None:
    """Show one campaign: its funnel, and how fast it was noticed.

    Parameters
    ----------
    campaign_id
        The campaign's id.
    company
        The company's id or name.
    as_json
        Print JSON instead of a picture.
    """
    from awareness_server.cli.campaign_picture import show_campaign

    await show_campaign(campaign_id, company=company, as_json=as_json)


@app.command
async def set_status(campaign_id: str, status: Status, /, *, company: str, as_json: AsJson = False) -> None:
    """Put a campaign into the status that it is really in, when its tool told a wrong one.

    What is imported afterwards counts as ever: the tool has to be put right as well.

    Parameters
    ----------
    campaign_id
        The campaign's id.
    status
        How it stands.
    company
        The company's id or name.
    as_json
        Print JSON instead of text.
    """
    from awareness_server.cli.campaign_correction import correct

    await correct(campaign_id, CampaignState(status), company=company, as_json=as_json)


@app.command
async def rules(
    *,
    company: str,
    soon: float | None = None,
    crowd: int | None = None,
    crowd_window: float | None = None,
    burst: int | None = None,
    burst_window: float | None = None,
    agent: Annotated[list[str] | None, Parameter(negative=())] = None,
    no_agent: Annotated[list[str] | None, Parameter(negative=())] = None,
    default: Annotated[bool, Parameter(negative=())] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is taken for a machine's doing. With options, change that, and judge all campaigns again.

    Parameters
    ----------
    company
        The company's id or name.
    soon
        So many seconds around a sending nobody opens or clicks by hand; at most 86400, a day.
    crowd
        So many recipients, touched from one address within --crowd-window seconds.
    crowd_window
        See --crowd; at most 60.
    burst
        So many interactions of one recipient within --burst-window seconds.
    burst_window
        See --burst; at most 3600.
    agent
        A part of a user agent that no person's browser has, at least 3 characters; repeat it for more.
    no_agent
        A part of a user agent that is a person's after all; repeat it for more.
    default
        Go back to the rules that come with the program.
    as_json
        Print JSON instead of a table.
    """
    from awareness_core.verdict_rules import RulesChange
    from awareness_server.cli.verdict_rules import change_rules, show_rules, span

    change = RulesChange(
        soon=span("--soon", soon),
        crowd=crowd,
        crowd_window=span("--crowd-window", crowd_window),
        burst=burst,
        burst_window=span("--burst-window", burst_window),
        agents=agent or (),
        no_agents=no_agent or (),
    )
    changes_something = change != RulesChange()
    if default and changes_something:
        raise CommandFailed("--default goes with no other rule; change rules afterwards", ExitCode.USAGE)
    if default or changes_something:
        await change_rules(None if default else change, company=company, as_json=as_json)
    else:
        await show_rules(company=company, as_json=as_json)


@app.command
async def reclassify(*, company: str, as_json: AsJson = False) -> None:
    """Judge all campaigns again, by the company's rules as they are; `rules` does so after each change.

    Parameters
    ----------
    company
        The company's id or name.
    as_json
        Print JSON instead of text.
    """
    from awareness_server.cli.verdict_rules import reclassify_all

    await reclassify_all(company=company, as_json=as_json)


def _moment(option: str, text: str | None, *, end_of_day: bool = False) -> datetime | None:
    try:
        return None if text is None else parse_moment(text, end_of_day=end_of_day)
    except InvalidMoment as error:
        raise CommandFailed(f"{option} '{text}': {error}", ExitCode.USAGE) from error


def _row(campaign: Campaign) -> tuple[str, ...]:
    funnel = campaign.funnel
    return (
        campaign.id,
        campaign.name,
        campaign.state.value,
        shown_moment(campaign.starts_at),
        shown_moment(campaign.ends_at),
        str(funnel.total),
        *(f"{rate(count_of_step(funnel, step), funnel.total).percent:.1f} %" for step in STEPS),
    )
