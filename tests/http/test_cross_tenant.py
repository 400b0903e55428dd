"""One company's key and another's people: every route answers exactly as for ids that nobody has."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import pytest

from awareness_core.kpis import Funnel
from tests.contracts.storages import campaign
from tests.http.service import ADA, NOW, Answer, Service

pytestmark = pytest.mark.anyio

NOBODY = "01950000-0000-7000-8000-000000000000"
ROUTES: Final[Mapping[str, Callable[[Service, str], Awaitable[Answer]]]] = {
    "read": lambda service, name: service.get(f"/api/v1/employees/{name}"),
    "deactivate": lambda service, name: service.post(f"/api/v1/employees/{name}/deactivate"),
    "erase": lambda service, name: service.call("DELETE", f"/api/v1/employees/{name}"),
    "invite": lambda service, name: service.post("/api/v1/employees/invite-bulk", {"employee_ids": [name]}),
    "invite with force": lambda service, name: service.post(
        "/api/v1/employees/invite-bulk", {"employee_ids": [name, name], "force": True}
    ),
    "list by external id": lambda service, name: service.get(
        "/api/v1/employees", query={"external_id": f"RH-{name}"}
    ),
    "list by address": lambda service, name: service.get(
        "/api/v1/employees", query={"email": f"{name}@globex.example"}
    ),
    "list by text": lambda service, name: service.get("/api/v1/employees", query={"q": name}),
    "list by sector": lambda service, name: service.get("/api/v1/employees", query={"secteur_id": "1"}),
}


@pytest.mark.parametrize("route", ROUTES)
async def test_another_companys_ids_are_answered_like_nobodys(stored: Service, route: str) -> None:
    theirs = await stored.person(key=stored.globex_key, external_id="RH-7", secteur="Research")
    foreign = await ROUTES[route](stored, theirs)
    unknown = await ROUTES[route](stored, NOBODY)

    assert _masked(foreign, theirs) == _masked(unknown, NOBODY)
    assert [] == stored.mailer.letters


async def test_nothing_was_changed_by_trying(stored: Service) -> None:
    theirs = await stored.person(key=stored.globex_key, secteur="Research")
    before = await stored.get(f"/api/v1/employees/{theirs}", key=stored.globex_key)
    for call in ROUTES.values():
        await call(stored, theirs)
    after = await stored.get(f"/api/v1/employees/{theirs}", key=stored.globex_key)

    assert before.body == after.body


async def test_lists_hold_the_keys_own_company_and_no_other(stored: Service) -> None:
    await stored.person(key=stored.globex_key)
    async with stored.ports.store.transaction(stored.globex.id) as transaction:
        await transaction.save_campaigns([campaign(1, created_at=NOW, funnel=Funnel(total=5))])
    people = await stored.get("/api/v1/employees")
    campaigns = await stored.get("/api/v1/campaigns")

    assert [(0, [])] * 2 == [
        (answer.json["pagination"]["total"], answer.json["data"]) for answer in (people, campaigns)
    ]


async def test_the_same_external_id_and_sector_name_are_two_in_two_companies(stored: Service) -> None:
    theirs = await stored.person(key=stored.globex_key, external_id="RH-1", secteur="Research")
    ours = await stored.post(
        "/api/v1/employees",
        {**ADA, "email": "other@acme.example", "external_id": "RH-1", "secteur": "research"},
    )

    assert ours.json["employee"]["action"] == "created"
    assert ours.json["employee"]["id"] != theirs
    read = (await stored.get(f"/api/v1/employees/{ours.json['employee']['id']}")).json["employee"]
    assert read["secteur"] == {"id": "1", "nom": "research"}


async def test_a_taken_address_is_the_same_answer_whoever_has_it_and_whatever_they_are_called(
    stored: Service,
) -> None:
    await stored.person(key=stored.globex_key, external_id="RH-1", nom="Secret", secteur="Hidden")
    answer = await stored.post("/api/v1/employees", {**ADA, "external_id": "RH-1"})

    assert "email_conflict_other_tenant" == answer.json["employee"]["error"]
    assert not {"Secret", "Hidden", "Globex", stored.globex.id} & set(json.dumps(answer.json).split('"'))


def _masked(answer: Answer, name: str) -> tuple[int, dict[str, str], bytes]:
    status, headers, body = answer.without_its_own
    return status, dict(headers), body.replace(name.encode(), b"<id>")
