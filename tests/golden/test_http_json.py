"""The exact JSON of every answer, as a program on the other side sees it; names, order and spelling included.

`pytest tests/golden --update` writes the files anew. A change in one of them is a change of the contract.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final

import pytest

from awareness_core.campaigns import CampaignState
from awareness_core.kpis import Funnel
from tests.contracts.storages import campaign, memory_storage
from tests.http.service import ADA, NOW, Answer, Service, new_service

pytestmark = pytest.mark.anyio

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Step = Callable[[Service], Awaitable[Answer]]

FULL: Final = {
    **ADA,
    "external_id": "RH-00042",
    "fonction": "Mathématicienne",
    "telephone": "+44 20 7946 0000",
    "adresse": "12 St James's Square",
    "secteur": "Recherche & développement",
}


async def _deactivated(service: Service) -> Answer:
    person = await service.person(external_id="RH-00042")
    return await service.post(f"/api/v1/employees/{person}/deactivate")


async def _read(service: Service) -> Answer:
    person = (await service.post("/api/v1/employees", {**FULL, "send_invitation": True})).json["employee"]
    service.clock.advance(timedelta(milliseconds=1500))
    await service.post("/api/v1/employees", {**FULL, "active": False})
    return await service.get(f"/api/v1/employees/{person['id']}")


async def _listed(service: Service) -> Answer:
    await service.person(secteur="Finance")
    service.clock.advance(timedelta(seconds=1))
    await service.person(email="grace@sso.example", nom="Hopper", prenom="Grace", external_id="RH-2")
    return await service.get("/api/v1/employees", query={"limit": 1})


async def _invited(service: Service) -> Answer:
    ids = [await service.person(), await service.person(email="grace@sso.example"), "nobody"]
    return await service.post("/api/v1/employees/invite-bulk", {"employee_ids": ids})


async def _campaigns(service: Service) -> Answer:
    funnel = Funnel(
        total=240, sent=238, opened=151, clicked=37, submitted=12, reported=64, errors=2, machine=9
    )
    ended = campaign(
        1,
        name="Facture en attente",
        state=CampaignState.COMPLETED,
        starts_at=NOW - timedelta(days=9),
        ends_at=NOW - timedelta(days=2, milliseconds=1),
        funnel=funnel,
    )
    async with service.ports.store.transaction(service.acme.id) as transaction:
        await transaction.save_campaigns([ended, campaign(2, created_at=NOW - timedelta(days=1))])
    return await service.get("/api/v1/campaigns")


CAMPAIGN: Final = {
    "external_id": "gophish-12",
    "nom": "Facture en attente",
    "statut": "terminee",
    "date_debut": "2026-03-03T08:00:00Z",
    "date_fin": "2026-03-10T18:00:00Z",
    "difficulte": "moyenne",
}


async def _imported(service: Service) -> Answer:
    await service.person(external_id="RH-00042", secteur="Finance")
    events = [
        {"email": ADA["email"], "type": "envoye", "survenu_at": "2026-03-03T08:00:02Z"},
        {"email": ADA["email"], "type": "ouvert", "survenu_at": "2026-03-03T08:00:03.5Z", "methode": "HEAD"},
        {"email": ADA["email"], "type": "signale", "survenu_at": "2026-03-03T10:22:05.250+02:00"},
        {"email": "grace@acme.example", "type": "clique", "survenu_at": "2026-03-03T08:21:40Z"},
        {"email": "grace@acme.example", "type": "clique", "survenu_at": "2026-03-03"},
    ]
    body = {"campaign": CAMPAIGN, "destinataires": [{"email": ADA["email"]}], "evenements": events}
    return await service.post("/api/v1/campaigns/import", body)


async def _campaign(service: Service) -> Answer:
    imported = await _imported(service)
    path = f"/api/v1/campaigns/{imported.json['campaign']['id']}"
    return await service.get(path, query={"machine": "incluses"})


async def _recipients(service: Service) -> Answer:
    imported = await _imported(service)
    return await service.get(f"/api/v1/campaigns/{imported.json['campaign']['id']}/results")


ANSWERS: Final[Mapping[str, Step]] = {
    "ping": lambda service: service.get("/api/v1/ping"),
    "employee_created": lambda service: service.post("/api/v1/employees", {**FULL, "send_invitation": True}),
    "employee_planned": lambda service: service.post(
        "/api/v1/employees", {**FULL, "dry_run": True, "send_invitation": True}
    ),
    "employee_failed": lambda service: service.post("/api/v1/employees", {**FULL, "secteur_id": 7}),
    "employee_unknown_leaver": lambda service: service.post("/api/v1/employees", {**ADA, "active": False}),
    "employee_deactivated": _deactivated,
    "employee_read": _read,
    "employees_listed": _listed,
    "invitations": _invited,
    "campaign_imported": _imported,
    "campaign_read": _campaign,
    "campaign_recipients": _recipients,
    "campaigns": _campaigns,
    "error_validation": lambda service: service.post(
        "/api/v1/employees", {"email": "nonsense", "nom": 5, "prenom": " ", "surname": "x", "active": 0}
    ),
    "error_query": lambda service: service.get(
        "/api/v1/campaigns", query={"page": 0, "statut": "x", "date_debut": "2026-02-30", "sort": "nom"}
    ),
    "error_not_json": lambda service: service.call("POST", "/api/v1/employees", body=b'{"a" 1}'),
    "error_api_key_invalid": lambda service: service.get("/api/v1/ping", key="nonsense"),
    "error_not_found_route": lambda service: service.get("/api/v1/nowhere"),
    "error_not_found_employee": lambda service: service.get("/api/v1/employees/nobody"),
    "error_method_not_allowed": lambda service: service.call("PUT", "/api/v1/employees"),
    "error_payload_too_large": lambda service: service.call(
        "POST", "/api/v1/employees", body=b" " * 1_048_577
    ),
    "error_unsupported_media_type": lambda service: service.call(
        "POST", "/api/v1/employees", body=b"{}", content_type="text/plain"
    ),
    "health_live": lambda service: service.get("/health/live"),
    "health_ready": lambda service: service.get("/health/ready"),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_an_answer_is_exactly_this(name: str, golden: Callable[[str, str], str]) -> None:
    service = await new_service(memory_storage())
    answer = await ANSWERS[name](service)
    text = f"{answer.status}\n{json.dumps(answer.json, indent=2, ensure_ascii=False)}\n"
    shown = _without_ids(text)

    assert golden(f"http/{name}.txt", shown) == shown


def _without_ids(text: str) -> str:
    """The text with each identifier replaced by its place in the order of first appearance."""
    known = list(dict.fromkeys(_ID.findall(text)))
    return _ID.sub(lambda found: f"<id {known.index(found[0]) + 1}>", text)
