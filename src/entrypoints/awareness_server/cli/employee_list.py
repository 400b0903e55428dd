"""`awareness employees list`: a page of people, with how they get in and which sector they are in."""

from __future__ import annotations

import attrs

from awareness_core.emails import EmailKey, InvalidEmail, parse_email
from awareness_core.employees import Access, EmployeeState
from awareness_core.pages import PageRequest
from awareness_core.ports import EmployeeQuery, Ports
from awareness_core.sectors import SectorId
from awareness_core.tenants import CompanyId
from awareness_core.texts import folded_name
from awareness_core.use_cases.read_employees import EmployeeView, list_employees
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import JsonValue, moment, pagination, say, write_json
from awareness_server.cli.people_table import Column, write_people
from awareness_server.exit_codes import CommandFailed, ExitCode


@attrs.frozen(kw_only=True)
class Filters:
    """Which people are wanted, as typed; None does not narrow."""

    state: str | None = None
    access: str | None = None
    sector: str | None = None
    search: str | None = None
    email: str | None = None
    external_id: str | None = None

    @property
    def narrow(self) -> bool:
        """Whether any was given."""
        return any(value is not None for value in attrs.astuple(self))


async def show_employees(company: str, filters: Filters, *, page: int, limit: int, as_json: bool) -> None:
    """Print one page. Raises `CommandFailed` for an unknown company or sector, or an address that is none."""
    wanted_key = None if filters.email is None else email_key(filters.email)
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        query = EmployeeQuery(
            external_id=filters.external_id,
            email_key=wanted_key,
            state=None if filters.state is None else EmployeeState(filters.state),
            access=None if filters.access is None else Access(filters.access),
            sector_id=None if filters.sector is None else await _sector_id(ports, owner.id, filters.sector),
            text=filters.search,
            page=PageRequest(page=page, limit=limit),
        )
        found = await list_employees(ports, owner.id, query)
    if as_json:
        write_json({"data": [_as_json(view) for view in found.items], "pagination": pagination(found)})
        return
    columns = (
        Column(title="ID", whole=True),
        Column(title="NAME", is_name=True, room=16),
        Column(title="E-MAIL", is_email=True),
        Column(title="EXTERNAL ID"),
        Column(title="SECTOR"),
        Column(title="STATUS", room=8),
    )
    write_people(columns, [_row(view) for view in found.items])
    if not found.total:
        say(
            "Nobody fits."
            if filters.narrow
            else f"Nobody is there yet: awareness employees import FILE --company '{owner.name}'"
        )
    elif not found.items:
        say(f"{found.total} people on {found.total_pages} pages; this one is past the end.")
    elif found.has_more:
        say(f"{found.total} people in all; the next: --page {page + 1}")


def email_key(text: str) -> EmailKey:
    """What an address given as `--email` is looked for by. Raises `CommandFailed` for one that is none."""
    try:
        return parse_email(text).key
    except InvalidEmail as error:
        raise CommandFailed(f"--email '{text}' is no address: {error}", ExitCode.USAGE) from error


async def _sector_id(ports: Ports, company_id: CompanyId, wanted: str) -> SectorId:
    async with ports.store.reading(company_id) as reading:
        sectors = await reading.sectors()
    for sector in sectors:
        if sector.key == folded_name(wanted) or str(sector.id) == wanted.strip():
            return sector.id
    names = ", ".join(f"'{sector.name}'" for sector in sectors) or "none yet"
    raise CommandFailed(f"there is no sector '{wanted}'; there are {names}")


def _row(view: EmployeeView) -> tuple[str, ...]:
    person = view.employee
    return (
        person.id,
        f"{person.first_name} {person.last_name}",
        person.email.text,
        person.external_id or "",
        "" if view.sector is None else view.sector.name,
        _status(view),
    )


def _status(view: EmployeeView) -> str:
    if not view.employee.is_active or view.access is None:
        return view.employee.state.value
    return view.access.value.replace("_", " ")


def _as_json(view: EmployeeView) -> JsonValue:
    person = view.employee
    return {
        "id": person.id,
        "external_id": person.external_id,
        "email": person.email.text,
        "last_name": person.last_name,
        "first_name": person.first_name,
        "job_title": person.job_title,
        "phone": person.phone,
        "address": person.address,
        "sector": None if view.sector is None else {"id": str(view.sector.id), "name": view.sector.name},
        "state": person.state.value,
        "access": None if view.access is None else view.access.value,
        "last_invited_at": moment(person.invitation.last_sent_at),
        "first_login_at": moment(person.first_login_at),
        "created_at": moment(person.created_at),
        "updated_at": moment(person.updated_at),
        "archived_at": moment(person.archived_at),
    }
