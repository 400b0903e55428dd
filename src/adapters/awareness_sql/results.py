"""The results of campaigns as SQL: who is targeted, what happened, and the statements that write both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Delete, Table, Update, bindparam, delete, func, insert, select, update

from awareness_core.campaign_events import Event, EventKey
from awareness_core.campaigns import Campaign, CampaignId
from awareness_core.emails import EmailKey
from awareness_core.kpis import ReportTimes
from awareness_core.pages import Page, PageRequest
from awareness_core.recipients import Recipient
from awareness_core.verdict_rules import DEFAULT_RULES, VerdictRules
from awareness_sql.listings import Listing, count_from_row, page_of
from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.result_rows import (
    CAMPAIGN_COLUMNS,
    EVENT_COLUMNS,
    PROGRESS_COLUMNS,
    RECIPIENT_COLUMNS,
    RULES_COLUMNS,
    campaign_from_row,
    delay_from_row,
    event_from_row,
    recipient_from_row,
    rules_from_row,
)
from awareness_sql.rows import Row, milliseconds_from, moment_from
from awareness_sql.storable import is_storable
from awareness_sql.tables import campaign_events, campaigns, recipients
from awareness_sql.tenancy import Tenant


def _rewrite(table: Table, key: str, columns: Iterable[Column[Any]] | None = None) -> Update:
    """These columns of one row of one campaign, or all but those that say which row it is.

    A database may write every index of a column that is written at all, so fewer columns are more than fewer values.
    """
    identity = {"company_id", "campaign_id", key}
    written = columns or [column for column in table.columns if column.name not in identity]
    return (
        update(table)
        .where(table.c.campaign_id == bindparam("campaign_id"), table.c[key] == bindparam(key))
        .values({column: bindparam(column.name) for column in written})
    )


def _removal(table: Table, key: str) -> Delete:
    """One row of one campaign."""
    return delete(table).where(
        table.c.campaign_id == bindparam("campaign_id"), table.c[key] == bindparam(key)
    )


GONE_RECIPIENT = _removal(recipients, "email_key")
GONE_EVENT = _removal(campaign_events, "key")
NEW_RECIPIENT = insert(recipients)
CHANGED_RECIPIENT = _rewrite(recipients, "email_key")
PROGRESSED_RECIPIENT = _rewrite(recipients, "email_key", PROGRESS_COLUMNS)
NEW_EVENT = insert(campaign_events)
CHANGED_EVENT = _rewrite(campaign_events, "key")
JUDGED_EVENT = _rewrite(campaign_events, "key", [campaign_events.c.signs])

_CAMPAIGN = select(*CAMPAIGN_COLUMNS).where(campaigns.c.id == bindparam("campaign_id"))
_CAMPAIGN_BY_EXTERNAL_ID = select(*CAMPAIGN_COLUMNS).where(
    campaigns.c.external_id == bindparam("external_id")
)
_OF_CAMPAIGN = recipients.c.campaign_id == bindparam("campaign_id")
_RECIPIENTS = select(*RECIPIENT_COLUMNS).where(_OF_CAMPAIGN)
_RECIPIENTS_BY_KEY = _RECIPIENTS.where(OneOf(recipients.c.email_key, KEYS))
_RECIPIENTS_AFTER = (
    _RECIPIENTS.where(recipients.c.email_key > bindparam("after"))
    .order_by(recipients.c.email_key)
    .limit(bindparam("limit"))
)
_LISTING = Listing(
    items=_RECIPIENTS.order_by(recipients.c.email_key).limit(bindparam("limit")).offset(bindparam("offset")),
    count=select(func.count()).select_from(recipients).where(_OF_CAMPAIGN),
)
_FIRST_REPORT = select(func.min(recipients.c.reported_at)).where(_OF_CAMPAIGN)
_CLICKED_BEFORE = (
    select(func.count())
    .select_from(recipients)
    .where(_OF_CAMPAIGN, recipients.c.clicked_at <= bindparam("moment"))
)
_DELAYS = select(recipients.c.reported_at - recipients.c.sent_at).where(
    _OF_CAMPAIGN, recipients.c.reported_at > recipients.c.sent_at
)
_EVENTS = select(*EVENT_COLUMNS).where(campaign_events.c.campaign_id == bindparam("campaign_id"))
_EVENTS_BY_KEY = _EVENTS.where(OneOf(campaign_events.c.key, KEYS))
_EVENTS_OF = _EVENTS.where(OneOf(campaign_events.c.email_key, KEYS))
_EVENTS_AT = _EVENTS.where(OneOf(campaign_events.c.place, KEYS))
_ACTIVE_AFTER = (
    select(campaign_events.c.email_key)
    .distinct()
    .where(
        campaign_events.c.campaign_id == bindparam("campaign_id"),
        campaign_events.c.at > bindparam("moment"),
    )
)
_RULES = select(*RULES_COLUMNS)


class SqlResults:
    """The part of a `Reading` that is about single campaigns, and what is judged of them."""

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant

    async def campaign(self, campaign_id: CampaignId) -> Campaign | None:
        """See `Reading`."""
        if not is_storable(campaign_id):
            return None
        found = await self._tenant.fetch(_CAMPAIGN, campaign_from_row, {"campaign_id": campaign_id})
        return found[0] if found else None

    async def campaign_by_external_id(self, external_id: str) -> Campaign | None:
        """See `Reading`."""
        if not is_storable(external_id):
            return None
        named = {"external_id": external_id}
        found = await self._tenant.fetch(_CAMPAIGN_BY_EXTERNAL_ID, campaign_from_row, named)
        return found[0] if found else None

    async def report_times(self, campaign_id: CampaignId) -> ReportTimes:
        """See `Reading`."""
        named = {"campaign_id": campaign_id}
        (first,) = await self._tenant.fetch(_FIRST_REPORT, _optional_number, named)
        if first is None:
            return ReportTimes()
        (clicked,) = await self._tenant.fetch(_CLICKED_BEFORE, count_from_row, {**named, "moment": first})
        delays = await self._tenant.fetch(_DELAYS, delay_from_row, named)
        return ReportTimes(first_at=moment_from(first), clicked_before=clicked, delays=delays)

    async def recipients(
        self, campaign_id: CampaignId, email_keys: Collection[EmailKey]
    ) -> Sequence[Recipient]:
        """See `Reading`."""
        return await self._tenant.fetch_keys(
            _RECIPIENTS_BY_KEY, recipient_from_row, frozenset(email_keys), {"campaign_id": campaign_id}
        )

    async def list_recipients(self, campaign_id: CampaignId, page: PageRequest) -> Page[Recipient]:
        """See `Reading`."""
        return await page_of(self._tenant, _LISTING, recipient_from_row, {"campaign_id": campaign_id}, page)

    async def recipients_after(
        self, campaign_id: CampaignId, email_key: EmailKey | None, *, limit: int
    ) -> Sequence[Recipient]:
        """See `Reading`."""
        window = {"campaign_id": campaign_id, "after": email_key or "", "limit": limit}
        return await self._tenant.fetch(_RECIPIENTS_AFTER, recipient_from_row, window)

    async def events(
        self,
        campaign_id: CampaignId,
        *,
        keys: Collection[EventKey] = (),
        recipients: Collection[EmailKey] = (),
        places: Collection[str] = (),
    ) -> Sequence[Event]:
        """See `Reading`."""
        found: dict[EventKey, Event] = {}

        def collect(row: Row) -> None:
            if row[0] not in found:
                found[row[0]] = event_from_row(row)

        named = {"campaign_id": campaign_id}
        for statement, wanted in ((_EVENTS_BY_KEY, keys), (_EVENTS_OF, recipients), (_EVENTS_AT, places)):
            await self._tenant.fetch_keys(statement, collect, wanted, named)
        return list(found.values())

    async def recipients_active_after(self, campaign_id: CampaignId, moment: datetime) -> Sequence[EmailKey]:
        """See `Reading`."""
        named = {"campaign_id": campaign_id, "moment": milliseconds_from(moment)}
        return await self._tenant.fetch(_ACTIVE_AFTER, _email_key_from_row, named)

    async def verdict_rules(self) -> VerdictRules:
        """See `Reading`."""
        for rules in await self._tenant.fetch(_RULES, rules_from_row):
            return rules
        return DEFAULT_RULES


def _optional_number(row: Row) -> int | None:
    return None if row[0] is None else int(row[0])


def _email_key_from_row(row: Row) -> EmailKey:
    return EmailKey(row[0])
