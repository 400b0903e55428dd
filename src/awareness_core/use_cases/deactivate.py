"""Archive one employee by id."""

from __future__ import annotations

from awareness_core.employees import Action, Employee, EmployeeChange, EmployeeId, archive
from awareness_core.errors import NotFound
from awareness_core.ports import Ports
from awareness_core.sync_plan import SyncItem
from awareness_core.tenants import CompanyId


async def deactivate(ports: Ports, company_id: CompanyId, employee_id: EmployeeId) -> SyncItem:
    """End the person's access at once: `deactivated`, or `skipped` for somebody archived already.

    Raises `NotFound` for an id that is not this company's.
    """
    async with ports.store.transaction(company_id) as transaction:
        found = await transaction.employees_by_id([employee_id])
        if not found:
            raise NotFound("No such employee.")
        (person,) = found
        if not person.is_active:
            return _item(person, Action.SKIPPED)
        gone = archive(person, now=ports.clock.now())
        await transaction.apply(changes=[EmployeeChange(before=person, after=gone)])
    return _item(gone, Action.DEACTIVATED)


def _item(person: Employee, action: Action) -> SyncItem:
    return SyncItem(
        external_id=person.external_id, email=person.email.text, action=action, id=person.id, employee=person
    )
