"""What the core asks of a store to erase people: all that is kept of them, and what is left in its place.

A part of `ports`, which says what holds for every port.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

import attrs

from awareness_core.anonymity import AddressMark, ErasedAddress
from awareness_core.campaigns import CampaignId
from awareness_core.emails import EmailKey
from awareness_core.employees import Employee, EmployeeId
from awareness_core.recipients import Recipient


@attrs.frozen(kw_only=True)
class CampaignRecipient:
    """A recipient and the campaign they are one of."""

    campaign_id: CampaignId
    recipient: Recipient


class ErasureReading(Protocol):
    """The part of a `Reading` that finds who is to be erased, and knows again who was."""

    async def recipients_of_employees(
        self, employee_ids: Collection[EmployeeId]
    ) -> Sequence[CampaignRecipient]:
        """The recipients of all campaigns who are tied to one of these employees; in any order."""

    async def untied_recipients(
        self, *, external_ids: Collection[str], email_keys: Collection[EmailKey]
    ) -> Sequence[CampaignRecipient]:
        """The recipients of all campaigns who are tied to nobody and have one of these ids or addresses.

        Each once, in any order.
        """

    async def employees_archived_before(self, moment: datetime, *, limit: int) -> Sequence[Employee]:
        """The first `limit` of those who were archived earlier than that, by id."""

    async def count_employees_archived_before(self, moment: datetime) -> int:
        """How many there are."""

    async def erasure_secret(self) -> bytes | None:
        """What the company's marks are made with; None while nobody was erased."""

    async def erased_addresses(self, marks: Collection[AddressMark]) -> Sequence[ErasedAddress]:
        """Those of these marks that are kept; in any order."""


class ErasureTransaction(Protocol):
    """The part of a `Transaction` that erases.

    What it removes is not to be found in the database's files either, as far as the database can see to that.
    """

    async def remove_employees(self, employee_ids: Collection[EmployeeId]) -> None:
        """Remove these employees, their passwords, sessions and pending invitations.

        Nothing for one who is not there.
        """

    async def save_erasure_secret(self, secret: bytes) -> None:
        """Keep the company's secret. Raises `ConstraintViolated` when it has one."""

    async def save_erased_addresses(self, erased: Collection[ErasedAddress]) -> None:
        """Insert marks, or replace them by `mark`. No mark is twice in one call."""

    async def forget_answers(self) -> None:
        """Remove the answers and the fingerprints of all receipts, which become `Stage.FORGOTTEN`."""
