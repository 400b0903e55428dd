"""Read people back, together with what is derived from them: how they get in and which sector they are in."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from awareness_core.employees import Access, Employee, EmployeeId, access
from awareness_core.errors import NotFound
from awareness_core.pages import Page
from awareness_core.ports import EmployeeQuery, Ports, Reading
from awareness_core.sectors import Sector
from awareness_core.tenants import CompanyId


@attrs.frozen(kw_only=True)
class EmployeeView:
    """An employee as a reader sees them. `access` is None for an archived person who cannot get in."""

    employee: Employee
    access: Access | None
    sector: Sector | None


async def list_employees(ports: Ports, company_id: CompanyId, query: EmployeeQuery) -> Page[EmployeeView]:
    """One page of the company's people, sorted by id. Raises `NotFound` for an unknown company."""
    async with ports.store.reading(company_id) as reading:
        page = await reading.list_employees(query)
        views = await _views(reading, page.items)
    return Page(items=views, total=page.total, request=page.request)


async def get_employee(ports: Ports, company_id: CompanyId, employee_id: EmployeeId) -> EmployeeView:
    """One person. Raises `NotFound` for an id that is not this company's."""
    async with ports.store.reading(company_id) as reading:
        views = await _views(reading, await reading.employees_by_id([employee_id]))
    if not views:
        raise NotFound("No such employee.")
    return views[0]


async def _views(reading: Reading, employees: Sequence[Employee]) -> list[EmployeeView]:
    company = await reading.company()
    sectors = {sector.id: sector for sector in await reading.sectors()}
    return [
        EmployeeView(
            employee=person,
            access=access(person, company),
            sector=None if person.sector_id is None else sectors.get(person.sector_id),
        )
        for person in employees
    ]
