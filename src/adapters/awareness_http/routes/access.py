"""The access check (reference 4.1)."""

from __future__ import annotations

from litestar import get
from litestar.types import Scope

from awareness_http.answers import Answer, json_answer
from awareness_http.calls import call_of
from awareness_http.declarations import declare
from awareness_http.wire.access import spell_access
from awareness_http.wire.examples import ACCESS


@get(
    "/api/v1/ping",
    **declare(ACCESS, summary="Check a key", meaning="The key is good; this is what it may do."),
    tags=["General"],
    operation_id="ping",
    sync_to_thread=False,
)
def ping(scope: Scope) -> Answer:
    """Tell whose key it is and what it may do."""
    return json_answer(spell_access(call_of(scope).caller))
