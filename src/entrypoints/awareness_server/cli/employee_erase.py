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
    if not is_sure:
        require_terminal()
    employee_id = EmployeeId(text.strip().lower())
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        person = await _found(ports, owner, employee_id)
        insist(
            f"{person.first_name} {person.last_name} <{person.email}> of {owner.name} will be erased for good.",
            is_sure=is_sure,
            otherwise="nobody was erased",
        )
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


def require_terminal() -> None:
    """Raise `CommandFailed` where nobody can be asked."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        raise CommandFailed(
            "erasing cannot be undone, and there is no terminal to ask on: add --yes if it is meant",
            ExitCode.USAGE,
        )


def insist(what: str, *, is_sure: bool, otherwise: str) -> None:
    """Say `what` will happen and go on only if that is meant. Raises `CommandFailed`, saying `otherwise` if not."""
    if is_sure:
        return
    require_terminal()
    say(shown(what))
    say("Type yes to go on:")
    if sys.stdin.readline().strip().lower() != "yes":
        raise CommandFailed(otherwise)
