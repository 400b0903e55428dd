"""Let somebody who forgot their password begin anew: an operator's word is enough, a stranger's never is."""

from __future__ import annotations

import attrs

from awareness_core.employees import (
    Access,
    Employee,
    EmployeeChange,
    EmployeeId,
    access,
    forget_password,
)
from awareness_core.errors import Conflict, NotFound
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId


@attrs.frozen(kw_only=True)
class AccessReset:
    """The person, who awaits access. `was_reset` is false for one who did so before: nothing was changed."""

    person: Employee
    was_reset: bool


async def reset_access(ports: Ports, company_id: CompanyId, employee_id: EmployeeId) -> AccessReset:
    """Forget the password that the person chose, and end all their sessions: they await access, and can be invited.

    Raises `NotFound` for an id that is not this company's, `Conflict` for an archived person or one who logs in through
    the company's own identity provider (Choice: decisions/029).
    """
    async with ports.store.transaction(company_id) as transaction:
        found = await transaction.employees_by_id([employee_id])
        if not found:
            raise NotFound("No such employee.")
        (person,) = found
        if not person.is_active:
            raise Conflict("This person is archived and has no access.")
        match access(person, await transaction.company()):
            case Access.SSO:
                raise Conflict("This person logs in through the company's identity provider.")
            case Access.AWAITING_ACCESS:
                return AccessReset(person=person, was_reset=False)
        anew = forget_password(person, now=ports.clock.now())
        await transaction.apply(changes=[EmployeeChange(before=person, after=anew)])
    return AccessReset(person=anew, was_reset=True)
