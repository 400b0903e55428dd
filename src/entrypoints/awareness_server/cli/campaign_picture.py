"""`awareness campaigns show`: one campaign as a picture, the funnel as bars and how fast it was noticed."""

from __future__ import annotations

from datetime import timedelta

from awareness_core.campaigns import CampaignId
from awareness_core.errors import NotFound
from awareness_core.kpis import Response, rate
from awareness_core.use_cases.read_campaigns import CampaignView, get_campaign
from awareness_server.cli.campaign_words import count_of_step, spell_campaign
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import JsonValue, moment, shown_moment, write_json, write_text
from awareness_server.cli.plain_text import shown
from awareness_server.exit_codes import CommandFailed

_WIDTH = 40
_FUNNEL = ("sent", "opened", "clicked", "submitted", "reported")


async def show_campaign(campaign_id: str, *, company: str, as_json: bool) -> None:
    """Print it. Raises `CommandFailed` when the company has no such campaign."""
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        try:
            view = await get_campaign(ports, owner.id, CampaignId(campaign_id))
        except NotFound as error:
            raise CommandFailed(
                shown(f"'{owner.name}' has no campaign '{campaign_id}': awareness campaigns list shows them")
            ) from error
    if as_json:
        write_json({**spell_campaign(view.campaign), "response": _spell_response(view.response)})
    else:
        write_text("\n".join(_picture(view)))


def _picture(view: CampaignView) -> list[str]:
    campaign, funnel = view.campaign, view.campaign.funnel
    lines = [
        shown(f"{campaign.name} ({campaign.state.value})"),
        f"{shown_moment(campaign.starts_at) or 'no start'} to {shown_moment(campaign.ends_at) or 'no end'}",
        "",
        f"targeted  {funnel.total:>7}",
    ]
    for step in _FUNNEL:
        count = count_of_step(funnel, step)
        share = rate(count, funnel.total)
        bar = "█" * round(_WIDTH * share.percent / 100)
        interval = f"({share.low:.1f} to {share.high:.1f})"
        lines.append(f"{step:<9} {count:>7} {share.percent:>6.1f} %  {interval:<16} {bar}".rstrip())
    lines.append(f"errors    {funnel.errors:>7}")
    lines.append(f"by machines, not counted: {funnel.machine}")
    lines += _noticed(view.response)
    return lines


def _noticed(response: Response) -> list[str]:
    if response.first_report_at is None or response.spared is None:
        return ["", "Nobody has reported it."]
    lines = ["", f"First report {shown_moment(response.first_report_at)}"]
    if response.median_delay is not None:
        lines.append(f"Half of the reports came within {_span(response.median_delay)}")
    lines.append(f"{response.spared.percent:.1f} % had not clicked when the first report came")
    return lines


def _span(delay: timedelta) -> str:
    minutes, seconds = divmod(round(delay.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


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
