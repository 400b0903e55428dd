"""Writes to one company, as SQL: a few statements a call, never one a record.

People are written in the order of their addresses, so that the transactions of two companies take the same locks in the
same order wherever a database has locks smaller than itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from sqlalchemy import Table, Update, bindparam, delete, exists, false, insert, null, select, update

from awareness_core.campaigns import Campaign, CampaignId
from awareness_core.employees import EmployeeChange, EmployeeId, EmployeeState
from awareness_core.errors import ConstraintViolated
from awareness_core.outbox import PendingInvitation
from awareness_core.passwords import TemporaryPassword
from awareness_core.receipts import Receipt, ReceiptId
from awareness_core.results_plan import ResultChanges
from awareness_core.sectors import Sector
from awareness_core.verdict_rules import VerdictRules
from awareness_sql.erasure_writing import SqlErasureWriting
from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.portal_writing import SqlPortalWriting
from awareness_sql.receipt_rows import receipt_row
from awareness_sql.result_rows import (
    campaign_row,
    event_row,
    progress_row,
    recipient_row,
    rules_row,
    signs_row,
)
from awareness_sql.results import (
    CHANGED_EVENT,
    CHANGED_RECIPIENT,
    GONE_EVENT,
    GONE_RECIPIENT,
    JUDGED_EVENT,
    NEW_EVENT,
    NEW_RECIPIENT,
    PROGRESSED_RECIPIENT,
)
from awareness_sql.rows import (
    Row,
    RowValues,
    employee_row,
    milliseconds_from,
    password_row,
    pending_row,
    sector_row,
)
from awareness_sql.tables import (
    campaigns,
    employees,
    pending_invitations,
    receipt_parts,
    receipts,
    sectors,
    temporary_passwords,
    verdict_rules,
)


def _rewrite(table: Table) -> Update:
    """Every column of the row of that id, but those that say which row it is."""
    written = [column for column in table.columns if column.name not in {"company_id", "id"}]
    return (
        update(table)
        .where(table.c.id == bindparam("id"))
        .values({column: bindparam(column.name) for column in written})
    )


_NEW_SECTOR = insert(sectors)
_NEW_EMPLOYEE = insert(employees)
_CHANGED_EMPLOYEE = _rewrite(employees)
_LET_GO = (
    update(employees).where(OneOf(employees.c.id, KEYS)).values(held_email_key=null(), external_id=null())
)
_NEW_PASSWORD = insert(temporary_passwords)
_FORGOTTEN = delete(temporary_passwords).where(OneOf(temporary_passwords.c.employee_id, KEYS))
_ATTEMPTED = (
    update(employees)
    .where(employees.c.id == bindparam("employee_id"))
    .values(last_attempt_at=bindparam("created_at"))
)
_IS_KEPT = exists().where(
    temporary_passwords.c.company_id == employees.c.company_id,
    temporary_passwords.c.employee_id == employees.c.id,
    temporary_passwords.c.digest == bindparam("digest"),
)
_DELIVERED = (
    update(employees)
    .where(
        employees.c.id == bindparam("employee_id"),
        employees.c.state == EmployeeState.ACTIVE.value,
        employees.c.has_password == false(),
        _IS_KEPT,
    )
    .values(last_sent_at=bindparam("created_at"), live_until=bindparam("expires_at"))
)
_FAILED = (
    update(employees)
    .where(
        employees.c.id == bindparam("employee_id"),
        employees.c.last_attempt_at < bindparam("at"),
        _IS_KEPT,
    )
    .values(last_attempt_at=bindparam("at"))
)
_NEW_PENDING = insert(pending_invitations)
_PENDING_GONE = delete(pending_invitations).where(OneOf(pending_invitations.c.employee_id, KEYS))
_CAMPAIGN_IDS = select(campaigns.c.id).where(OneOf(campaigns.c.id, KEYS))
_NEW_CAMPAIGN = insert(campaigns)
_CHANGED_CAMPAIGN = _rewrite(campaigns)
_NEW_RULES = insert(verdict_rules)
_RULES_GONE = delete(verdict_rules)
_NEW_RECEIPT = insert(receipts)
_NEW_PART = insert(receipt_parts)
_RECEIPT_GONE = delete(receipts).where(receipts.c.id == bindparam("id"))
_RECEIPTS_GONE = delete(receipts).where(OneOf(receipts.c.id, KEYS))
_EXPIRED = (
    select(receipts.c.id)
    .where(receipts.c.expires_at <= bindparam("at"))
    .order_by(receipts.c.expires_at, receipts.c.id)
    .limit(bindparam("at_most"))
)


class SqlTransaction(SqlErasureWriting, SqlPortalWriting):
    """A `Transaction` through one connection."""

    async def apply(self, *, changes: Sequence[EmployeeChange], sectors: Sequence[Sector] = ()) -> None:
        """See `Transaction`. Raises `ConstraintViolated` for a person to change who is not this company's, too."""
        in_email_order = sorted(changes, key=lambda change: change.after.email.key)
        updates = [change for change in in_email_order if change.before is not None]
        async with self._tenant.all_or_nothing():
            await self._tenant.run_many(_NEW_SECTOR, map(sector_row, sectors))
            # Whoever gives up an address or an external id does so before anybody takes one.
            await self._tenant.run_keys(_LET_GO, [change.after.id for change in updates if _lets_go(change)])
            found = await self._tenant.run_many(_CHANGED_EMPLOYEE, map(employee_row, updates))
            if found != len(updates):
                raise ConstraintViolated("An employee to change does not exist.")
            await self._tenant.run_many(
                _NEW_EMPLOYEE,
                (employee_row(change) for change in in_email_order if change.before is None),
            )
            gone = [change.after.id for change in updates if change.ends_access]
            await self.forget_passwords(gone)
            await self.lock_out(gone)
            moved = [change.after.id for change in updates if change.moves_address]
            await self._tenant.run_keys(_FORGOTTEN, moved)
            await self.end_choosing(moved)

    async def record_attempts(self, passwords: Sequence[TemporaryPassword]) -> None:
        """See `Transaction`. Raises `ConstraintViolated` for an employee who is not this company's.

        It does so for a digest that is kept already, too: it would be the same password again.
        """
        async with self._tenant.all_or_nothing():
            await self._tenant.run_many(_NEW_PASSWORD, map(password_row, passwords))
            await self._tenant.run_many(_ATTEMPTED, map(_attempt_row, passwords))

    async def record_deliveries(self, passwords: Sequence[TemporaryPassword]) -> None:
        """See `Transaction`. A password destroyed meanwhile opens nothing, so it is noted for nobody."""
        await self._tenant.run_many(_DELIVERED, map(password_row, passwords))

    async def record_failures(self, failures: Sequence[tuple[TemporaryPassword, datetime]]) -> None:
        """See `Transaction`."""
        await self._tenant.run_many(
            _FAILED,
            (
                {
                    "employee_id": password.employee_id,
                    "digest": password.digest,
                    "at": milliseconds_from(at),
                }
                for password, at in failures
            ),
        )

    async def forget_passwords(self, employee_ids: Collection[EmployeeId]) -> None:
        """See `Transaction`."""
        await self._tenant.run_keys(_FORGOTTEN, employee_ids)
        await self.forget_pending(employee_ids)

    async def save_pending(self, invitations: Sequence[PendingInvitation]) -> None:
        """See `Transaction`. Of two for one employee in one call the last is kept."""
        saved = {pending.employee_id: pending for pending in invitations}
        async with self._tenant.all_or_nothing():
            await self.forget_pending(saved)
            await self._tenant.run_many(_NEW_PENDING, map(pending_row, saved.values()))

    async def forget_pending(
        self, employee_ids: Collection[EmployeeId], *, holder: str | None = None
    ) -> None:
        """See `Transaction`."""
        gone = set(employee_ids)
        if holder is not None:
            gone &= {pending.employee_id for pending in await self.held_invitations(holder)}
        await self._tenant.run_keys(_PENDING_GONE, gone)

    async def save_campaigns(self, campaigns: Sequence[Campaign]) -> None:
        """See `Transaction`. Of two with one id in one call the last is kept."""
        saved = {campaign.id: campaign for campaign in campaigns}
        known = set(await self._tenant.fetch_keys(_CAMPAIGN_IDS, _campaign_id_from_row, saved))
        rows = {campaign_id: campaign_row(campaign) for campaign_id, campaign in saved.items()}
        await self._tenant.run_many(
            _CHANGED_CAMPAIGN, (rows[campaign_id] for campaign_id in rows if campaign_id in known)
        )
        await self._tenant.run_many(
            _NEW_CAMPAIGN, (rows[campaign_id] for campaign_id in rows if campaign_id not in known)
        )

    async def save_results(self, campaign_id: CampaignId, changes: ResultChanges) -> None:
        """See `Transaction`."""
        async with self._tenant.all_or_nothing():
            await self._tenant.run_many(
                GONE_RECIPIENT,
                ({"campaign_id": campaign_id, "email_key": key} for key in changes.gone_recipients),
            )
            await self._tenant.run_many(
                GONE_EVENT, ({"campaign_id": campaign_id, "key": key} for key in changes.gone_events)
            )
            await self._tenant.run_many(
                NEW_RECIPIENT, (recipient_row(campaign_id, one) for one in changes.new_recipients)
            )
            await self._tenant.run_many(
                CHANGED_RECIPIENT, (recipient_row(campaign_id, one) for one in changes.changed_recipients)
            )
            await self._tenant.run_many(
                NEW_EVENT, (event_row(campaign_id, one) for one in changes.new_events)
            )
            await self._tenant.run_many(
                CHANGED_EVENT, (event_row(campaign_id, one) for one in changes.changed_events)
            )
            await self._tenant.run_unordered(
                PROGRESSED_RECIPIENT,
                (progress_row(campaign_id, one) for one in changes.progressed_recipients),
            )
            await self._tenant.run_unordered(
                JUDGED_EVENT, (signs_row(campaign_id, one) for one in changes.judged_events)
            )

    async def save_verdict_rules(self, rules: VerdictRules | None) -> None:
        """See `Transaction`."""
        await self._tenant.run(_RULES_GONE)
        if rules is not None:
            await self._tenant.run(_NEW_RULES, rules_row(rules))

    async def save_receipt(self, receipt: Receipt, *, answer: Iterable[bytes] = ()) -> None:
        """See `Transaction`. Each part is a statement of its own, so that one at a time is in memory."""
        await self.forget_receipt(receipt.id)
        await self._tenant.run(_NEW_RECEIPT, receipt_row(receipt))
        for number, content in enumerate(answer):
            part = {"receipt_id": receipt.id, "number": number, "content": content}
            await self._tenant.run(_NEW_PART, part)

    async def forget_receipt(self, receipt_id: ReceiptId) -> None:
        """See `Transaction`. Its answer goes with it."""
        await self._tenant.run(_RECEIPT_GONE, {"id": receipt_id})

    async def purge_receipts(self, *, at: datetime, at_most: int) -> int:
        """See `Transaction`."""
        limits = {"at": milliseconds_from(at), "at_most": at_most}
        return await self._tenant.run_keys(
            _RECEIPTS_GONE, await self._tenant.fetch(_EXPIRED, _receipt_id_from_row, limits)
        )


def _receipt_id_from_row(row: Row) -> ReceiptId:
    return ReceiptId(row[0])


def _lets_go(change: EmployeeChange) -> bool:
    """Whether the person held an address or an external id that they do not hold afterwards."""
    before, after = change.before, change.after
    if before is None:
        return False
    keeps_address = after.is_active and after.email.key == before.email.key
    return (before.is_active and not keeps_address) or (
        before.external_id is not None and before.external_id != after.external_id
    )


def _attempt_row(password: TemporaryPassword) -> RowValues:
    return {
        "employee_id": password.employee_id,
        "created_at": milliseconds_from(password.created_at),
    }


def _campaign_id_from_row(row: Row) -> CampaignId:
    return CampaignId(row[0])
