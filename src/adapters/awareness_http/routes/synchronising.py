"""A whole directory at once, as JSON or line by line (the bulk form of reference 4.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from litestar import Request, post
from litestar.types import Scope
from msgspec import UNSET

from awareness_core.api_keys import Scope as KeyScope
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.use_cases.invite import invite
from awareness_core.use_cases.synchronise import Payload, SyncOutcome, synchronise
from awareness_http.answers import JSON, NDJSON, StreamedAnswer
from awareness_http.bodies import BULK
from awareness_http.calls import Call, call_of
from awareness_http.declarations import declare
from awareness_http.payloads import JsonPayload, LinePayload
from awareness_http.result_spool import ResultSpool
from awareness_http.typed_reader import Taken
from awareness_http.wire.counting import spell_summary
from awareness_http.wire.examples import SYNC_BODIES, SYNCHRONISED
from awareness_http.wire.inviting import MAX_SELECTED
from awareness_http.wire.synchronising import SyncBody, SyncOptions, SyncTotals, spell_sync_invitations

_LINES: Final = BULK[1]
_encode = msgspec.json.Encoder().encode


@post(
    "/api/v1/employees/sync",
    **declare(
        SYNCHRONISED,
        summary="Bring the directory in line with a whole payload",
        meaning="What became of each record, in the order sent. All of it was written, or on any fault none.",
        scope=KeyScope.WRITE_EMPLOYEES,
        query=SyncOptions,
        refusals=(409,),
        bodies=SYNC_BODIES,
        bulk=SyncBody,
    ),
    tags=["Employees"],
    operation_id="synchroniseEmployees",
)
async def synchronise_people(scope: Scope, request: Request[Any, Any, Any]) -> StreamedAnswer:
    """Read the payload to its end, then decide and write it in one transaction."""
    call = call_of(scope)
    if _LINES.is_named_by(request.headers.get("content-type", "").encode("latin-1")):
        options = _options(call.query)
        with LinePayload() as lines:
            async for part in request.stream():
                lines.feed(part)
            lines.finish()
            spool, totals = await _run(call, lines, options)
        return StreamedAnswer(_as_lines(spool, totals), content_type=NDJSON)
    if call.query.faults or call.query.fields:
        raise ValidationFailed([*call.query.faults, *_misplaced(call.query)])
    # Not `request.body()`, which would keep the whole of it until the answer is sent.
    payload = await asyncio.to_thread(JsonPayload, b"".join([part async for part in request.stream()]))
    spool, totals = await _run(call, payload, payload.options)
    return StreamedAnswer(_as_json(spool, totals), content_type=JSON)


async def _run(call: Call, payload: Payload, options: SyncOptions) -> tuple[ResultSpool, SyncTotals]:
    spool = ResultSpool(dry_run=options.dry_run, max_newcomers=MAX_SELECTED)
    try:
        outcome = await synchronise(
            call.ports,
            call.company_id,
            payload,
            spool,
            dry_run=options.dry_run,
            deactivate_missing=options.deactivate_missing,
            confirm_deactivations=options.confirmed,
        )
        totals = await _totals(call, outcome, spool, options)
    except BaseException:
        spool.close()
        raise
    return spool, totals


async def _totals(call: Call, outcome: SyncOutcome, spool: ResultSpool, options: SyncOptions) -> SyncTotals:
    is_ok, invitations = outcome.is_ok, None
    if options.send_invitations and not options.dry_run:
        report = await invite(call.ports, call.company_id, selection=spool.newcomers)
        is_ok = is_ok and report.is_ok
        invitations = spell_sync_invitations(report.summary, newcomers=spool.newcoming)
    return SyncTotals(
        ok=is_ok,
        dry_run=outcome.dry_run,
        summary=spell_summary(outcome.summary),
        invitations=UNSET if invitations is None else invitations,
    )


def _as_lines(spool: ResultSpool, totals: SyncTotals) -> Iterator[bytes]:
    with spool:
        yield from spool.parts()
    yield _encode(totals) + b"\n"


def _as_json(spool: ResultSpool, totals: SyncTotals) -> Iterator[bytes]:
    # The members of the totals, and one more.
    yield _encode(totals)[:-1] + b',"results":['
    with spool:
        last = b""
        for part in spool.parts():
            yield last
            # No encoded answer has a line break in it.
            last = part.replace(b"\n", b",")
        yield last.removesuffix(b",")
    yield b"]}"


def _options(query: Taken) -> SyncOptions:
    if query.faults:
        raise ValidationFailed(query.faults)
    return SyncOptions(**query.fields)  # type: ignore[arg-type]  # `take` checked each against its type


def _misplaced(query: Taken) -> Iterator[Fault]:
    for name in query.fields:
        message = "is a parameter only beside lines; with a JSON body it is a field of the body"
        yield Fault(field=name, code="unknown_parameter", message=message)
