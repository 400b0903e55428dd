"""The webhook that GoPhish calls: no key, but a signature of the body as it came (Choice: decisions/026).

Genuine notices are not counted: a campaign that starts sends thousands within seconds, and GoPhish tries none twice.
Others count as failed authentications of their address, like wrong keys.
"""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, post
from litestar.params import FromPath

from awareness_core.sources import SourceId, SourceKind
from awareness_core.use_cases.receive_notice import receive_notice
from awareness_http.answers import Answer, json_answer
from awareness_http.bodies import EMPTY
from awareness_http.calls import surroundings_of
from awareness_http.declarations import declare
from awareness_http.wire.notices import STORED, spell_notice

SIGNATURE: Final = "X-Gophish-Signature"


@post(
    "/api/v1/sources/{source_id:str}/gophish",
    **declare(
        STORED,
        summary="Take in a notice of GoPhish",
        meaning="The notice is genuine; what it tells is stored, or will be.",
        refusals=(404,),
        signed_by=SIGNATURE,
    ),
    tags=["Results"],
    operation_id="receiveGophishNotice",
    security=[{}],
)
async def receive_from_gophish(request: Request[Any, Any, Any], source_id: FromPath[str]) -> Answer:
    """What happened to one recipient, as GoPhish's webhook tells it; everything else in it is passed over."""
    signatures = request.headers.getall(SIGNATURE, [])
    body = await request.body()
    outcome = await receive_notice(
        surroundings_of(request.scope).ports,
        SourceKind.GOPHISH,
        SourceId(source_id),
        # What was signed. Nobody signs a single blank.
        body=b"" if body == EMPTY else body,
        signature=signatures[0] if len(signatures) == 1 else None,
    )
    return json_answer(spell_notice(outcome))
