"""Note that a person got in, for programs that check the temporary password and keep the chosen one themselves."""

from __future__ import annotations

from awareness_core.employees import Access, Employee, EmployeeChange, EmployeeId, access, log_in_first
from awareness_core.errors import Conflict, NotFound
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId


async def record_first_login(ports: Ports, company_id: CompanyId, employee_id: EmployeeId) -> Employee:
    """The person, no longer awaiting access; their temporary passwords open nothing any more.

    Raises `NotFound` for an id that is not this company's, `Conflict` for an archived person or one who logs in through
    the company's own identity provider. Somebody who had logged in already is returned unchanged.
    """
    async with ports.store.transaction(company_id) as transaction:
        found = await transaction.employees_by_id([employee_id])
        if not found:
            raise NotFound("No such employee.")
        (person,) = found
        match access(person, await transaction.company()):
            case Access.LOGGED_IN:
                return person
            case Access.SSO:
                raise Conflict("This person logs in through the company's identity provider.")
            case None:
                raise Conflict("This person is archived and has no access.")
        inside = log_in_first(person, now=ports.clock.now())
        await transaction.apply(changes=[EmployeeChange(before=person, after=inside)])
        await transaction.forget_passwords([person.id])
    return inside
