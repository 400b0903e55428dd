"""A whole directory over HTTP, as JSON and line by line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from awareness_core.api_keys import Scope as KeyScope
from tests.http.service import Answer, Service

pytestmark = pytest.mark.anyio

SYNC = "/api/v1/employees/sync"
NDJSON = "application/x-ndjson"


def record(number: int, **fields: object) -> dict[str, object]:
    """What a directory says of somebody."""
    return {
        "email": f"p{number}@acme.example",
        "nom": f"Name{number}",
        "prenom": "P",
        "external_id": f"e{number}",
        **fields,
    }


def lines(records: Iterable[object], *, count: int | None = None) -> bytes:
    """The records a line each, with their end."""
    encoded = [json.dumps(one) for one in records]
    end = {"end": {"count": len(encoded) if count is None else count}}
    return "\n".join([*encoded, json.dumps(end)]).encode()


async def as_json(service: Service, records: Sequence[object], **options: object) -> Answer:
    return await service.post(SYNC, {"employees": list(records), **options})


async def as_lines(service: Service, body: bytes, **query: object) -> Answer:
    return await service.call("POST", SYNC, query=query, body=body, content_type=NDJSON)


def read_lines(answer: Answer) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The results and the totals."""
    *results, totals = [json.loads(line) for line in answer.body.splitlines()]
    return results, totals


def actions(results: Iterable[Mapping[str, Any]]) -> list[str]:
    return [result["action"] for result in results]


async def test_a_record_with_a_field_twice_still_says_who_has_not_left(stored: Service) -> None:
    await as_json(stored, [record(1), record(2)])
    twice = json.dumps(record(1)).replace('"nom"', '"prenom": "Q", "nom"').encode()
    answer = await as_lines(
        stored,
        b"\n".join([twice, json.dumps(record(2)).encode(), b'{"end": {"count": 2}}']),
        deactivate_missing="true",
    )
    results, totals = read_lines(answer)

    assert [("e1", "failed"), ("e2", "skipped")] == [
        (result["external_id"], result["action"]) for result in results
    ]
    assert 0 == totals["summary"]["deactivated"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line[:-1],
        lambda line: line.replace('"P"', '"P",}'),
        lambda line: line.replace('"P"', '"\\x"'),
        lambda line: line.replace('"P"', "NaN"),
        lambda line: line.replace('"P"', '"\\ud800"'),
        lambda line: line.replace('"P"', '"P').replace("acme", "\\u0061cme"),
        lambda line: line.replace('"e1"', "1,"),
    ],
    ids=["unended", "comma", "escape", "number", "surrogate", "no end of text", "a number"],
)
async def test_a_damaged_line_still_says_who_has_not_left(
    stored: Service, damage: Callable[[str], str]
) -> None:
    people = [record(1), record(2)]
    await as_json(stored, people)
    spelt = [damage(json.dumps(people[0])), json.dumps(people[1]), '{"end": {"count": 2}}']
    answer = await as_lines(stored, "\n".join(spelt).encode(), deactivate_missing="true")
    results, totals = read_lines(answer)

    assert ["failed", "skipped"] == actions(results)
    assert 0 == totals["summary"]["deactivated"]


@pytest.mark.parametrize("field", ["email", "external_id", "nom"])
async def test_text_that_is_no_text_fails_in_its_place(stored: Service, field: str) -> None:
    people = [record(1), record(2, **{field: "a\ud800@acme.example"})]

    for answer in (
        read_lines(await as_lines(stored, lines(people)))[0],
        (await as_json(stored, people)).json["results"],
    ):
        assert ["validation_error"] == [result["error"] for result in answer if result["action"] == "failed"]
        assert [f"employees[1].{field}"] == [fault["field"] for fault in answer[1]["details"]]


async def test_a_directory_is_created_then_skipped_then_followed(stored: Service) -> None:
    first = await as_json(stored, [record(1, secteur="A"), record(2), record(3)])
    again = await as_json(stored, [record(1, secteur="A"), record(2), record(3)])
    later = await as_json(stored, [record(1, nom="New"), record(2, active=False), record(4)])

    assert actions(first.json["results"]) == ["created"] * 3
    assert actions(again.json["results"]) == ["skipped"] * 3
    assert [one["id"] for one in again.json["results"]] == [one["id"] for one in first.json["results"]]
    assert actions(later.json["results"]) == ["updated", "deactivated", "created"]
    assert later.json["summary"] == {
        "received": 3,
        "created": 1,
        "updated": 1,
        "reactivated": 0,
        "deactivated": 1,
        "skipped": 0,
        "failed": 0,
    }
    assert (later.json["ok"], later.json["dry_run"]) == (True, False)


async def test_lines_are_answered_by_lines(stored: Service) -> None:
    answer = await as_lines(stored, lines([record(1), record(2)]))
    again = await as_lines(stored, lines([record(1), record(2)]))

    results, totals = read_lines(answer)
    assert answer.headers["content-type"] == NDJSON
    assert actions(results) == ["created", "created"]
    assert totals["summary"]["created"] == 2
    assert actions(read_lines(again)[0]) == ["skipped", "skipped"]


async def test_bad_records_fail_in_their_places_and_spoil_no_other(stored: Service) -> None:
    bad = [
        record(1),
        {"email": "rubbish", "nom": "", "prenom": "P", "x": 1},
        5,
        record(1, email="z@acme.example"),
        record(2),
    ]
    answer = await as_json(stored, bad)
    results = answer.json["results"]

    assert answer.status == 200
    assert answer.json["ok"] is False
    assert actions(results) == ["created", "failed", "failed", "failed", "created"]
    assert [result.get("error") for result in results] == [
        None,
        "validation_error",
        "validation_error",
        "duplicate_in_payload",
        None,
    ]
    assert {fault["field"] for fault in results[1]["details"]} == {
        "employees[1].email",
        "employees[1].nom",
        "employees[1].x",
    }
    assert results[2]["details"][0]["field"] == "employees[2]"


async def test_addresses_swap_hands_across_a_payload(stored: Service) -> None:
    await as_json(stored, [record(1), record(2)])
    swapped = [record(1, email="p2@acme.example"), record(2, email="p1@acme.example")]

    assert actions((await as_json(stored, swapped)).json["results"]) == ["updated", "updated"]


async def test_a_dry_run_tells_the_same_and_writes_nothing(stored: Service) -> None:
    await as_json(stored, [record(1)])
    payload = [record(1, nom="New"), record(2)]
    dry = await as_json(stored, payload, dry_run=True)
    people = await stored.people()
    real = await as_json(stored, payload)

    assert people == 1
    assert dry.json["summary"] == real.json["summary"]
    assert dry.json["dry_run"] is True
    assert [result["planned"] for result in dry.json["results"]] == [True, True]
    assert "id" not in dry.json["results"][1]


async def test_a_roster_that_lost_half_its_lines_is_stopped_until_confirmed(stored: Service) -> None:
    await as_json(stored, [record(number) for number in range(20)])
    half = [record(number) for number in range(10)]
    blocked = await as_json(stored, half, deactivate_missing=True)
    other = await as_json(stored, half, deactivate_missing=True, confirm_deactivations=9)
    active = await stored.get("/api/v1/employees", query={"statut": "actif"})
    confirmed = await as_json(stored, half, deactivate_missing=True, confirm_deactivations=10)

    assert (blocked.status, blocked.code) == (409, "MASS_DEACTIVATION_BLOCKED")
    assert blocked.json["planned_deactivations"] == 10
    assert blocked.json["summary"]["deactivated"] == 10
    assert other.status == 409
    assert active.json["pagination"]["total"] == 20
    assert confirmed.json["summary"]["deactivated"] == 10


async def test_the_guard_stands_before_lines_too(stored: Service) -> None:
    await as_json(stored, [record(number) for number in range(20)])
    blocked = await as_lines(stored, lines([]), deactivate_missing="true")
    confirmed = await as_lines(stored, lines([]), deactivate_missing="true", confirm_deactivations="20")

    assert (blocked.status, blocked.json["planned_deactivations"]) == (409, 20)
    assert read_lines(confirmed)[1]["summary"]["deactivated"] == 20


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n",
        lines([record(1)], count=2),
        lines([record(1)], count=0),
        b"\n".join(lines([record(1), record(2)]).split(b"\n")[:-1]),
        lines([record(1), record(2)])[:-1],
        lines([record(1)]) + b"\n" + json.dumps(record(2)).encode(),
        b'{"end": {"count": 0}, "x": 1}',
        b'{"end": {"count": false}}',
        json.dumps(record(1)).encode() + b'\n{"end": {"count": true}}',
        b"x" * 70_000,
    ],
)
async def test_lines_without_their_end_write_nothing(service: Service, body: bytes) -> None:
    answer = await as_lines(service, body)

    assert (answer.status, answer.code) == (400, "VALIDATION_ERROR")
    assert await service.people() == 0


@pytest.mark.parametrize("before", [0, 1, 2])
async def test_a_line_that_is_too_long_is_named_by_its_number(service: Service, before: int) -> None:
    answer = await as_lines(service, lines([*map(record, range(before)), record(9, nom="x" * 70_000)]))

    assert 400 == answer.status
    assert f"line {before + 1} is longer" in answer.json["message"]


async def test_lines_may_arrive_in_any_parts(service: Service) -> None:
    body = lines([record(1), record(2)]) + b"\n"
    parts = [body[start : start + 7] for start in range(0, len(body), 7)]
    answer = await service.call("POST", SYNC, parts=parts, content_type=NDJSON)

    assert actions(read_lines(answer)[0]) == ["created", "created"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"{}", "employees"),
        (b"[]", ""),
        (b"null", ""),
        (b'{"employees": 5}', "employees"),
        (b'{"employees": [], "employees": []}', "employees"),
        (b'{"employees": [], "x": []}', "x"),
        (b'{"employees": [], "dry_run": "false"}', "dry_run"),
        (b'{"employees": [], "dry_run": 0}', "dry_run"),
        (b'{"employees": [], "confirm_deactivations": -1}', "confirm_deactivations"),
        (b'{"employees": [], "confirm_deactivations": 1e400}', "confirm_deactivations"),
        (b'{"employees": []} x', ""),
        (b'\xef\xbb\xbf{"employees": []}', ""),
        (b'{"employees": [' + b"[" * 100_000, ""),
        (b'{"employees": [{"email": "\xff"}]', ""),
    ],
)
async def test_a_broken_envelope_is_refused_by_its_field(service: Service, body: bytes, field: str) -> None:
    answer = await service.call("POST", SYNC, body=body)

    assert (answer.status, answer.code) == (400, "VALIDATION_ERROR")
    assert field in {place for place, _ in answer.faults}


async def test_options_belong_to_the_body_or_to_the_lines(service: Service) -> None:
    beside_json = await service.post(f"{SYNC}", {"employees": []}, query={"dry_run": "true"})
    unknown = await as_lines(service, lines([]), dryrun="true")
    not_boolean = await as_lines(service, lines([]), dry_run="1")

    assert beside_json.faults == [("dry_run", "unknown_parameter")]
    assert unknown.faults == [("dryrun", "unknown_parameter")]
    assert not_boolean.faults == [("dry_run", "wrong_type")]


async def test_other_media_types_are_refused(service: Service) -> None:
    answer = await service.call("POST", SYNC, body=b"email,nom", content_type="text/csv")

    assert (answer.status, answer.code) == (415, "UNSUPPORTED_MEDIA_TYPE")


async def test_more_than_a_small_body_is_taken(service: Service) -> None:
    answer = await as_json(service, [record(number, adresse="x" * 200) for number in range(6000)])

    assert answer.status == 200
    assert answer.json["summary"]["created"] == 6000


async def test_the_scope_to_write_is_needed(service: Service) -> None:
    key = await service.key_with(KeyScope.READ_EMPLOYEES)
    answer = await service.post(SYNC, {"employees": []}, key=key)

    assert (answer.status, answer.code) == (403, "INSUFFICIENT_SCOPE")


async def test_newcomers_are_invited_as_far_as_one_call_may(service: Service) -> None:
    await as_json(service, [record(1)])
    answer = await as_json(service, [record(number) for number in range(130)], send_invitations=True)
    invitations = answer.json["invitations"]

    assert (invitations["total"], invitations["invited"], invitations["truncated"]) == (129, 100, True)
    assert len(service.mailer.letters) == 100
    rest = await service.post("/api/v1/employees/invite-bulk", {})
    assert rest.json["summary"]["invited"] == 30


async def test_a_dry_run_invites_nobody(service: Service) -> None:
    answer = await as_json(service, [record(1)], send_invitations=True, dry_run=True)

    assert "invitations" not in answer.json
    assert service.mailer.letters == []


async def test_another_company_keeps_its_people_whatever_is_sent(stored: Service) -> None:
    await stored.post(SYNC, {"employees": [record(1)]}, key=stored.globex_key)
    answer = await as_json(stored, [record(1), record(2)])

    assert [result.get("error") for result in answer.json["results"]] == ["email_conflict_other_tenant", None]
