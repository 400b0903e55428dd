"""`awareness campaigns`: a company's campaigns with the rates of those who opened, clicked, submitted, reported."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from awareness_core.campaigns import Campaign, CampaignState
from awareness_core.kpis import Funnel, rate
from awareness_core.pages import DEFAULT_LIMIT, MAX_LIMIT, MAX_PAGE, PageRequest
from awareness_core.periods import InvalidMoment, parse_moment
from awareness_core.use_cases.list_campaigns import list_campaigns
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import (
    AsJson,
    JsonValue,
    moment,
    pagination,
    say,
    shown_moment,
    write_json,
    write_table,
)
from awareness_server.exit_codes import CommandFailed, ExitCode

app = App(name="campaigns", help="List campaigns with their rates.")

_STEPS = ("opened", "clicked", "submitted", "reported")
_FIGURES = ("PEOPLE", *(step.upper() for step in _STEPS))


@app.command(name="list")
async def list_(
    *,
    company: str,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    status: Literal["draft", "scheduled", "running", "paused", "completed", "cancelled"] | None = None,
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
            {"data": [_as_json(campaign) for campaign in found.items], "pagination": pagination(found)}
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
        *(f"{rate(_count(funnel, step), funnel.total).percent:.1f} %" for step in _STEPS),
    )


def _as_json(campaign: Campaign) -> JsonValue:
    funnel = campaign.funnel
    rates: dict[str, JsonValue] = {}
    for step in _STEPS:
        share = rate(_count(funnel, step), funnel.total)
        rates[step] = {"percent": share.percent, "interval": [share.low, share.high]}
    return {
        "id": campaign.id,
        "name": campaign.name,
        "status": campaign.state.value,
        "created_at": moment(campaign.created_at),
        "starts_at": moment(campaign.starts_at),
        "ends_at": moment(campaign.ends_at),
        "counts": {
            "total": funnel.total,
            "sent": funnel.sent,
            "opened": funnel.opened,
            "clicked": funnel.clicked,
            "submitted": funnel.submitted,
            "reported": funnel.reported,
            "errors": funnel.errors,
            "machine": funnel.machine,
        },
        "rates": rates,
    }


def _count(funnel: Funnel, step: str) -> int:
    count: int = getattr(funnel, step)
    return count
