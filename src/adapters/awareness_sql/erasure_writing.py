"""Erasing one company's people, as SQL."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import bindparam, delete, insert, update

from awareness_core.anonymity import ErasedAddress
from awareness_core.employees import EmployeeId
from awareness_core.receipts import Stage
from awareness_sql.one_of import KEYS, OneOf
from awareness_sql.reading import SqlReading
from awareness_sql.rows import RowValues, milliseconds_from
from awareness_sql.tables import employees, erased_addresses, erasure_secrets, receipt_parts, receipts

# Passwords, sessions and pending invitations go with them.
_EMPLOYEES_GONE = delete(employees).where(OneOf(employees.c.id, KEYS))
_NEW_SECRET = insert(erasure_secrets)
_MARKS_GONE = delete(erased_addresses).where(OneOf(erased_addresses.c.mark, KEYS))
_NEW_MARK = insert(erased_addresses)
_PARTS_GONE = delete(receipt_parts)
_FORGOTTEN = update(receipts).values(stage=bindparam("forgotten"), fingerprint=bindparam("nothing"))


class SqlErasureWriting(SqlReading):
    """An `ErasureTransaction` through one connection."""

    async def remove_employees(self, employee_ids: Collection[EmployeeId]) -> None:
        """See `ErasureTransaction`."""
        self._tenant.leave_no_trace()
        await self._tenant.run_keys(_EMPLOYEES_GONE, employee_ids)

    async def save_erasure_secret(self, secret: bytes) -> None:
        """See `ErasureTransaction`."""
        async with self._tenant.all_or_nothing():
            await self._tenant.run(_NEW_SECRET, {"secret": secret})

    async def save_erased_addresses(self, erased: Collection[ErasedAddress]) -> None:
        """See `ErasureTransaction`."""
        await self._tenant.run_keys(_MARKS_GONE, [one.mark for one in erased])
        await self._tenant.run_many(_NEW_MARK, map(_erased_row, erased))

    async def forget_answers(self) -> None:
        """See `ErasureTransaction`."""
        self._tenant.leave_no_trace()
        await self._tenant.run(_PARTS_GONE)
        await self._tenant.run(_FORGOTTEN, {"forgotten": Stage.FORGOTTEN.value, "nothing": b""})


def _erased_row(erased: ErasedAddress) -> RowValues:
    return {"mark": erased.mark, "until": milliseconds_from(erased.until)}
