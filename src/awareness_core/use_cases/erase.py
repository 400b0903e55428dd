"""Erase one employee by id, for good."""

from __future__ import annotations

from awareness_core.employees import EmployeeId
from awareness_core.erasure import erase_people
from awareness_core.errors import NotFound
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId


async def erase(ports: Ports, company_id: CompanyId, employee_id: EmployeeId) -> None:
    """Destroy all that says who the person is; what they did stays, as nobody's, so that every figure stays.

    Raises `NotFound` for an id that is not this company's, and so the second time.
    """
    async with ports.store.transaction(company_id) as transaction:
        found = await transaction.employees_by_id([employee_id])
        if not found:
            raise NotFound("No such employee.")
        await erase_people(ports, transaction, found)
