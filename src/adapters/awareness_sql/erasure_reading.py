"""Who is to be erased, and who was: questions about one company, as SQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select

from awareness_core.anonymity import AddressMark, ErasedAddress
from awareness_core.campaigns import CampaignId
from awareness_core.emails import EmailKey
from awareness_core.employees import Employee, EmployeeId, EmployeeState
from awareness_core.erasure_ports import CampaignRecipient
from awareness_sql.listings import count_from_row
from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.result_rows import RECIPIENT_COLUMNS, recipient_from_row
from awareness_sql.results import SqlResults
from awareness_sql.rows import (
    EMPLOYEE_COLUMNS,
    Row,
    employee_from_row,
    milliseconds_from,
    moment_from,
)
from awareness_sql.tables import employees, erased_addresses, erasure_secrets, recipients

_OF_ALL = select(recipients.c.campaign_id, *RECIPIENT_COLUMNS)
_OF_EMPLOYEES = _OF_ALL.where(OneOf(recipients.c.employee_id, KEYS))
_UNTIED = _OF_ALL.where(recipients.c.employee_id.is_(None))
_UNTIED_BY_ADDRESS = _UNTIED.where(OneOf(recipients.c.email_key, KEYS))
_UNTIED_BY_EXTERNAL_ID = _UNTIED.where(
    recipients.c.external_id.is_not(None), OneOf(recipients.c.external_id, KEYS)
)
_IS_ARCHIVED_BEFORE = (
    employees.c.state == EmployeeState.ARCHIVED.value,
    employees.c.archived_at < bindparam("moment"),
)
_ARCHIVED = (
    select(*EMPLOYEE_COLUMNS).where(*_IS_ARCHIVED_BEFORE).order_by(employees.c.id).limit(bindparam("limit"))
)
_ARCHIVED_COUNT = select(func.count()).select_from(employees).where(*_IS_ARCHIVED_BEFORE)
_SECRET = select(erasure_secrets.c.secret)
_ERASED = select(erased_addresses.c.mark, erased_addresses.c.until).where(
    OneOf(erased_addresses.c.mark, KEYS)
)


class SqlErasureReading(SqlResults):
    """An `ErasureReading` through one connection."""

    async def recipients_of_employees(
        self, employee_ids: Collection[EmployeeId]
    ) -> Sequence[CampaignRecipient]:
        """See `ErasureReading`."""
        return await self._tenant.fetch_keys(_OF_EMPLOYEES, _campaign_recipient, frozenset(employee_ids))

    async def untied_recipients(
        self, *, external_ids: Collection[str], email_keys: Collection[EmailKey]
    ) -> Sequence[CampaignRecipient]:
        """See `ErasureReading`."""
        found = await self._tenant.fetch_keys(_UNTIED_BY_ADDRESS, _campaign_recipient, frozenset(email_keys))
        found += await self._tenant.fetch_keys(
            _UNTIED_BY_EXTERNAL_ID, _campaign_recipient, frozenset(external_ids)
        )
        return list({(one.campaign_id, one.recipient.email.key): one for one in found}.values())

    async def employees_archived_before(self, moment: datetime, *, limit: int) -> Sequence[Employee]:
        """See `ErasureReading`."""
        wanted = {"moment": milliseconds_from(moment), "limit": limit}
        return await self._tenant.fetch(_ARCHIVED, employee_from_row, wanted)

    async def count_employees_archived_before(self, moment: datetime) -> int:
        """See `ErasureReading`."""
        wanted = {"moment": milliseconds_from(moment)}
        (count,) = await self._tenant.fetch(_ARCHIVED_COUNT, count_from_row, wanted)
        return count

    async def erasure_secret(self) -> bytes | None:
        """See `ErasureReading`."""
        for secret in await self._tenant.fetch(_SECRET, _bytes_from_row):
            return secret
        return None

    async def erased_addresses(self, marks: Collection[AddressMark]) -> Sequence[ErasedAddress]:
        """See `ErasureReading`."""
        return await self._tenant.fetch_keys(_ERASED, _erased_from_row, frozenset(marks))


def _campaign_recipient(row: Row) -> CampaignRecipient:
    campaign_id, *rest = row
    return CampaignRecipient(campaign_id=CampaignId(campaign_id), recipient=recipient_from_row(tuple(rest)))


def _bytes_from_row(row: Row) -> bytes:
    return bytes(row[0])


def _erased_from_row(row: Row) -> ErasedAddress:
    mark, until = row
    return ErasedAddress(mark=AddressMark(mark), until=moment_from(until))
