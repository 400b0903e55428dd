"""Bodies are read strictly, once, in one place: each wrong one is refused with its place named, and writes nothing."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import Sequence

import pytest
from litestar.types import HTTPReceiveMessage

from awareness_http.bodies import MAX_BODY_BYTES
from awareness_http.wire.inviting import MAX_SELECTED
from tests.contracts.storages import memory_storage
from tests.http.service import ADA, Answer, Service, new_service, receiving, send

pytestmark = pytest.mark.anyio

EMPLOYEES = "/api/v1/employees"
INVITE = "/api/v1/employees/invite-bulk"

GOOD = json.dumps(ADA).encode()
NOT_JSON = {
    "empty": b"",
    "blank": b" \r\n\t",
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "UTF-16": json.dumps(ADA).encode("utf-16"),
    "UTF-16 without a mark": json.dumps(ADA).encode("utf-16-le"),
    "bad UTF-8": GOOD[:-2] + b'\xff"}',
    "overlong UTF-8": b'{"email": "\xc0\xaf"}',
    "surrogate in UTF-8": b'{"email": "\xed\xa0\x80"}',
    "cut off": GOOD[:-1],
    "trailing data": GOOD + b"{}",
    "trailing comma": b'{"email": "a@b.example",}',
    "single quotes": b"{'email': 1}",
    "comment": b"/* */" + GOOD,
    "raw control character": b'{"email": "a\nb"}',
    "a name without quotes": b"{email: 1}",
    "100,000 levels of lists": b"[" * 100_000,
    "100,000 levels of lists, closed": b"[" * 100_000 + b"]" * 100_000,
    "100,000 levels of objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "form": b"email=a%40b.example&nom=N&prenom=P",
}
NOT_AN_OBJECT = {
    "null": (b"null", "null"),
    "list": (b"[]", "a list"),
    "list of objects": (b"[" + GOOD + b"]", "a list"),
    "string": (b'"text"', "a string"),
    "integer": (b"1", "an integer"),
    "number": (b"1.5", "a number"),
    "boolean": (b"true", "a boolean"),
}


async def post(service: Service, body: bytes, path: str = EMPLOYEES) -> Answer:
    """Send a body that must not be followed, and make sure that it was not."""
    before = await service.people()
    answer = await service.call("POST", path, body=body)
    assert before == await service.people()
    assert [] == service.mailer.letters
    return answer


async def post_fields(service: Service, **fields: object) -> Answer:
    return await post(service, json.dumps({**ADA, **fields}).encode())


@pytest.mark.parametrize("name", NOT_JSON)
async def test_what_is_not_json_is_refused(service: Service, name: str) -> None:
    answer = await post(service, NOT_JSON[name])

    assert (answer.status, answer.faults) == (400, [("", "invalid_json")])


async def test_a_byte_order_mark_is_named_because_it_cannot_be_seen(service: Service) -> None:
    answer = await post(service, NOT_JSON["byte order mark"])

    assert "byte order mark" in answer.json["message"]


@pytest.mark.parametrize("name", NOT_AN_OBJECT)
async def test_what_is_no_object_is_refused_and_named(service: Service, name: str) -> None:
    body, shown = NOT_AN_OBJECT[name]
    answer = await post(service, body)

    assert (answer.status, answer.faults[0]) == (400, ("", "wrong_type"))
    assert answer.json["details"][0]["message"] == f"must be an object, not {shown}"


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        (b'{"nom": "A", "nom": "A"}', [("nom", "repeated_field")]),
        (b'{"nom": "A", "\\u006eom": "B"}', [("nom", "repeated_field")]),
        (b'{"x": [1, {"y": {"a": 1, "b": 2, "a": 3}}]}', [("x[1].y.a", "repeated_field")]),
        (b'{"nom": NaN}', [("nom", "invalid_number")]),
        (
            b'{"nom": [1, Infinity], "prenom": -Infinity}',
            [("nom[1]", "invalid_number"), ("prenom", "invalid_number")],
        ),
        (b'{"secteur_id": 1e400}', [("secteur_id", "invalid_number")]),
        (b'{"secteur_id": -1e400}', [("secteur_id", "invalid_number")]),
        (b'{"secteur_id": ' + b"1" * 23 + b"}", [("secteur_id", "invalid_number")]),
        (b'{"secteur_id": -' + b"1" * 23 + b"}", [("secteur_id", "invalid_number")]),
        (b'{"secteur_id": ' + b"1" * 5000 + b"}", [("secteur_id", "invalid_number")]),
        (b'{"a": ' + b"[" * 300 + b"NaN" + b"]" * 300 + b"}", None),
    ],
)
async def test_what_parsers_tolerate_is_refused_at_its_place(
    service: Service, body: bytes, faults: list[tuple[str, str]] | None
) -> None:
    answer = await post(service, body)

    assert answer.status == 400
    assert faults is None or answer.faults == faults


@pytest.mark.parametrize("field", ["active", "send_invitation", "dry_run"])
@pytest.mark.parametrize("value", [0, 1, "false", "true", "", 0.0, [], {}])
async def test_nothing_but_a_boolean_is_one(service: Service, field: str, value: object) -> None:
    answer = await post_fields(service, **{field: value})

    assert (answer.status, answer.faults) == (400, [(field, "wrong_type")])


@pytest.mark.parametrize("field", ["send_invitation", "dry_run"])
async def test_null_is_no_answer_to_whether_to_write_or_to_mail(service: Service, field: str) -> None:
    assert [(field, "wrong_type")] == (await post_fields(service, **{field: None})).faults


@pytest.mark.parametrize("field", ["email", "nom", "prenom"])
@pytest.mark.parametrize("value", [None, 1, 1.5, True, ["a"], {"a": 1}])
async def test_a_required_text_is_a_string(service: Service, field: str, value: object) -> None:
    answer = await post_fields(service, **{field: value})

    assert (answer.status, answer.faults) == (400, [(field, "wrong_type")])


@pytest.mark.parametrize("field", ["external_id", "fonction", "telephone", "adresse", "secteur"])
@pytest.mark.parametrize("value", [1, 1.5, True, ["a"], {"a": 1}])
async def test_an_optional_text_is_a_string(service: Service, field: str, value: object) -> None:
    assert [(field, "wrong_type")] == (await post_fields(service, **{field: value})).faults


@pytest.mark.parametrize("value", [1.5, 1.0, True, ["1"], {"a": 1}])
async def test_a_sector_id_is_a_string_or_an_integer(service: Service, value: object) -> None:
    answer = await post_fields(service, secteur_id=value)

    assert [("secteur_id", "wrong_type")] == answer.faults
    assert "a string or an integer" in answer.json["message"]


@pytest.mark.parametrize(
    ("field", "longest"),
    [
        ("nom", 100),
        ("prenom", 100),
        ("external_id", 191),
        ("fonction", 100),
        ("telephone", 30),
        ("adresse", 255),
        ("secteur", 150),
        ("secteur_id", 64),
    ],
)
async def test_lengths_count_in_code_points_after_nfc_and_trimming(
    service: Service, field: str, longest: int
) -> None:
    too_long = await post_fields(service, **{field: "x" * (longest + 1)})
    # Two code points each as sent, one each in NFC; and one beyond the basic plane is one, not two.
    dry = {"dry_run": True}
    decomposed = await post_fields(service, **{field: "  " + "e\u0301" * longest + "  "}, **dry)
    astral = await post_fields(service, **{field: "😀" * longest}, **dry)

    assert [(field, "too_long")] == too_long.faults
    assert [200, 200] == [decomposed.status, astral.status]


@pytest.mark.parametrize("field", ["nom", "prenom"])
@pytest.mark.parametrize("value", ["", " ", "\u00a0\u2003"])
async def test_a_name_is_not_blank(service: Service, field: str, value: str) -> None:
    assert [(field, "too_short")] == (await post_fields(service, **{field: value})).faults


@pytest.mark.parametrize("field", ["nom", "external_id", "adresse", "secteur"])
@pytest.mark.parametrize(
    "character",
    ["\x00", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\u202e", "\u2066", "\ud800"],
)
async def test_control_characters_and_lone_surrogates_are_refused(
    service: Service, field: str, character: str
) -> None:
    answer = await post_fields(service, **{field: f"a{character}b"})

    assert (answer.status, answer.faults) == (400, [(field, "control_character")])


@pytest.mark.parametrize(
    "address",
    [
        "",
        " ",
        "a",
        "a@",
        "@b.example",
        "a@b",
        "a@b.example, c@d.example",
        "a@b.example;c@d.example",
        "a@b.example\r\nBcc: c@d.example",
        "a\x00@b.example",
        "a@b.example\x00",
        '"a b"@c.example',
        "a@[192.0.2.1]",
        "a@192.0.2.1",
        "a@b.example.",
        "a@b..example",
        ".a@b.example",
        "a.@b.example",
        "A <a@b.example>",
        "mailto:a@b.example",
        "a@b.example?x",
        "a@-b.example",
        "a\u202eb@c.example",
        "a\u200bb@c.example",
        "\ud800@b.example",
        "a" * 65 + "@b.example",
        "a" * 64 + "@" + ".".join(["b" * 60] * 4) + ".example",
    ],
)
async def test_what_mail_cannot_be_sent_to_is_no_address(service: Service, address: str) -> None:
    answer = await post_fields(service, email=address)

    assert (answer.status, answer.faults[0]) in {
        (400, ("email", "invalid_email")),
        (400, ("email", "too_long")),
        (400, ("email", "control_character")),
    }
    assert {"email"} == {field for field, _ in answer.faults}


async def test_everything_wrong_is_told_at_once(service: Service) -> None:
    body = {
        "email": "nonsense",
        "prenom": " ",
        "telephone": "0" * 31,
        "adresse": "a\x00b",
        "secteur_id": 1.5,
        "active": "yes",
        "surname": "Lovelace",
    }
    answer = await post(service, json.dumps(body).encode())

    assert {
        ("email", "invalid_email"),
        ("nom", "missing"),
        ("prenom", "too_short"),
        ("telephone", "too_long"),
        ("adresse", "control_character"),
        ("secteur_id", "wrong_type"),
        ("active", "wrong_type"),
        ("surname", "unknown_field"),
    } == set(answer.faults)
    assert len(answer.faults) == 8


@pytest.mark.parametrize(
    "name", ["last_name", "Nom", "nom ", "", "\x00", "\ud800", "\u202e", "a" * 5000, "__class__", "id"]
)
async def test_a_field_that_is_unknown_is_named_never_dropped(service: Service, name: str) -> None:
    answer = await post_fields(service, **{name: 1})
    ((field, code),) = answer.faults

    assert (answer.status, code) == (400, "unknown_field")
    assert len(field) <= 60
    assert field.isprintable()


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "application/xml",
        "application/jsonp",
        "application/json; charset=latin-1",
        "application/json; charset=utf-16",
        "application/json; version=1",
        "application/json, text/plain",
        "application/x-ndjson",
        "multipart/form-data; boundary=x",
    ],
)
async def test_a_body_that_does_not_say_that_it_is_json_is_not_read(
    service: Service, content_type: str | None
) -> None:
    answer = await service.call("POST", EMPLOYEES, body=GOOD, content_type=content_type)

    assert (answer.status, answer.code) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert await service.people() == 0


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "APPLICATION/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        'application/json; charset="utf-8"',
        " application/json ",
    ],
)
async def test_json_in_utf8_may_be_spelt_in_several_ways(service: Service, content_type: str) -> None:
    assert (await service.call("POST", EMPLOYEES, body=GOOD, content_type=content_type)).status == 200


async def test_two_content_types_are_refused(service: Service) -> None:
    twice = [("content-type", "application/json")]

    assert (await service.call("POST", EMPLOYEES, body=GOOD, headers=twice)).status == 415


@pytest.mark.parametrize("coding", ["gzip", "identity", "br", ""])
async def test_a_coded_body_is_refused(service: Service, coding: str) -> None:
    answer = await service.call("POST", EMPLOYEES, body=GOOD, headers=[("content-encoding", coding)])

    assert answer.status == 415


async def test_a_body_of_exactly_the_limit_is_read_and_one_byte_more_is_not(service: Service) -> None:
    padding = b" " * (MAX_BODY_BYTES - len(GOOD))
    at_limit = await service.call("POST", EMPLOYEES, body=GOOD + padding)
    beyond = await service.call("POST", EMPLOYEES, body=GOOD + padding + b" ")
    in_parts = [GOOD + padding[: MAX_BODY_BYTES // 2], padding[MAX_BODY_BYTES // 2 :], b" "]
    beyond_in_parts = await service.call("POST", EMPLOYEES, parts=in_parts)
    at_limit_in_parts = await service.call("POST", EMPLOYEES, parts=in_parts[:-1])

    assert [200, 413, 413, 200] == [
        answer.status for answer in (at_limit, beyond, beyond_in_parts, at_limit_in_parts)
    ]
    assert beyond.code == "PAYLOAD_TOO_LARGE"
    assert beyond.headers["connection"] == "close"


@pytest.mark.parametrize("length", ["5000000000", "9" * 30])
async def test_a_body_that_says_it_is_too_large_is_refused_unread(service: Service, length: str) -> None:
    async def unread() -> HTTPReceiveMessage:
        raise AssertionError("the body was read")

    answer = await send(
        service.app,
        "POST",
        EMPLOYEES,
        headers=[*head(service), ("content-length", length)],
        receive=unread,
    )

    assert answer.status == 413


async def test_nothing_of_a_body_is_read_before_the_key_the_quota_and_the_scope(service: Service) -> None:
    async def unread() -> HTTPReceiveMessage:
        raise AssertionError("the body was read")

    answer = await send(
        service.app, "POST", EMPLOYEES, headers=[("host", "a"), ("content-length", "10")], receive=unread
    )

    assert answer.status == 401


async def test_a_body_that_stops_coming_ends_the_request() -> None:
    service = await new_service(memory_storage(), body_idle_seconds=0.02)

    async def silent() -> HTTPReceiveMessage:
        await asyncio.Event().wait()
        raise AssertionError

    headers = [*head(service), ("content-length", "10")]
    answer = await send(service.app, "POST", EMPLOYEES, headers=headers, receive=silent)

    assert (answer.status, answer.code) == (408, "REQUEST_TIMEOUT")
    assert answer.headers["connection"] == "close"


async def test_a_refused_body_is_let_go_of_at_once() -> None:
    # A server waits for the rest of a body as long as anybody could still ask for it.
    service = await new_service(memory_storage(), body_idle_seconds=0.02)

    async def ask() -> weakref.ref[object]:
        async def silent() -> HTTPReceiveMessage:
            await asyncio.Event().wait()
            raise AssertionError

        headers = [*head(service), ("content-length", "10")]
        await send(service.app, "POST", EMPLOYEES, headers=headers, receive=silent)
        return weakref.ref(silent)

    gc.collect()
    gc.disable()
    try:
        receive = await asyncio.create_task(ask())
    finally:
        gc.enable()

    assert receive() is None


@pytest.mark.parametrize("announced", [("content-length", "300000"), ("transfer-encoding", "chunked")])
async def test_a_large_body_is_read_to_its_end_before_its_refusal_goes_out(
    service: Service, announced: tuple[str, str]
) -> None:
    """Or the caller, who is still sending, sees a broken connection in its place."""
    receive = receiving([b" " * 100_000] * 3)

    answer = await send(service.app, "POST", EMPLOYEES, headers=[("host", "a"), announced], receive=receive)

    assert (answer.status, await receive()) == (401, {"type": "http.disconnect"})


async def test_a_refusal_does_not_wait_for_a_large_body_that_stops_coming() -> None:
    service = await new_service(memory_storage(), body_idle_seconds=0.02)

    async def silent() -> HTTPReceiveMessage:
        await asyncio.Event().wait()
        raise AssertionError

    headers = [("host", "a"), ("content-length", "300000")]

    assert (await send(service.app, "POST", EMPLOYEES, headers=headers, receive=silent)).status == 401


async def test_only_silence_ends_a_body_not_its_length() -> None:
    service = await new_service(memory_storage(), body_idle_seconds=0.2)
    receive = receiving([GOOD[place : place + 1] for place in range(len(GOOD))])

    async def slowly() -> HTTPReceiveMessage:
        await asyncio.sleep(0.01)
        message = await receive()
        assert message["type"] in {"http.request", "http.disconnect"}
        return message

    headers = [*head(service), ("transfer-encoding", "chunked")]

    assert (await send(service.app, "POST", EMPLOYEES, headers=headers, receive=slowly)).status == 200


@pytest.mark.parametrize("parts", [[], [b'{"email":']], ids=["before", "within"])
async def test_a_body_that_breaks_off_writes_nothing(service: Service, parts: Sequence[bytes]) -> None:
    pending = [*receiving_unfinished(parts)]

    async def broken() -> HTTPReceiveMessage:
        return pending.pop(0)

    headers = [*head(service), ("content-length", str(len(GOOD)))]
    answer = await send(service.app, "POST", EMPLOYEES, headers=headers, receive=broken)

    assert (answer.status, answer.faults) == (400, [("", "broken_off")])
    assert await service.people() == 0


@pytest.mark.parametrize("coding", ["gzip, chunked", "identity", "deflate", "chunked, chunked"])
async def test_a_transfer_coding_other_than_chunked_is_refused(service: Service, coding: str) -> None:
    headers = [*head(service), ("transfer-encoding", coding)]
    answer = await send(service.app, "POST", EMPLOYEES, headers=headers, receive=receiving([GOOD]))

    assert answer.status == 415


async def test_a_body_that_http2_did_not_announce_has_to_say_what_it_is_too(service: Service) -> None:
    headers = [("host", "a"), ("x-api-key", service.key)]
    answers = [
        await send(service.app, "POST", EMPLOYEES, headers=sent, receive=receiving([GOOD]), http_version="2")
        for sent in (headers, [*headers, ("content-type", "application/json")])
    ]

    assert [415, 200] == [answer.status for answer in answers]


@pytest.mark.parametrize("body", [None, b"", b"{}", b"  {} "])
@pytest.mark.parametrize("path", [INVITE, "/api/v1/employees/nobody/deactivate"])
async def test_a_body_that_may_be_absent_may_be_empty(
    service: Service, path: str, body: bytes | None
) -> None:
    content_type = None if not body else "application/json"
    answer = await service.call("POST", path, body=body, content_type=content_type)

    assert answer.status == (200 if path == INVITE else 404)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"null", ("", "wrong_type")),
        (b"[]", ("", "wrong_type")),
        (b'{"employee_ids": null}', ("employee_ids", "wrong_type")),
        (b'{"employee_ids": "x"}', ("employee_ids", "wrong_type")),
        (b'{"employee_ids": {"0": "x"}}', ("employee_ids", "wrong_type")),
        (b'{"employee_ids": ["a", 1]}', ("employee_ids[1]", "wrong_type")),
        (b'{"employee_ids": [null]}', ("employee_ids[0]", "wrong_type")),
        (b'{"employee_ids": ["a\\u0000"]}', ("employee_ids[0]", "control_character")),
        (b'{"employee_ids": ["' + b"a" * 65 + b'"]}', ("employee_ids[0]", "too_long")),
        (json.dumps({"employee_ids": ["a"] * (MAX_SELECTED + 1)}).encode(), ("employee_ids", "too_many")),
        (b'{"force": 1}', ("force", "wrong_type")),
        (b'{"force": null}', ("force", "wrong_type")),
        (b'{"ids": []}', ("ids", "unknown_field")),
    ],
)
async def test_a_wrong_invitation_is_refused_and_invites_nobody(
    service: Service, body: bytes, fault: tuple[str, str]
) -> None:
    await service.person()
    answer = await post(service, body, INVITE)

    assert (answer.status, answer.faults) == (400, [fault])


async def test_the_deactivation_takes_no_field(service: Service) -> None:
    person = await service.person()
    answer = await service.post(f"/api/v1/employees/{person}/deactivate", {"force": True})

    assert (answer.status, answer.faults) == (400, [("force", "unknown_field")])


def head(service: Service) -> list[tuple[str, str]]:
    return [("host", "a"), ("x-api-key", service.key), ("content-type", "application/json")]


def receiving_unfinished(parts: Sequence[bytes]) -> list[HTTPReceiveMessage]:
    """The messages of a client that goes away before its body has ended."""
    return [
        *({"type": "http.request", "body": part, "more_body": True} for part in parts),  # type: ignore[list-item]
        {"type": "http.disconnect"},
    ]
