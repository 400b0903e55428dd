"""Access mails to several people at once (reference 4.3)."""

from __future__ import annotations

from litestar import post
from litestar.params import JSONBody
from litestar.types import Scope

from awareness_core.api_keys import Scope as KeyScope
from awareness_core.use_cases.invite import invite
from awareness_http.answers import Answer, json_answer
from awareness_http.calls import call_of
from awareness_http.declarations import declare
from awareness_http.json_bodies import json_body
from awareness_http.wire.examples import INVITE_BODIES, INVITED
from awareness_http.wire.inviting import InviteBody, Mode, spell_invitations


@post(
    "/api/v1/employees/invite-bulk",
    **declare(
        INVITED,
        summary="Mail access to several people",
        meaning="Who was invited, skipped and failed. Call again while `truncated` is true.",
        scope=KeyScope.WRITE_EMPLOYEES,
        bodies=INVITE_BODIES,
    ),
    tags=["Employees"],
    operation_id="inviteEmployees",
    dto=json_body(InviteBody, may_be_absent=True),
    return_dto=None,
)
async def invite_many(scope: Scope, data: JSONBody[InviteBody]) -> Answer:
    """Invite the selected people, or everyone who awaits access."""
    call = call_of(scope)
    report = await invite(call.ports, call.company_id, selection=data.selection, force=data.force)
    mode = Mode.ALL_AWAITING_ACCESS if data.selection is None else Mode.SELECTION
    return json_answer(spell_invitations(report, mode=mode))
