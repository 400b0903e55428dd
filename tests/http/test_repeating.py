"""`Idempotency-Key`: a POST sent again is answered as the first time, and carried out once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import attrs
import pytest

from awareness_core.api_keys import Scope as KeyScope
from awareness_core.errors import StoreUnavailable
from awareness_core.receipts import LIFETIME
from awareness_http.kept_answers import PART_BYTES
from tests.contracts.storages import memory_storage
from tests.http.contract import document
from tests.http.service import ADA, Answer, Service, new_service

pytestmark = pytest.mark.anyio

EMPLOYEES: Final = "/api/v1/employees"
SYNC: Final = "/api/v1/employees/sync"
INVITE: Final = "/api/v1/employees/invite-bulk"
IMPORT: Final = "/api/v1/campaigns/import"
DEACTIVATE: Final = "/api/v1/employees/{employee_id}/deactivate"
KEY: Final = [("Idempotency-Key", "a name of ours")]
GRACE: Final = {"email": "grace@acme.example", "nom": "Hopper", "prenom": "Grace"}
SPRING: Final = {"external_id": "spring", "nom": "Spring", "statut": "en_cours"}

BODIES: Final[Mapping[str, tuple[bytes, bytes, str]]] = {
    EMPLOYEES: (
        json.dumps(GRACE).encode(),
        json.dumps({**GRACE, "nom": "Murray"}).encode(),
        "application/json",
    ),
    SYNC: (
        json.dumps({"employees": [GRACE]}).encode(),
        json.dumps({"employees": [GRACE, ADA]}).encode(),
        "application/json",
    ),
    INVITE: (b"{}", b'{"force": true}', "application/json"),
    IMPORT: (
        json.dumps({"campaign": SPRING}).encode(),
        json.dumps({"campaign": SPRING, "destinataires": [{"email": GRACE["email"]}]}).encode(),
        "application/json",
    ),
    DEACTIVATE: (b"{}", b" {}", "application/json"),
}
"""Each POST there is, with a body and another one."""

LINES: Final = json.dumps(GRACE).encode() + b'\n{"end": {"count": 1}}\n'
NDJSON: Final = "application/x-ndjson"


@attrs.frozen
class Sample:
    """One POST as a test sends it."""

    service: Service
    path: str
    body: bytes
    content_type: str

    async def send(self, body: bytes | None = None, **options: Any) -> Answer:  # noqa: ANN401 (as `Service.call`)
        options = {"headers": KEY, "content_type": self.content_type, **options}
        return await self.service.call("POST", self.path, body=self.body if body is None else body, **options)


@pytest.fixture(params=[*BODIES, "lines"])
async def sample(request: pytest.FixtureRequest, stored: Service) -> Sample:
    ada = await stored.person()
    if request.param == "lines":
        return Sample(stored, SYNC, LINES, NDJSON)
    body, _, content_type = BODIES[request.param]
    return Sample(stored, request.param.format(employee_id=ada), body, content_type)


def test_every_post_is_tried() -> None:
    # A notice has no key to belong to, and is the same one by what it tells.
    posts = {
        path
        for path, methods in document()["paths"].items()
        if "post" in methods and methods["post"].get("security") != [{}]
    }

    assert posts == BODIES.keys()


async def test_the_second_answer_is_the_first_one_and_says_so(sample: Sample) -> None:
    first = await sample.send()
    world = await _world(sample.service)
    second = await sample.send()

    assert 200 == first.status
    assert "idempotency-replayed" not in first.headers
    assert "true" == second.headers["idempotency-replayed"]
    assert _answered(first) == _answered(second)
    assert world == await _world(sample.service)
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert 1 == first.remaining - second.remaining - 1


async def test_without_the_header_nothing_is_remembered(sample: Sample) -> None:
    await sample.send()
    unnamed = await sample.send(headers=())

    assert "idempotency-replayed" not in unnamed.headers


async def test_another_body_under_the_same_key_is_refused_and_writes_nothing(stored: Service) -> None:
    ada = await stored.person()
    for path, (body, other, content_type) in BODIES.items():
        sample = Sample(stored, path.format(employee_id=ada), body, content_type)
        await sample.send()
        world = await _world(stored)
        refused = await sample.send(other)

        assert (422, "IDEMPOTENCY_KEY_REUSED") == (refused.status, refused.code)
        assert world == await _world(stored)
        assert "true" == (await sample.send()).headers["idempotency-replayed"]


async def test_bytes_are_compared_and_not_what_they_mean(service: Service) -> None:
    sample = Sample(service, EMPLOYEES, json.dumps(GRACE).encode(), "application/json")
    await sample.send()

    assert 422 == (await sample.send(json.dumps(GRACE, indent=1).encode())).status
    assert 200 == (await sample.send(content_type='Application/JSON; charset="utf-8"')).status


async def test_parameters_and_media_type_are_part_of_what_was_asked(service: Service) -> None:
    sample = Sample(service, SYNC, LINES, NDJSON)
    await sample.send(query={"dry_run": "true"})

    assert 422 == (await sample.send()).status
    assert 422 == (await sample.send(b'{"employees":[]}', content_type="application/json")).status
    assert "true" == (await sample.send(query={"dry_run": "true"})).headers["idempotency-replayed"]
    assert 0 == await service.people()


async def test_how_a_body_was_cut_into_parts_does_not_count(service: Service) -> None:
    sample = Sample(service, SYNC, LINES, NDJSON)
    await sample.send()
    again = await sample.send(b"", parts=[LINES[:10], b"", LINES[10:]])

    assert "true" == again.headers["idempotency-replayed"]


async def test_a_key_belongs_to_one_company_and_one_path(stored: Service) -> None:
    first = await stored.post(EMPLOYEES, GRACE, headers=KEY)
    elsewhere = await stored.post(SYNC, {"employees": []}, headers=KEY)
    theirs = await stored.post(
        EMPLOYEES, {**GRACE, "email": "grace@globex.example"}, headers=KEY, key=stored.globex_key
    )
    ada, bob = await stored.person(), await stored.person(email="bob@acme.example")
    ended = [await stored.post(DEACTIVATE.format(employee_id=one), headers=KEY) for one in (ada, bob)]

    for answer in (first, elsewhere, theirs, *ended):
        assert 200 == answer.status
        assert "idempotency-replayed" not in answer.headers
    assert ["deactivated", "deactivated"] == [answer.json["employee"]["action"] for answer in ended]


async def test_another_api_key_of_the_company_gets_the_same_answer(stored: Service) -> None:
    other = await stored.key_with(KeyScope.WRITE_EMPLOYEES)
    await stored.post(EMPLOYEES, GRACE, headers=KEY)

    assert (
        "true"
        == (await stored.post(EMPLOYEES, GRACE, headers=KEY, key=other)).headers["idempotency-replayed"]
    )


async def test_an_answer_is_kept_for_a_day(stored: Service) -> None:
    first = await stored.post(EMPLOYEES, GRACE, headers=KEY)
    stored.clock.advance(LIFETIME - timedelta(milliseconds=1))
    last = await stored.post(EMPLOYEES, GRACE, headers=KEY)
    stored.clock.advance(timedelta(milliseconds=1))
    anew = await stored.post(EMPLOYEES, GRACE, headers=KEY)

    assert ["created", "created", "skipped"] == [
        answer.json["employee"]["action"] for answer in (first, last, anew)
    ]


@pytest.mark.parametrize(
    "value", ["", " ", "x" * 256, "é", "a\tb", "a\x7fb", "ключ"[:1].encode().decode("latin-1")], ids=repr
)
async def test_a_key_that_is_none_is_refused_by_name(service: Service, value: str) -> None:
    answer = await service.post(EMPLOYEES, GRACE, headers=[("Idempotency-Key", value)])

    assert (400, [("Idempotency-Key", "invalid_header")]) == (answer.status, answer.faults)
    assert 0 == await service.people()


async def test_a_key_sent_twice_is_refused(service: Service) -> None:
    answer = await service.post(EMPLOYEES, GRACE, headers=[*KEY, *KEY])

    assert (400, [("Idempotency-Key", "invalid_header")]) == (answer.status, answer.faults)


@pytest.mark.parametrize("value", ["x", "x" * 255, '"8e03978e-40d5"', "~ !"])
async def test_a_key_is_any_printable_ascii(service: Service, value: str) -> None:
    first, second = [
        await service.post(EMPLOYEES, GRACE, headers=[("Idempotency-Key", f" {value}\t")]) for _ in range(2)
    ]

    assert (200, 200) == (first.status, second.status)
    assert "true" == second.headers["idempotency-replayed"]


async def test_on_other_methods_the_header_means_nothing(service: Service) -> None:
    for _ in range(2):
        answer = await service.get(EMPLOYEES, headers=[("Idempotency-Key", "x" * 300)])

        assert 200 == answer.status
        assert "idempotency-replayed" not in answer.headers


async def test_who_may_not_ask_is_told_before_anything_is_given_again(service: Service) -> None:
    await service.post(EMPLOYEES, GRACE, headers=KEY)
    narrow = await service.key_with(KeyScope.READ_EMPLOYEES)

    assert 401 == (await service.post(EMPLOYEES, GRACE, headers=KEY, key=None)).status
    assert 403 == (await service.post(EMPLOYEES, GRACE, headers=KEY, key=narrow)).status


async def test_answers_given_again_use_up_the_quota() -> None:
    service = await new_service(memory_storage())
    answers = [await service.post(EMPLOYEES, GRACE, headers=KEY) for _ in range(601)]

    assert [200] * 600 + [429] == [answer.status for answer in answers]


async def test_what_was_refused_is_not_remembered(stored: Service) -> None:
    wrong = await stored.post(EMPLOYEES, {**GRACE, "nom": 1}, headers=KEY)
    unknown = DEACTIVATE.format(employee_id="nobody")
    missing = [await stored.post(unknown, headers=KEY) for _ in range(2)]
    blocked = await stored.post(SYNC, {"employees": [], "deactivate_missing": True}, headers=KEY)
    confirmed = await stored.post(
        SYNC, {"employees": [], "deactivate_missing": True, "confirm_deactivations": 0}, headers=KEY
    )
    right = await stored.post(EMPLOYEES, GRACE, headers=KEY)

    assert 400 == wrong.status
    assert [404, 404] == [answer.status for answer in missing]
    assert [409, 200] == [blocked.status, confirmed.status]
    assert 200 == right.status
    assert "idempotency-replayed" not in right.headers


async def test_a_failed_record_is_an_answer_and_is_given_again(stored: Service) -> None:
    await stored.person(email="grace@acme.example", key=stored.globex_key)
    first = await stored.post(EMPLOYEES, GRACE, headers=KEY)
    second = await stored.post(EMPLOYEES, GRACE, headers=KEY)

    assert "failed" == first.json["employee"]["action"]
    assert _answered(first) == _answered(second)


async def test_mail_goes_out_once(stored: Service) -> None:
    order = {**GRACE, "send_invitation": True}
    payload = {"employees": [{**ADA, "email": "new@acme.example"}], "send_invitations": True}
    await stored.person()
    for _ in range(2):
        answers = [
            await stored.post(EMPLOYEES, order, headers=KEY),
            await stored.post(SYNC, payload, headers=KEY),
            await stored.post(INVITE, {"force": True}, headers=KEY),
        ]
        assert [200] * 3 == [answer.status for answer in answers]
        assert [True] * 3 == [answer.json["ok"] for answer in answers]

    assert ["grace@acme.example", "new@acme.example", "ada@acme.example"] == [
        letter.email for letter in stored.mailer.letters
    ]


async def test_mail_does_not_go_out_again_when_the_answer_could_not_be_kept(stored: Service) -> None:
    """The database goes away while the mail is under way: what was done is told, and never done again."""
    await stored.person()
    send, opened = stored.mailer.send_invitations, stored.ports.store.transaction
    away = False

    async def lose_the_database(letters: Any) -> Any:  # noqa: ANN401 (as the mailer's)
        nonlocal away
        away = True
        return await send(letters)

    def transaction(company_id: Any) -> Any:  # noqa: ANN401 (as the store's)
        if away:
            raise StoreUnavailable("gone")
        return opened(company_id)

    stored.mailer.send_invitations = lose_the_database  # type: ignore[method-assign]
    stored.ports.store.transaction = transaction  # type: ignore[method-assign]
    lost = await stored.post(INVITE, headers=KEY)
    away = False
    under_way = await stored.post(INVITE, headers=KEY)
    stored.clock.advance(timedelta(minutes=16))
    interrupted = await stored.post(INVITE, headers=KEY)

    assert 503 == lost.status
    assert 409 == under_way.status
    # Of two minutes, less those 20 seconds in which writing it down was tried.
    assert 100 <= int(under_way.headers["retry-after"]) <= 102
    assert (409, "CONFLICT") == (interrupted.status, interrupted.code)
    assert "retry-after" not in interrupted.headers
    assert 1 == len(stored.mailer.letters)


async def test_of_many_at_once_one_is_carried_out(stored: Service) -> None:
    answers = await asyncio.gather(*(stored.post(EMPLOYEES, GRACE, headers=KEY) for _ in range(30)))
    carried_out = [
        answer for answer in answers if answer.status == 200 and "idempotency-replayed" not in answer.headers
    ]
    refused = [answer for answer in answers if answer.status != 200]

    assert 1 == len(carried_out)
    assert {(409, "CONFLICT", "30")} >= {
        (answer.status, answer.code, answer.headers["retry-after"]) for answer in refused
    }
    assert {carried_out[0].body} == {answer.body for answer in answers if answer.status == 200}
    assert 1 == await stored.people()


async def test_a_large_answer_comes_back_in_every_byte(stored: Service) -> None:
    people = [
        {
            "email": f"person{number}@acme.example",
            "nom": "A",
            "prenom": "B",
            "external_id": f"{number:x}" * 20,
        }
        for number in range(6000)
    ]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in people) + b'{"end": {"count": 6000}}'
    sample = Sample(stored, SYNC, lines, NDJSON)
    first = await sample.send()
    second = await sample.send()

    assert len(first.body) > 3 * PART_BYTES
    assert 6001 == first.body.count(b"\n")
    assert (200, "true") == (second.status, second.headers["idempotency-replayed"])
    assert first.body == second.body


async def test_a_body_that_broke_off_is_not_remembered(service: Service) -> None:
    broken = await service.call("POST", SYNC, parts=[LINES[:30]], content_type=NDJSON, headers=KEY)
    whole = await Sample(service, SYNC, LINES, NDJSON).send()

    assert [400, 200] == [broken.status, whole.status]


def _answered(answer: Answer) -> tuple[int, str, bytes]:
    return answer.status, answer.headers["content-type"], answer.body


async def _world(service: Service) -> tuple[object, int]:
    return (await service.get(EMPLOYEES)).json, len(service.mailer.letters)
