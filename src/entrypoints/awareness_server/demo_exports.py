"""What GoPhish would tell of a fictional campaign, as the file of its results: the JSON of its API with the dates.

Written byte for byte as GoPhish's and read by the adapter for it, so that the demo shows what real results come to, and
by the same way. What GoPhish does not know of a campaign is added to what was read.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

import attrs

from awareness_core.campaigns import CampaignState
from awareness_core.kpis import Step
from awareness_core.periods import spell_moment
from awareness_gophish import Export, read_export
from awareness_server.demo_campaigns import FictionalCampaign, FictionalRecipient
from awareness_server.demo_timeline import Happening

_STATUS: Mapping[CampaignState, str] = MappingProxyType(
    {
        CampaignState.DRAFT: "Created",
        CampaignState.SCHEDULED: "Queued",
        CampaignState.RUNNING: "In progress",
        CampaignState.COMPLETED: "Completed",
        # GoPhish has neither: one that pauses is still under way, and one that was called off is over.
        CampaignState.PAUSED: "In progress",
        CampaignState.CANCELLED: "Completed",
    }
)
_ENDED = frozenset({CampaignState.COMPLETED, CampaignState.CANCELLED})

_MESSAGES: Mapping[Step, str] = MappingProxyType(
    {
        Step.SENT: "Email Sent",
        Step.OPENED: "Email Opened",
        Step.CLICKED: "Clicked Link",
        Step.SUBMITTED: "Submitted Data",
        Step.REPORTED: "Email Reported",
        Step.ERROR: "Error Sending Email",
    }
)

_RANKS = ("Scheduled", "Email Sent", "Email Opened", "Clicked Link", "Submitted Data")
"""What GoPhish calls somebody who came so far. A report changes nothing of it."""

_UNSET = "0001-01-01T00:00:00Z"

_spelt = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def told_by_tool(campaign: FictionalCampaign) -> Export:
    """The campaign as read from its file, with the state, the difficulty and the planned end that are not in it."""
    export = read_export(gophish_export(campaign), name=campaign.plan.name)
    telling = attrs.evolve(
        export.campaign,
        state=campaign.plan.state,
        ends_at=campaign.ends_at,
        difficulty=campaign.plan.difficulty,
    )
    return attrs.evolve(export, campaign=telling)


def gophish_export(campaign: FictionalCampaign) -> bytes:
    """The file. The same campaign makes the same bytes."""
    tokens = {recipient.person.email: recipient.token for recipient in campaign.recipients}
    happened: defaultdict[str, list[Happening]] = defaultdict(list)
    for one in campaign.timeline:
        happened[one.person.email].append(one)
    is_over = campaign.plan.state in _ENDED
    told = {
        "id": campaign.number,
        "name": campaign.plan.name,
        "created_date": _date(campaign.created_at),
        "launch_date": _date(campaign.starts_at),
        "completed_date": _date(campaign.ends_at if is_over else None),
        "status": _STATUS[campaign.plan.state],
        "results": [
            _result(recipient, happened[recipient.person.email], launched_at=campaign.starts_at)
            for recipient in campaign.recipients
        ],
        "timeline": [
            _event(campaign.number, "", campaign.created_at, "Campaign Created", ""),
            *(
                _event(
                    campaign.number,
                    one.person.email,
                    one.at,
                    _MESSAGES[one.step],
                    _details(one, tokens[one.person.email]),
                )
                for one in campaign.timeline
            ),
        ],
    }
    return _spelt(told).encode()


def _result(
    recipient: FictionalRecipient, happened: list[Happening], *, launched_at: datetime | None
) -> dict[str, object]:
    """Where somebody stands by GoPhish's own reckoning, which knows no machines."""
    sent_at = next((one.at for one in happened if one.step in {Step.SENT, Step.ERROR}), launched_at)
    addresses = [one.address for one in happened if one.address is not None]
    return {
        "id": recipient.token,
        "status": _status(happened),
        "ip": addresses[-1] if addresses else "",
        "latitude": 0,
        "longitude": 0,
        "send_date": _date(sent_at),
        "reported": any(one.step is Step.REPORTED for one in happened),
        "modified_date": _date(happened[-1].at if happened else sent_at),
        "email": recipient.person.email,
        "first_name": recipient.person.first_name,
        "last_name": recipient.person.last_name,
        "position": recipient.person.job_title,
    }


def _status(happened: list[Happening]) -> str:
    messages = {_MESSAGES[one.step] for one in happened}
    if _MESSAGES[Step.ERROR] in messages:
        return "Error"
    return next((status for status in reversed(_RANKS) if status in messages), _RANKS[0])


def _event(campaign_id: int, email: str, at: datetime, message: str, details: str) -> dict[str, object]:
    return {
        "campaign_id": campaign_id,
        "email": email,
        "time": spell_moment(at),
        "message": message,
        "details": details,
    }


def _details(one: Happening, token: str) -> str:
    if one.step is Step.SENT:
        return ""
    if one.step is Step.ERROR:
        return _spelt({"error": f"550 5.1.1 <{one.person.email}>: Recipient address rejected: User unknown"})
    if one.user_agent is None:
        return _spelt({"payload": None, "browser": None})
    browser = {"address": one.address, "user-agent": one.user_agent}
    return _spelt({"payload": {"rid": [token]}, "browser": browser})


def _date(at: datetime | None) -> str:
    return _UNSET if at is None else spell_moment(at)
