"""Several people invited at once: whom, how many, and what is said of those who are not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from awareness_core.employees import EmployeeId
from awareness_core.use_cases.record_first_login import record_first_login
from tests.http.service import Service

pytestmark = pytest.mark.anyio

INVITE = "/api/v1/employees/invite-bulk"


async def test_130_people_get_exactly_one_mail_each_in_two_calls(stored: Service) -> None:
    for number in range(130):
        await stored.person(email=f"p{number}@acme.example")
    calls = [await stored.post(INVITE) for _ in range(3)]

    assert [(130, 100, True), (30, 30, False), (0, 0, False)] == [
        tuple(call.json["summary"][name] for name in ("total", "invited", "truncated")) for call in calls
    ]
    assert {f"p{number}@acme.example" for number in range(130)} == {
        letter.email for letter in stored.mailer.letters
    }
    assert len(stored.mailer.letters) == 130


async def test_a_selection_tells_of_each_id_what_became_of_it(stored: Service) -> None:
    due = await stored.person()
    sso = await stored.person(email="grace@sso.example")
    inside = await stored.person(email="alan@acme.example")
    gone = await stored.person(email="zoe@acme.example")
    await record_first_login(stored.ports, stored.acme.id, EmployeeId(inside))
    await stored.post(f"/api/v1/employees/{gone}/deactivate")
    answer = await stored.post(INVITE, {"employee_ids": [due, sso, inside, gone, "nobody", due]})

    assert {
        "ok": True,
        "summary": {
            "total": 6,
            "invited": 1,
            "skipped": 5,
            "failed": 0,
            "truncated": False,
            "max_per_call": 100,
            "mode": "selection",
        },
        "results": [
            {"id": due, "email": "ada@acme.example", "status": "invited"},
            {"id": sso, "email": "grace@sso.example", "status": "skipped", "code": "sso"},
            {"id": inside, "email": "alan@acme.example", "status": "skipped", "code": "already_logged_in"},
            {"id": gone, "email": "zoe@acme.example", "status": "skipped", "code": "archived"},
            {"id": "nobody", "status": "skipped", "code": "not_found"},
            {"id": due, "email": "ada@acme.example", "status": "skipped", "code": "duplicate"},
        ],
    } == answer.json


async def test_an_empty_selection_is_nobody_and_no_selection_is_everybody(stored: Service) -> None:
    await stored.person()
    nobody = await stored.post(INVITE, {"employee_ids": []})
    everybody = await stored.post(INVITE, {})

    assert ("selection", 0) == tuple(nobody.json["summary"][name] for name in ("mode", "invited"))
    assert ("all_awaiting_access", 1) == tuple(
        everybody.json["summary"][name] for name in ("mode", "invited")
    )


async def test_force_invites_again_but_not_within_15_minutes(stored: Service) -> None:
    person = await stored.person()
    await stored.post(INVITE)
    outcomes = []
    for minutes, force in ((0, True), (15, False), (0, True)):
        stored.clock.advance(timedelta(minutes=minutes))
        answer = await stored.post(INVITE, {"employee_ids": [person], "force": force})
        outcomes.append(answer.json["results"][0].get("code", "invited"))

    assert ["recently_invited", "already_invited", "invited"] == outcomes


async def test_a_mail_that_fails_is_told_and_makes_the_answer_not_ok(stored: Service) -> None:
    person = await stored.person()
    stored.mailer.refuse("ada@acme.example")
    answer = await stored.post(INVITE)

    assert (200, False) == (answer.status, answer.json["ok"])
    assert [
        {"id": person, "email": "ada@acme.example", "status": "failed", "code": "delivery_failed"}
    ] == answer.json["results"]


async def test_no_password_is_in_any_answer(stored: Service) -> None:
    await stored.person()
    answer = await stored.post(INVITE)
    everything = answer.body + (await stored.get("/api/v1/employees")).body
    (letter,) = stored.mailer.letters

    assert letter.password not in everything.decode()
