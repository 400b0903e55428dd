"""Questions about one company, as SQL. What they mean is what the store in memory does."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, func, select

from awareness_core.campaigns import Campaign, CampaignQuery
from awareness_core.emails import EmailKey
from awareness_core.employees import Employee, EmployeeId, EmployeeState
from awareness_core.errors import NotFound
from awareness_core.outbox import PendingInvitation
from awareness_core.pages import Page
from awareness_core.passwords import TemporaryPassword
from awareness_core.ports import EmployeeQuery, RosterEntry
from awareness_core.receipts import Receipt, ReceiptId
from awareness_core.records import Glance, UnchangedPerson
from awareness_core.sectors import Sector
from awareness_core.tenants import Company
from awareness_sql.access_rows import COMPANY_COLUMNS, company_from_row
from awareness_sql.erasure_reading import SqlErasureReading
from awareness_sql.listings import (
    SSO_DOMAINS,
    campaign_filters,
    campaign_listing,
    count_from_row,
    employee_filters,
    employee_listing,
    matches_nothing,
    page_of,
)
from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.portal import SqlPortalReading
from awareness_sql.receipt_rows import RECEIPT_COLUMNS, receipt_from_row
from awareness_sql.result_rows import campaign_from_row
from awareness_sql.rows import (
    EMPLOYEE_COLUMNS,
    PASSWORD_COLUMNS,
    PENDING_COLUMNS,
    ROSTER_COLUMNS,
    SECTOR_COLUMNS,
    UNCHANGED_COLUMNS,
    Row,
    employee_from_row,
    milliseconds_from,
    password_from_row,
    pending_from_row,
    roster_entry_from_row,
    sector_from_row,
    unchanged_from_row,
)
from awareness_sql.tables import (
    awaiting_password,
    employees,
    pending_invitations,
    receipt_parts,
    receipts,
    sectors,
    temporary_passwords,
)

_ROSTER_AT_ONCE = 5000

_COMPANY = select(*COMPANY_COLUMNS)
_SECTORS = select(*SECTOR_COLUMNS).order_by(sectors.c.id)
_EMPLOYEES = select(*EMPLOYEE_COLUMNS)
_BY_ID = _EMPLOYEES.where(OneOf(employees.c.id, KEYS))
_BY_EXTERNAL_ID = _EMPLOYEES.where(OneOf(employees.c.external_id, KEYS))
_BY_EMAIL = _EMPLOYEES.where(OneOf(employees.c.email_key, KEYS))
_IS_ROSTERED = and_(employees.c.state == EmployeeState.ACTIVE.value, employees.c.external_id.is_not(None))
_ROSTERED = _EMPLOYEES.where(_IS_ROSTERED)
_ROSTERED_COUNT = select(func.count()).select_from(employees).where(_IS_ROSTERED)
_ROSTER_AFTER = (
    select(*ROSTER_COLUMNS)
    .where(_IS_ROSTERED, employees.c.id > bindparam("after"))
    .order_by(employees.c.id)
    .limit(_ROSTER_AT_ONCE)
)
_UNCHANGED = select(*UNCHANGED_COLUMNS)
_UNCHANGED_BY_EXTERNAL_ID = _UNCHANGED.where(OneOf(employees.c.external_id, KEYS))
_UNCHANGED_BY_EMAIL = _UNCHANGED.where(OneOf(employees.c.email_key, KEYS))
_WITHOUT_PASSWORD = _EMPLOYEES.where(awaiting_password())
_PASSWORDS = (
    select(*PASSWORD_COLUMNS)
    .where(temporary_passwords.c.employee_id == bindparam("employee_id"))
    .order_by(temporary_passwords.c.created_at.desc(), temporary_passwords.c.digest.desc())
)
_PENDING = select(*PENDING_COLUMNS)
_DUE = (
    _PENDING.where(pending_invitations.c.due_at <= bindparam("at"))
    .order_by(pending_invitations.c.due_at, pending_invitations.c.employee_id)
    .limit(bindparam("limit"))
)
_HELD = _PENDING.where(pending_invitations.c.holder == bindparam("holder"))
_RECEIPT = select(*RECEIPT_COLUMNS).where(receipts.c.id == bindparam("id"))
_PART = select(receipt_parts.c.content).where(
    receipt_parts.c.receipt_id == bindparam("receipt_id"), receipt_parts.c.number == bindparam("number")
)


class SqlReading(SqlErasureReading, SqlPortalReading):
    """A `Reading` through one connection."""

    async def company(self) -> Company:
        """See `Reading`."""
        for company in await self._tenant.fetch(_COMPANY, company_from_row):
            return company
        raise NotFound("No such company.")

    async def sectors(self) -> Sequence[Sector]:
        """See `Reading`."""
        return await self._tenant.fetch(_SECTORS, sector_from_row)

    async def matching_employees(
        self, *, external_ids: Collection[str], email_keys: Collection[EmailKey]
    ) -> Sequence[Employee]:
        """See `Reading`."""
        found: dict[EmployeeId, Employee] = {}

        def collect(row: Row) -> None:
            # Most people are found by both; building each once saves half the time.
            if row[0] not in found:
                found[row[0]] = employee_from_row(row)

        await self._tenant.fetch_keys(_BY_EXTERNAL_ID, collect, external_ids)
        await self._tenant.fetch_keys(_BY_EMAIL, collect, email_keys)
        return list(found.values())

    async def addresses_held_by_other_companies(
        self, email_keys: Collection[EmailKey]
    ) -> frozenset[EmailKey]:
        """See `Reading`."""
        held = await self._tenant.fetch_addresses_held_by_other_companies(_email_key_from_row, email_keys)
        return frozenset(held)

    async def rostered_employees(self) -> Sequence[Employee]:
        """See `Reading`."""
        return await self._tenant.fetch(_ROSTERED, employee_from_row)

    async def count_rostered_employees(self) -> int:
        """See `Reading`."""
        (count,) = await self._tenant.fetch(_ROSTERED_COUNT, count_from_row)
        return count

    async def roster(self) -> AsyncIterator[Sequence[RosterEntry]]:
        """See `Reading`; by id."""
        after = ""
        while entries := await self._tenant.fetch(_ROSTER_AFTER, roster_entry_from_row, {"after": after}):
            yield entries
            after = entries[-1].id

    async def unchanged_people(self, glances: Sequence[Glance]) -> Sequence[UnchangedPerson | None]:
        """See `Reading`. Seeks no fingerprint: an index of those would cost each write more than this look-up does."""
        external_ids = [glance.external_id for glance in glances if glance.external_id is not None]
        found = await self._tenant.fetch_keys(_UNCHANGED_BY_EXTERNAL_ID, unchanged_from_row, external_ids)
        if len(external_ids) < len(glances):
            email_keys = [glance.email.lower() for glance in glances if glance.external_id is None]
            found += await self._tenant.fetch_keys(_UNCHANGED_BY_EMAIL, unchanged_from_row, email_keys)
        person_of = dict(found)
        return [person_of.get(glance.fingerprint.hex()) for glance in glances]

    async def employees_by_id(self, ids: Collection[EmployeeId]) -> Sequence[Employee]:
        """See `Reading`."""
        return await self._tenant.fetch_keys(_BY_ID, employee_from_row, frozenset(ids))

    async def employees_without_password(self) -> Sequence[Employee]:
        """See `Reading`."""
        return await self._tenant.fetch(_WITHOUT_PASSWORD, employee_from_row)

    async def list_employees(self, query: EmployeeQuery) -> Page[Employee]:
        """See `Reading`."""
        filters = employee_filters(query)
        if matches_nothing(filters):
            return Page(items=[], total=0, request=query.page)
        listing = employee_listing(frozenset(filters), query.access)
        if query.access is not None:
            filters[SSO_DOMAINS] = await self._sso_domains()
        return await page_of(self._tenant, listing, employee_from_row, filters, query.page)

    async def list_campaigns(self, query: CampaignQuery) -> Page[Campaign]:
        """See `Reading`."""
        listing = campaign_listing(by_state=query.state is not None)
        return await page_of(self._tenant, listing, campaign_from_row, campaign_filters(query), query.page)

    async def temporary_passwords(self, employee_id: EmployeeId) -> Sequence[TemporaryPassword]:
        """See `Reading`. Of two made in the same millisecond the greater digest comes first."""
        return await self._tenant.fetch(_PASSWORDS, password_from_row, {"employee_id": employee_id})

    async def due_invitations(self, *, at: datetime, limit: int) -> Sequence[PendingInvitation]:
        """See `Reading`."""
        return await self._tenant.fetch(_DUE, pending_from_row, {"at": milliseconds_from(at), "limit": limit})

    async def held_invitations(self, holder: str) -> Sequence[PendingInvitation]:
        """See `Reading`."""
        return await self._tenant.fetch(_HELD, pending_from_row, {"holder": holder})

    async def receipt(self, receipt_id: ReceiptId) -> Receipt | None:
        """See `Reading`."""
        for receipt in await self._tenant.fetch(_RECEIPT, receipt_from_row, {"id": receipt_id}):
            return receipt
        return None

    async def kept_answer(self, receipt_id: ReceiptId) -> AsyncIterator[bytes]:
        """See `Reading`. One part at a time is in memory."""
        for number in itertools.count():
            wanted = {"receipt_id": receipt_id, "number": number}
            found = await self._tenant.fetch(_PART, _content_from_row, wanted)
            if not found:
                return
            yield found[0]

    async def _sso_domains(self) -> list[str]:
        return [
            domain
            for company in await self._tenant.fetch(_COMPANY, company_from_row)
            for domain in company.sso_domains
        ]


def _content_from_row(row: Row) -> bytes:
    return bytes(row[0])


def _email_key_from_row(row: Row) -> EmailKey:
    return EmailKey(row[0])
