"""What an `Idempotency-Key` promises of any route, also of those that are not there yet."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from typing import Any, cast

import pytest
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from awareness_core.receipts import ReceiptId
from awareness_core.use_cases.provision import provision
from awareness_http.bodies import BULK, GuardedBody
from awareness_http.calls import Call, call_of
from awareness_http.idempotency import FingerprintedBody
from awareness_http.kept_answers import AnswerSpool
from awareness_http.repeats import Repeatable
from awareness_http.request_head import RequestHead, read_head
from awareness_http.typed_reader import Taken
from tests.contracts.storages import memory_storage
from tests.core.test_use_case_provision import RECORD
from tests.http.service import Service, new_service, receiving

pytestmark = pytest.mark.anyio

NOTHING_ASKED = Taken(fields={}, faults=[])


def _head(content_type: bytes = b"application/json") -> RequestHead:
    return read_head([(b"host", b"api.example"), (b"content-type", content_type)])


async def _fingerprint(
    *parts: bytes, query: bytes = b"", content_type: bytes = b"application/json", read: int = 0
) -> bytes:
    body = FingerprintedBody(receiving(parts), _head(content_type), query, media=BULK)
    for _ in range(read):
        await body()
    return await body.fingerprint(body)


@pytest.mark.parametrize("read", [0, 1, 2, 3])
async def test_all_of_a_body_counts_however_much_of_it_the_route_has_read(read: int) -> None:
    assert await _fingerprint(b"abc") == await _fingerprint(b"a", b"b", b"c", read=read)
    assert await _fingerprint(b"abd") != await _fingerprint(b"a", b"b", b"c", read=read)


async def test_nothing_moves_from_one_part_of_a_request_to_the_next() -> None:
    lines = b"application/x-ndjson"
    asked = [
        await _fingerprint(b"a"),
        await _fingerprint(b"a", content_type=lines),
        await _fingerprint(b"a", content_type=b"text/plain"),
        await _fingerprint(b"a", query=b"a"),
        await _fingerprint(b"", query=b"a"),
        await _fingerprint(b"aa"),
        await _fingerprint(b"application/json a", content_type=b""),
        await _fingerprint(b""),
    ]

    assert len(asked) == len(set(asked))
    assert await _fingerprint(b"a") == await _fingerprint(
        b"a", content_type=b'APPLICATION/json; charset="UTF-8"'
    )


async def _answered(service: Service, app: ASGIApp) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    body = FingerprintedBody(receiving([b"{}"]), _head(), b"", media=BULK)
    call = Call(service.ports, cast("Any", _CallerOf(service)), NOTHING_ASKED)
    scope = cast("Scope", {"type": "http"})
    guarded = GuardedBody(body, _head(), media=BULK)
    await Repeatable(ReceiptId("one"), body).answer(app, scope, guarded, send, call=call)
    return sent


class _CallerOf:
    def __init__(self, service: Service) -> None:
        self.company_id = service.acme.id


def _answering(status: int, *bodies: bytes) -> ASGIApp:
    """A route that hires somebody, without a look at the body, and answers so, with a header of its own."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        call = call_of(scope)
        await provision(call.ports, call.company_id, [RECORD])
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"location", b"/there:8000")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for number, body in enumerate(bodies, 1):
            await send({"type": "http.response.body", "body": body, "more_body": number < len(bodies)})

    return app


async def test_status_and_headers_of_a_route_come_back_with_its_body() -> None:
    service = await new_service(memory_storage())
    first, second = [await _answered(service, _answering(201, b"a\n\nb", b"", b"c")) for _ in range(2)]

    assert _start(201, []) == first[0]
    assert _start(201, [(b"idempotency-replayed", b"true")]) == second[0]
    assert first[1:] == second[1:]
    assert b"a\n\nbc" == b"".join(_bodies(first))
    assert 1 == await service.people()


async def test_an_answer_that_is_no_success_leaves_nothing_and_is_not_kept() -> None:
    service = await new_service(memory_storage())
    sent = [await _answered(service, _answering(status, b"no")) for status in (300, 404, 500)]

    assert [_start(status, []) for status in (300, 404, 500)] == [messages[0] for messages in sent]
    assert 0 == await service.people()


async def test_an_answer_may_be_much_larger_than_what_is_kept_of_it() -> None:
    whole = [b"0" * 3_000_000, b"1" * 3_000_000]
    with AnswerSpool() as spool:
        await spool.keep({"type": "http.response.start", "status": 200, "headers": []})
        for body in whole:
            await spool.keep({"type": "http.response.body", "body": body, "more_body": body is whole[0]})
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        await spool.send(send)

    assert b"".join(whole) == b"".join(_bodies(sent))
    assert max(map(len, _bodies(sent))) <= 64 * 1024


async def test_the_request_is_let_go_of_when_it_is_answered() -> None:
    # A server waits for the rest of a body as long as anybody could still ask for it.
    service = await new_service(memory_storage())

    async def ask() -> weakref.ref[object]:
        receive = receiving([b"{}"])
        headers = _head()
        body = FingerprintedBody(receive, headers, b"", media=BULK)
        call = Call(service.ports, cast("Any", _CallerOf(service)), NOTHING_ASKED)
        guarded = GuardedBody(body, headers, media=BULK)

        async def send(message: Message) -> None:
            pass

        scope = cast("Scope", {"type": "http"})
        await Repeatable(ReceiptId("one"), body).answer(
            _answering(200, b"a"), scope, guarded, send, call=call
        )
        return weakref.ref(receive)

    gc.collect()
    gc.disable()
    try:
        receive = await asyncio.create_task(ask())
    finally:
        gc.enable()

    assert receive() is None


def _start(status: int, more: list[tuple[bytes, bytes]]) -> dict[str, object]:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"location", b"/there:8000"), *more]
    return {"type": "http.response.start", "status": status, "headers": headers}


def _bodies(sent: list[Message]) -> Iterator[bytes]:
    for message in sent:
        if message["type"] == "http.response.body":
            yield message["body"]
