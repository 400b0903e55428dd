"""How a route declares itself: its scope, its query and its answers, once, for the gateway and for the OpenAPI.

`declare` gives the keyword arguments of Litestar's decorators. What is declared is what `paths` enforces and what
`openapi` shows, so the three cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from litestar.openapi.datastructures import ResponseSpec

from awareness_core.api_keys import Scope
from awareness_http.bodies import BULK, SMALL_JSON
from awareness_http.paths import OPERATION, Nothing, Operation
from awareness_http.wire.refusals import ErrorResponse

REFUSALS: Final[Mapping[int, str]] = {
    400: "`VALIDATION_ERROR`: the body or the query is wrong; `details` says where.",
    401: "`API_KEY_INVALID`: the key is absent, malformed, unknown, revoked or expired. For a webhook "
    "`SIGNATURE_INVALID`: the body is not signed with its secret, or there is no such webhook.",
    403: "`INSUFFICIENT_SCOPE`: the key may not do this; the message names the scope.",
    404: "`NOT_FOUND`: there is no such thing in the key's own company.",
    408: "`REQUEST_TIMEOUT`: nothing of the body arrived for 10 seconds.",
    409: "`CONFLICT`: other requests kept changing the same people, and nothing was written; or an earlier request "
    "with the same `Idempotency-Key` is under way, then with `Retry-After`, or was interrupted, or its answer went "
    "with somebody who was erased. In a sync also "
    "`MASS_DEACTIVATION_BLOCKED`, with `planned_deactivations` and `summary`.",
    413: "`PAYLOAD_TOO_LARGE`: the body is larger than 1 MiB; for a sync or an import, than 64 MiB of JSON or 512 MiB "
    "of lines.",
    415: "`UNSUPPORTED_MEDIA_TYPE`: the body is not plain JSON in UTF-8.",
    422: "`IDEMPOTENCY_KEY_REUSED`: the `Idempotency-Key` was used for another body or query in the last 24 hours.",
    429: "`RATE_LIMIT_EXCEEDED`: the quota is used up; `Retry-After` says for how long.",
    500: "`INTERNAL_ERROR`: our fault; tell us the `X-Request-Id`.",
    503: "`SERVICE_UNAVAILABLE`: the database cannot be reached; `Retry-After` says when to try again. For a webhook "
    "`SOURCE_UNAVAILABLE`: its signature cannot be checked now.",
}
"""What each status of an error means; the codes behind them are stable."""

EXAMPLES: Final = "examples"
"""The key in a Litestar handler's `opt` under which its examples are: of the answer, and of bodies by what they do."""

BULK_BODY: Final = "bulk_body"
"""The key in a Litestar handler's `opt` under which the type of a body is that the route reads by itself."""

AS_CSV: Final = "as_csv"
"""The key in a Litestar handler's `opt` under which it says whether it answers CSV when asked to."""

SIGNED_BY: Final = "signed_by"
"""The key in a Litestar handler's `opt` under which the header is that signs its body."""

_ALWAYS: Final = (400, 401, 429, 500, 503)
_WITH_BODY: Final = (408, 413, 415)


def declare(
    answer: object,
    *,
    summary: str,
    meaning: str,
    scope: Scope | None = None,
    query: type = Nothing,
    refusals: Iterable[int] = (),
    bodies: Mapping[str, object] | None = None,
    bulk: type | None = None,
    as_csv: bool = False,
    signed_by: str | None = None,
) -> dict[str, Any]:
    """Keyword arguments for `litestar.get`, `litestar.post` and `litestar.delete`.

    `answer` is an example of what a 200 holds, which `meaning` describes; `bodies` are examples of what a route with a
    body takes, each under what it does. `bulk` is the type of a body that the route reads by itself, as it arrives, in
    JSON or line by line. `as_csv` says that the answer can be had as CSV, too. `signed_by` names the header with the
    signature of a body that stands in the place of a key; the route reads such a body as it comes.
    """
    statuses = {
        *_ALWAYS,
        *refusals,
        *(() if bodies is None and bulk is None and signed_by is None else _WITH_BODY),
        *(() if scope is None else (403,)),
    }
    return {
        "status_code": 200,
        "summary": summary,
        "description": _needs(scope) if signed_by is None else f"Needs no key: `{signed_by}` signs the body.",
        "responses": {
            200: ResponseSpec(type(answer), description=meaning, generate_examples=False),
            **{
                status: ResponseSpec(ErrorResponse, description=REFUSALS[status], generate_examples=False)
                for status in sorted(statuses)
            },
        },
        "opt": {
            OPERATION: Operation(
                scope=scope,
                query=query,
                media=SMALL_JSON if bulk is None else BULK,
                is_signed=signed_by is not None,
            ),
            EXAMPLES: (answer, bodies or {}),
            BULK_BODY: bulk,
            AS_CSV: as_csv,
            SIGNED_BY: signed_by,
        },
    }


def _needs(scope: Scope | None) -> str:
    return "Needs no scope." if scope is None else f"Needs the scope `{scope.value}`."
