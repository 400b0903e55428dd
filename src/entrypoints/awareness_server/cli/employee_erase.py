"""`awareness employees erase`: one person, for good, after asking."""

from __future__ import annotations

import sys

from awareness_core.employees import Employee, EmployeeId
from awareness_core.errors import NotFound
from awareness_core.ports import Ports
from awareness_core.tenants import Company
from awareness_core.use_cases.erase import erase
from awareness_core.use_cases.read_employees import get_employee
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import say, write_json
from awareness_server.cli.plain_text import shown
from awareness_server.exit_codes import CommandFailed, ExitCode


async def erase_employee(text: str, *, company: str, is_sure: bool, as_json: bool) -> None:
    """Erase one person. Raises `CommandFailed` for somebody unknown, and when nobody says that it is meant."""
    if not is_sure and not _may_ask():
        raise CommandFailed(
            "erasing cannot be undone, and there is no terminal to ask on: add --yes if it is meant",
            ExitCode.USAGE,
        )
    employee_id = EmployeeId(text.strip().lower())
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        person = await _found(ports, owner, employee_id)
        if not is_sure:
            _ask(person, owner)
        await erase(ports, owner.id, employee_id)
    if as_json:
        write_json({"ok": True, "id": employee_id})
    else:
        say(f"Erased {employee_id}. What they did in campaigns stays, as nobody's.")


async def _found(ports: Ports, company: Company, employee_id: EmployeeId) -> Employee:
    try:
        return (await get_employee(ports, company.id, employee_id)).employee
    except NotFound:
        raise CommandFailed(
            f"'{company.name}' has no employee '{employee_id}'; awareness employees list shows the ids"
        ) from None


def _may_ask() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _ask(person: Employee, company: Company) -> None:
    say(
        shown(
            f"{person.first_name} {person.last_name} <{person.email}> of {company.name} will be erased for good."
        )
    )
    say("Type yes to go on:")
    if sys.stdin.readline().strip().lower() != "yes":
        raise CommandFailed("nobody was erased")
