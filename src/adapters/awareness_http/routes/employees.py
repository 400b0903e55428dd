"""People: created, updated, archived and erased one at a time, and read back (reference 4.2; Choice: decisions/004)."""

from __future__ import annotations

from litestar import delete, get, post
from litestar.params import FromPath, JSONBody
from litestar.types import Scope
from msgspec import UNSET

from awareness_core.api_keys import Scope as KeyScope
from awareness_core.employees import Action, EmployeeId
from awareness_core.invitations import InvitationResult, InvitationStatus, Reason
from awareness_core.sync_plan import SyncItem
from awareness_core.sync_plan import SyncSummary as Summary
from awareness_core.use_cases.deactivate import deactivate
from awareness_core.use_cases.erase import erase
from awareness_core.use_cases.invite import invite, preview_invitations
from awareness_core.use_cases.provision import provision
from awareness_core.use_cases.read_employees import get_employee, list_employees
from awareness_http.answers import Answer, json_answer
from awareness_http.calls import Call, call_of
from awareness_http.declarations import declare
from awareness_http.json_bodies import json_body
from awareness_http.paths import Nothing
from awareness_http.wire.counting import spell_summary
from awareness_http.wire.examples import DEACTIVATED, ERASED, PEOPLE, PERSON, PROVISIONED, PROVISIONING_BODIES
from awareness_http.wire.people import (
    EmployeeAnswer,
    EmployeeFilters,
    ErasureAnswer,
    read_filters,
    spell_employee,
    spell_employees,
)
from awareness_http.wire.provisioning import (
    EmployeeBody,
    EmployeeOrder,
    ProvisioningAnswer,
    read_order,
    spell_item,
    spell_outcome,
)


@post(
    "/api/v1/employees",
    **declare(
        PROVISIONED,
        summary="Create, update or archive a person",
        meaning="What became of the record. One that could not be followed is `failed` here, not an HTTP error.",
        scope=KeyScope.WRITE_EMPLOYEES,
        refusals=(409,),
        bodies=PROVISIONING_BODIES,
    ),
    tags=["Employees"],
    operation_id="provisionEmployee",
    dto=json_body(EmployeeBody, make=read_order),
    return_dto=None,
)
async def provision_one(scope: Scope, data: JSONBody[EmployeeOrder]) -> Answer:
    """A sync of one, and the invitation that may go with it."""
    call = call_of(scope)
    report = await provision(call.ports, call.company_id, [data.record], dry_run=data.dry_run)
    (item,) = report.items
    is_wanted = data.send_invitation and item.action is not Action.FAILED
    invitation = await _invited(call, item, dry_run=data.dry_run) if is_wanted else None
    is_invited = invitation is None or invitation.status is not InvitationStatus.FAILED
    return json_answer(
        ProvisioningAnswer(
            ok=report.is_ok and is_invited,
            employee=spell_item(item, dry_run=data.dry_run),
            summary=spell_summary(report.summary),
            invitation=UNSET if invitation is None else spell_outcome(invitation),
        )
    )


@get(
    "/api/v1/employees",
    **declare(
        PEOPLE,
        summary="List people",
        meaning="One page, in the order of creation.",
        scope=KeyScope.READ_EMPLOYEES,
        query=EmployeeFilters,
    ),
    tags=["Employees"],
    operation_id="listEmployees",
)
async def list_people(scope: Scope) -> Answer:
    """One page of the company's people."""
    call = call_of(scope)
    page = await list_employees(call.ports, call.company_id, read_filters(call.query))
    return json_answer(spell_employees(page))


@get(
    "/api/v1/employees/{employee_id:str}",
    **declare(
        PERSON,
        summary="Read a person",
        meaning="The person.",
        scope=KeyScope.READ_EMPLOYEES,
        refusals=(404,),
    ),
    tags=["Employees"],
    operation_id="getEmployee",
)
async def read_person(scope: Scope, employee_id: FromPath[str]) -> Answer:
    """One person of the company."""
    call = call_of(scope)
    view = await get_employee(call.ports, call.company_id, EmployeeId(employee_id))
    return json_answer(EmployeeAnswer(employee=spell_employee(view)))


@post(
    "/api/v1/employees/{employee_id:str}/deactivate",
    **declare(
        DEACTIVATED,
        summary="Archive a person",
        meaning="`deactivated`, or `skipped` for somebody archived already. Their access has ended.",
        scope=KeyScope.WRITE_EMPLOYEES,
        refusals=(404, 409),
        bodies={},
    ),
    tags=["Employees"],
    operation_id="deactivateEmployee",
    dto=json_body(Nothing, may_be_absent=True),
    return_dto=None,
)
async def deactivate_person(scope: Scope, employee_id: FromPath[str], data: JSONBody[Nothing]) -> Answer:  # noqa: ARG001 (read to be refused)
    """End one person's access."""
    call = call_of(scope)
    item = await deactivate(call.ports, call.company_id, EmployeeId(employee_id))
    counted = Summary(
        received=1,
        deactivated=int(item.action is Action.DEACTIVATED),
        skipped=int(item.action is Action.SKIPPED),
    )
    return json_answer(
        ProvisioningAnswer(ok=True, employee=spell_item(item, dry_run=False), summary=spell_summary(counted))
    )


@delete(
    "/api/v1/employees/{employee_id:str}",
    **declare(
        ERASED,
        summary="Erase a person",
        meaning="Nothing says any more who they were. What they did in campaigns stays, as nobody's.",
        scope=KeyScope.ERASE_EMPLOYEES,
        refusals=(404,),
    ),
    tags=["Employees"],
    operation_id="eraseEmployee",
)
async def erase_person(scope: Scope, employee_id: FromPath[str]) -> Answer:
    """Destroy one person's data, for good."""
    call = call_of(scope)
    await erase(call.ports, call.company_id, EmployeeId(employee_id))
    return json_answer(ErasureAnswer(ok=True, id=employee_id))


async def _invited(call: Call, item: SyncItem, *, dry_run: bool) -> InvitationResult:
    if item.employee is None:
        # Somebody unknown who leaves: nobody is there to be mailed, as for any id that is unknown.
        return InvitationResult(
            id=EmployeeId(""), email=None, status=InvitationStatus.SKIPPED, code=Reason.NOT_FOUND
        )
    if dry_run:
        report = await preview_invitations(call.ports, call.company_id, [item.employee])
    else:
        report = await invite(call.ports, call.company_id, selection=[item.employee.id])
    return report.results[0]
