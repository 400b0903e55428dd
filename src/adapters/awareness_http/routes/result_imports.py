"""Results of a campaign, sent by whatever ran it (Choice: decisions/022)."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, post
from litestar.types import Scope

from awareness_core.api_keys import Scope as KeyScope
from awareness_core.use_cases.import_results import import_results
from awareness_http.answers import Answer, json_answer
from awareness_http.bodies import BULK
from awareness_http.calls import Call, call_of
from awareness_http.declarations import declare
from awareness_http.result_lines import JsonResults, LineResults
from awareness_http.wire.examples import IMPORT_BODIES, IMPORTED
from awareness_http.wire.result_imports import ImportBody, spell_import

_LINES: Final = BULK[1]


@post(
    "/api/v1/campaigns/import",
    **declare(
        IMPORTED,
        summary="Import the results of a campaign",
        meaning="The campaign as it is now, what was told, and what was left out. What is sent again changes nothing.",
        scope=KeyScope.WRITE_RESULTS,
        bodies=IMPORT_BODIES,
        bulk=ImportBody,
    ),
    tags=["Results"],
    operation_id="importResults",
)
async def import_campaign(scope: Scope, request: Request[Any, Any, Any]) -> Answer:
    """Read what was sent to its end, then take it in in one transaction."""
    call = call_of(scope)
    if _LINES.is_named_by(request.headers.get("content-type", "").encode("latin-1")):
        with LineResults() as lines:
            async for part in request.stream():
                lines.feed(part)
            lines.finish()
            return await _answer(call, lines)
    return await _answer(call, JsonResults(await request.body()))


async def _answer(call: Call, payload: JsonResults | LineResults) -> Answer:
    outcome = await import_results(call.ports, call.company_id, payload)
    return json_answer(spell_import(outcome, payload.errors(outcome.failures)))
