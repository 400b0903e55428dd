"""`awareness employees reset-access`: one person begins anew with a mailed password, on an operator's word."""

from __future__ import annotations

import attrs

from awareness_core.employees import EmployeeId, EmployeeState
from awareness_core.errors import Conflict, NotFound
from awareness_core.invitations import InvitationResult, InvitationStatus
from awareness_core.pages import PageRequest
from awareness_core.ports import EmployeeQuery, Ports
from awareness_core.tenants import Company
from awareness_core.use_cases.invite import invite
from awareness_core.use_cases.read_employees import list_employees
from awareness_core.use_cases.reset_access import AccessReset, reset_access
from awareness_server.cli.employee_invite import require_mail
from awareness_server.cli.employee_list import email_key
from awareness_server.cli.invocation import current_settings, find_company, open_ports
from awareness_server.cli.output import say, write_json
from awareness_server.cli.plain_text import shown
from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.logs import configure_logs
from awareness_server.settings import secrets_of


@attrs.frozen(kw_only=True)
class Whom:
    """One person, as typed: by exactly one of the three."""

    id: str | None = None
    email: str | None = None
    external_id: str | None = None


async def reset_employee(company: str, whom: Whom, *, then_invite: bool, as_json: bool) -> int:
    """Reset the access of one person, invite them if told to, and tell by the exit code whether the mail went out."""
    if sum(value is not None for value in attrs.astuple(whom)) != 1:
        raise CommandFailed("say who it is: either an id, or --email, or --external-id", ExitCode.USAGE)
    settings = current_settings()
    if then_invite:
        require_mail(settings, otherwise="nothing was changed")
        configure_logs(
            log_format=settings.log_format, log_level=settings.log_level, secrets=secrets_of(settings)
        )
    invited: InvitationResult | None = None
    async with open_ports(settings) as ports:
        owner = await find_company(ports, company)
        outcome = await _reset(ports, owner, await _id(ports, owner, whom))
        if then_invite:
            report = await invite(ports, owner.id, selection=[outcome.person.id], force=True)
            (invited,) = report.results
    if as_json:
        _write(outcome, invited)
    else:
        _tell(outcome, invited)
    return ExitCode.OK if invited is None or invited.status is InvitationStatus.INVITED else ExitCode.PARTIAL


async def _id(ports: Ports, company: Company, whom: Whom) -> EmployeeId:
    if whom.id is not None:
        return EmployeeId(whom.id.strip().lower())
    query = EmployeeQuery(
        email_key=None if whom.email is None else email_key(whom.email),
        external_id=whom.external_id,
        # An address is held by one active person at most, and may have been others' before.
        state=None if whom.email is None else EmployeeState.ACTIVE,
        page=PageRequest(page=1, limit=1),
    )
    found = await list_employees(ports, company.id, query)
    if not found.items:
        named = f"address '{whom.email}'" if whom.external_id is None else f"external id '{whom.external_id}'"
        raise CommandFailed(shown(f"nobody active of '{company.name}' has the {named}; nothing was changed"))
    return found.items[0].employee.id


async def _reset(ports: Ports, company: Company, employee_id: EmployeeId) -> AccessReset:
    try:
        return await reset_access(ports, company.id, employee_id)
    except NotFound:
        raise CommandFailed(
            f"'{company.name}' has no employee '{shown(employee_id)}'; awareness employees list shows the ids"
        ) from None
    except Conflict as error:
        raise CommandFailed(f"{error.message} Nothing was changed.") from None


def _write(outcome: AccessReset, invited: InvitationResult | None) -> None:
    code = None if invited is None or invited.code is None else invited.code.value
    write_json(
        {
            "id": outcome.person.id,
            "email": outcome.person.email.text,
            "was_reset": outcome.was_reset,
            "invitation": None if invited is None else {"status": invited.status.value, "code": code},
        }
    )


def _tell(outcome: AccessReset, invited: InvitationResult | None) -> None:
    email = shown(outcome.person.email.text)
    if outcome.was_reset:
        say(f"{email} awaits access again: their password is forgotten, and they are logged out everywhere.")
    else:
        say(f"{email} awaits access already; nothing was changed.")
    if invited is None:
        say(f"Invite them: awareness employees invite {outcome.person.id} --company ...")
    elif invited.code is None:
        say("A temporary password was mailed to them.")
    else:
        why = invited.code.value.replace("_", " ")
        say(f"No mail went out ({why}); invite them later: awareness employees invite {outcome.person.id}")
