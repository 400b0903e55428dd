"""`awareness campaigns show`: one campaign as a picture, the funnel as bars and how it went over time.

A terminal too narrow for a line of the funnel gets its interval on a line of its own, so that nothing is cut.
"""

from __future__ import annotations

import textwrap
from datetime import timedelta

from awareness_core.campaigns import CampaignId
from awareness_core.errors import NotFound
from awareness_core.kpis import Funnel, Response, rate
from awareness_core.use_cases.read_campaigns import CampaignHistory, get_campaign_history
from awareness_server.cli.bars import bar
from awareness_server.cli.campaign_timeline import drawn_timeline, spell_timeline
from awareness_server.cli.campaign_words import count_of_step, spell_campaign
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import (
    JsonValue,
    moment,
    shown_moment,
    stdout_width,
    write_json,
    write_text,
)
from awareness_server.cli.plain_text import shown
from awareness_server.exit_codes import CommandFailed

_LONGEST_BAR = 40
_FIGURES = 45
"""Columns of a line of the funnel before its bar."""
_SHORT_FIGURES = 28
"""The same without the interval."""
_LEAST_BAR = 8
_LEAST_WIDTH = 20
_FUNNEL = ("sent", "opened", "clicked", "submitted", "reported")


async def show_campaign(campaign_id: str, *, company: str, as_json: bool) -> None:
    """Print it. Raises `CommandFailed` when the company has no such campaign."""
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        try:
            history = await get_campaign_history(ports, owner.id, CampaignId(campaign_id))
        except NotFound as error:
            raise CommandFailed(
                shown(f"'{owner.name}' has no campaign '{campaign_id}': awareness campaigns list shows them")
            ) from error
    if as_json:
        write_json(_spell(history))
    else:
        write_text("\n".join(_picture(history, width=stdout_width())))


def _picture(history: CampaignHistory, *, width: int) -> list[str]:
    campaign, response = history.view.campaign, history.view.response
    over_time = drawn_timeline(history.timeline, first_report_at=response.first_report_at, width=width)
    return [
        shown(f"{campaign.name} ({campaign.state.value})"),
        f"{shown_moment(campaign.starts_at) or 'no start'} to {shown_moment(campaign.ends_at) or 'no end'}",
        "",
        *_drawn_funnel(campaign.funnel, width=width),
        *([""] if over_time else []),
        *over_time,
        "",
        *(part for line in _speed(history) for part in textwrap.wrap(line, max(width, _LEAST_WIDTH))),
    ]


def _drawn_funnel(funnel: Funnel, *, width: int) -> list[str]:
    is_narrow = width < _FIGURES + _LEAST_BAR
    room = min(_LONGEST_BAR, width - (_SHORT_FIGURES if is_narrow else _FIGURES))
    lines = [f"targeted  {funnel.total:>7}"]
    for step in _FUNNEL:
        count = count_of_step(funnel, step)
        share = rate(count, funnel.total)
        figures = f"{step:<9} {count:>7} {share.percent:>6.1f} %  "
        interval = f"({share.low:.1f} to {share.high:.1f})"
        drawn = bar(share.percent / 100, room)
        if is_narrow:
            lines += [f"{figures}{drawn}".rstrip(), f"{'':<10}{interval}"]
        else:
            lines.append(f"{figures}{interval:<16} {drawn}".rstrip())
    return [*lines, f"errors    {funnel.errors:>7}", f"by machines, not counted: {funnel.machine}"]


def _speed(history: CampaignHistory) -> list[str]:
    response, median_click = history.view.response, history.timeline.median_click
    lines = []
    if median_click is not None:
        lines.append(f"Half of the clicks came within {_span(median_click)} of the mail")
    if response.first_report_at is None or response.spared is None:
        return [*lines, "Nobody has reported it."]
    mark = "* " if history.timeline.spans else ""
    lines.append(f"{mark}First report {shown_moment(response.first_report_at)}")
    if response.median_delay is not None:
        lines.append(f"Half of the reports came within {_span(response.median_delay)} of the mail")
    lines.append(f"{response.spared.percent:.1f} % had not clicked when the first report came")
    return lines


def _span(delay: timedelta) -> str:
    minutes, seconds = divmod(round(delay.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


def _spell(history: CampaignHistory) -> JsonValue:
    median_click = history.timeline.median_click
    return {
        **spell_campaign(history.view.campaign),
        "response": _spell_response(history.view.response),
        "median_click_seconds": None if median_click is None else median_click.total_seconds(),
        "timeline": spell_timeline(history.timeline),
    }


def _spell_response(response: Response) -> JsonValue:
    if response.spared is None:
        return None
    delay = response.median_delay
    return {
        "first_report_at": moment(response.first_report_at),
        "median_delay_seconds": None if delay is None else delay.total_seconds(),
        "spared": {
            "percent": response.spared.percent,
            "interval": [response.spared.low, response.spared.high],
        },
    }
