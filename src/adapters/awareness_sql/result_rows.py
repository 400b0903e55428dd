"""Rows of campaigns, recipients and events to values and back, as `rows` does for the rest."""

from __future__ import annotations

import functools
from datetime import timedelta

from awareness_core.campaign_events import Event, Sign, place_of
from awareness_core.campaigns import Campaign, CampaignId, CampaignState, Difficulty
from awareness_core.emails import EmailAddress
from awareness_core.kpis import Funnel, MachineSteps, Step
from awareness_core.recipients import Progress, Recipient
from awareness_core.verdict_rules import VerdictRules
from awareness_sql.rows import (
    Row,
    RowValues,
    milliseconds_from,
    moment_from,
    optional_milliseconds,
    optional_moment,
)
from awareness_sql.tables import campaign_events, campaigns, recipients, verdict_rules

_MILLISECOND = timedelta(milliseconds=1)
_STEPS = {step.value: step for step in Step}
# There are few of them, and an Enum looks each up in Python.
_sign_of = functools.cache(Sign)
_BITS = {step: 1 << number for number, step in enumerate(Step)}

CAMPAIGN_COLUMNS = (
    campaigns.c.id,
    campaigns.c.name,
    campaigns.c.state,
    campaigns.c.created_at,
    campaigns.c.starts_at,
    campaigns.c.ends_at,
    campaigns.c.total,
    campaigns.c.sent,
    campaigns.c.opened,
    campaigns.c.clicked,
    campaigns.c.submitted,
    campaigns.c.reported,
    campaigns.c.errors,
    campaigns.c.machine,
    campaigns.c.external_id,
    campaigns.c.difficulty,
    campaigns.c.sent_by_machine,
    campaigns.c.opened_by_machine,
    campaigns.c.clicked_by_machine,
    campaigns.c.submitted_by_machine,
)


def campaign_row(campaign: Campaign) -> RowValues:
    """All columns of `campaigns` but the company's."""
    funnel, by_machine = campaign.funnel, campaign.machine_steps
    return {
        "id": campaign.id,
        "name": campaign.name,
        "state": campaign.state.value,
        "created_at": milliseconds_from(campaign.created_at),
        "starts_at": optional_milliseconds(campaign.starts_at),
        "ends_at": optional_milliseconds(campaign.ends_at),
        "listed_at": milliseconds_from(campaign.listed_at),
        "total": funnel.total,
        "sent": funnel.sent,
        "opened": funnel.opened,
        "clicked": funnel.clicked,
        "submitted": funnel.submitted,
        "reported": funnel.reported,
        "errors": funnel.errors,
        "machine": funnel.machine,
        "external_id": campaign.external_id,
        "difficulty": None if campaign.difficulty is None else campaign.difficulty.value,
        "sent_by_machine": by_machine.sent,
        "opened_by_machine": by_machine.opened,
        "clicked_by_machine": by_machine.clicked,
        "submitted_by_machine": by_machine.submitted,
    }


# The pages of a listing are read again and again, and most of their campaigns are over.
@functools.lru_cache(maxsize=1024)
def campaign_from_row(row: Row) -> Campaign:
    """The value of a row of `CAMPAIGN_COLUMNS`."""
    campaign_id, name, state, created_at, starts_at, ends_at, *counts = row
    total, sent, opened, clicked, submitted, reported, errors, machine, *more = counts
    external_id, difficulty, more_sent, more_opened, more_clicked, more_submitted = more
    funnel = Funnel(
        total=total,
        sent=sent,
        opened=opened,
        clicked=clicked,
        submitted=submitted,
        reported=reported,
        errors=errors,
        machine=machine,
    )
    return Campaign(
        id=campaign_id,
        name=name,
        state=CampaignState(state),
        created_at=moment_from(created_at),
        starts_at=optional_moment(starts_at),
        ends_at=optional_moment(ends_at),
        funnel=funnel,
        external_id=external_id,
        difficulty=None if difficulty is None else Difficulty(difficulty),
        machine_steps=MachineSteps(
            sent=more_sent, opened=more_opened, clicked=more_clicked, submitted=more_submitted
        ),
    )


PROGRESS_COLUMNS = (
    recipients.c.sent_at,
    recipients.c.opened_at,
    recipients.c.clicked_at,
    recipients.c.submitted_at,
    recipients.c.reported_at,
    recipients.c.error_at,
    recipients.c.machine,
    recipients.c.with_machine,
)

RECIPIENT_COLUMNS = (
    recipients.c.email_key,
    recipients.c.email,
    recipients.c.external_id,
    recipients.c.employee_id,
    recipients.c.sector_id,
    *PROGRESS_COLUMNS,
)


def recipient_row(campaign_id: CampaignId, recipient: Recipient) -> RowValues:
    """All columns of `recipients` but the company's."""
    return {
        **progress_row(campaign_id, recipient),
        "email": recipient.email.text,
        "external_id": recipient.external_id,
        "employee_id": recipient.employee_id,
        "sector_id": recipient.sector_id,
    }


def progress_row(campaign_id: CampaignId, recipient: Recipient) -> RowValues:
    """Who it is, and `PROGRESS_COLUMNS`. Steps are bits, in the order in which `Step` names them."""
    progress = recipient.progress
    return {
        "campaign_id": campaign_id,
        "email_key": recipient.email.key,
        "sent_at": optional_milliseconds(progress.sent_at),
        "opened_at": optional_milliseconds(progress.opened_at),
        "clicked_at": optional_milliseconds(progress.clicked_at),
        "submitted_at": optional_milliseconds(progress.submitted_at),
        "reported_at": optional_milliseconds(progress.reported_at),
        "error_at": optional_milliseconds(progress.error_at),
        "machine": progress.machine,
        "with_machine": _bits_of(progress.with_machine),
    }


def recipient_from_row(row: Row) -> Recipient:
    """The value of a row of `RECIPIENT_COLUMNS`."""
    key, email, external_id, employee_id, sector_id, *moments, machine, with_machine = row
    sent_at, opened_at, clicked_at, submitted_at, reported_at, error_at = map(optional_moment, moments)
    return Recipient(
        # The key ends in the domain, as `emails` says.
        email=EmailAddress(text=email, key=key, domain=key.rpartition("@")[2]),
        external_id=external_id,
        employee_id=employee_id,
        sector_id=sector_id,
        progress=Progress(
            sent_at=sent_at,
            opened_at=opened_at,
            clicked_at=clicked_at,
            submitted_at=submitted_at,
            reported_at=reported_at,
            error_at=error_at,
            machine=machine,
            with_machine=_steps_of(with_machine),
        ),
    )


@functools.cache
def _bits_of(steps: frozenset[Step]) -> int:
    return sum(_BITS[step] for step in steps)


@functools.cache
def _steps_of(bits: int) -> frozenset[Step]:
    return frozenset(step for step, bit in _BITS.items() if bits & bit)


EVENT_COLUMNS = (
    campaign_events.c.key,
    campaign_events.c.email_key,
    campaign_events.c.step,
    campaign_events.c.at,
    campaign_events.c.address,
    campaign_events.c.user_agent,
    campaign_events.c.method,
    campaign_events.c.signs,
)


def event_row(campaign_id: CampaignId, event: Event) -> RowValues:
    """All columns of `campaign_events` but the company's; the place is derived."""
    return {
        "campaign_id": campaign_id,
        "key": event.key,
        "email_key": event.recipient,
        "step": event.step.value,
        "at": milliseconds_from(event.at),
        "address": event.address,
        "user_agent": event.user_agent,
        "method": event.method,
        "place": place_of(event),
        "signs": event.signs.value,
    }


def signs_row(campaign_id: CampaignId, event: Event) -> RowValues:
    """Which event it is, and its signs."""
    return {"campaign_id": campaign_id, "key": event.key, "signs": event.signs.value}


def event_from_row(row: Row) -> Event:
    """The value of a row of `EVENT_COLUMNS`."""
    key, email_key, step, at, address, user_agent, method, signs = row
    return Event(
        key=key,
        recipient=email_key,
        step=_STEPS[step],
        at=moment_from(at),
        address=address,
        user_agent=user_agent,
        method=method,
        signs=_sign_of(signs),
    )


RULES_COLUMNS = (
    verdict_rules.c.soon,
    verdict_rules.c.crowd,
    verdict_rules.c.crowd_window,
    verdict_rules.c.burst,
    verdict_rules.c.burst_window,
    verdict_rules.c.scanner_agents,
)


def rules_row(rules: VerdictRules) -> RowValues:
    """All columns of `verdict_rules` but the company's. No agent holds a line feed, so those separate them."""
    return {
        "soon": rules.soon // _MILLISECOND,
        "crowd": rules.crowd,
        "crowd_window": rules.crowd_window // _MILLISECOND,
        "burst": rules.burst,
        "burst_window": rules.burst_window // _MILLISECOND,
        "scanner_agents": "\n".join(rules.scanner_agents),
    }


def rules_from_row(row: Row) -> VerdictRules:
    """The value of a row of `RULES_COLUMNS`."""
    soon, crowd, crowd_window, burst, burst_window, scanner_agents = row
    return VerdictRules(
        soon=soon * _MILLISECOND,
        crowd=crowd,
        crowd_window=crowd_window * _MILLISECOND,
        burst=burst,
        burst_window=burst_window * _MILLISECOND,
        scanner_agents=tuple(scanner_agents.split("\n")) if scanner_agents else (),
    )


def delay_from_row(row: Row) -> timedelta:
    """Milliseconds, the only column."""
    return timedelta(milliseconds=row[0])
