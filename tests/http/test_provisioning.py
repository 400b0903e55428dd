"""One person created, updated, archived and brought back over HTTP, in every action and with every refusal."""

from __future__ import annotations

import pytest

from tests.http.service import ADA, Answer, Service

pytestmark = pytest.mark.anyio

EMPLOYEES = "/api/v1/employees"
COUNTS = {
    "received": 1,
    "created": 0,
    "updated": 0,
    "reactivated": 0,
    "deactivated": 0,
    "skipped": 0,
    "failed": 0,
}


async def provision(service: Service, **fields: object) -> Answer:
    return await service.post(EMPLOYEES, {**ADA, **fields})


async def read(service: Service, person: str) -> dict[str, object]:
    found: dict[str, object] = (await service.get(f"{EMPLOYEES}/{person}")).json["employee"]
    return found


async def test_somebody_new_is_created_with_all_fields(stored: Service) -> None:
    answer = await provision(
        stored,
        external_id="RH-1",
        fonction="Mathematician",
        telephone="+44 20 7946 0000",
        adresse="12 St James's Square",
        secteur="Research",
        active=True,
    )
    person = answer.json["employee"]["id"]

    assert answer.status == 200
    assert {
        "ok": True,
        "employee": {"external_id": "RH-1", "email": "ada@acme.example", "action": "created", "id": person},
        "summary": {**COUNTS, "created": 1},
    } == answer.json
    assert {
        "id": person,
        "external_id": "RH-1",
        "email": "ada@acme.example",
        "nom": "Lovelace",
        "prenom": "Ada",
        "fonction": "Mathematician",
        "telephone": "+44 20 7946 0000",
        "adresse": "12 St James's Square",
        "secteur": {"id": "1", "nom": "Research"},
        "statut": "actif",
        "acces": "en_attente",
        "derniere_invitation_at": None,
        "premiere_connexion_at": None,
        "created_at": "2026-03-31T08:00:00Z",
        "updated_at": "2026-03-31T08:00:00Z",
        "archived_at": None,
    } == await read(stored, person)


async def test_the_same_record_again_is_skipped(stored: Service) -> None:
    first = await provision(stored)
    again = await provision(stored)

    assert again.json["employee"] == {**first.json["employee"], "action": "skipped"}
    assert {**COUNTS, "skipped": 1} == again.json["summary"]


async def test_a_person_with_an_external_id_is_followed_to_a_new_address(stored: Service) -> None:
    first = await provision(stored, external_id="RH-1")
    moved = await provision(stored, external_id="RH-1", email="countess@acme.example")

    assert moved.json["employee"]["action"] == "updated"
    assert moved.json["employee"]["id"] == first.json["employee"]["id"]
    assert (await read(stored, first.json["employee"]["id"]))["email"] == "countess@acme.example"


async def test_absent_leaves_and_null_or_blank_clears(stored: Service) -> None:
    person = await stored.person(fonction="A", telephone="1", adresse="B", secteur="C")
    await provision(stored)
    left = await read(stored, person)
    await provision(stored, fonction=None, telephone="", adresse="  ", secteur=None)
    cleared = await read(stored, person)

    assert ("A", "1", "B") == (left["fonction"], left["telephone"], left["adresse"])
    assert [None] * 4 == [cleared[name] for name in ("fonction", "telephone", "adresse", "secteur")]


async def test_an_external_id_is_never_cleared_and_active_null_means_absent(stored: Service) -> None:
    person = await stored.person(external_id="RH-1")
    answer = await provision(stored, external_id=None, active=None)

    assert answer.json["employee"]["action"] == "skipped"
    assert (await read(stored, person))["external_id"] == "RH-1"


@pytest.mark.parametrize("number", [1, "1", " 1 "])
async def test_a_sector_is_meant_by_its_number_however_it_is_sent(stored: Service, number: object) -> None:
    await stored.person(secteur="Research")
    answer = await provision(stored, email="grace@acme.example", secteur_id=number)

    assert answer.json["ok"] is True
    assert (await read(stored, answer.json["employee"]["id"]))["secteur"] == {"id": "1", "nom": "Research"}


@pytest.mark.parametrize("number", [99, "99", "abc", -1, 0, "01", 10**17])
async def test_an_unknown_sector_fails_the_record_not_the_request(stored: Service, number: object) -> None:
    answer = await provision(stored, secteur_id=number)

    assert (answer.status, answer.json["ok"]) == (200, False)
    assert {
        "external_id": None,
        "email": "ada@acme.example",
        "action": "failed",
        "error": "unknown_sector",
    } == answer.json["employee"]
    assert {**COUNTS, "failed": 1} == answer.json["summary"]


async def test_an_address_of_another_company_fails_and_tells_no_more(stored: Service) -> None:
    await stored.person(key=stored.globex_key)
    answer = await provision(stored)

    assert answer.json["employee"] == {
        "external_id": None,
        "email": "ada@acme.example",
        "action": "failed",
        "error": "email_conflict_other_tenant",
    }


async def test_active_false_archives_and_active_true_brings_back(stored: Service) -> None:
    person = await stored.person()
    gone = await provision(stored, active=False)
    archived = await read(stored, person)
    back = await provision(stored, active=True)

    assert ["deactivated", "reactivated"] == [answer.json["employee"]["action"] for answer in (gone, back)]
    assert ("archive", None) == (archived["statut"], archived["acces"])
    assert archived["archived_at"] == "2026-03-31T08:00:00Z"


async def test_somebody_unknown_who_leaves_is_skipped_with_a_warning_and_no_id(stored: Service) -> None:
    answer = await provision(stored, active=False)

    assert {
        "external_id": None,
        "email": "ada@acme.example",
        "action": "skipped",
        "warning": "unknown_leaver",
    } == answer.json["employee"]


async def test_a_dry_run_tells_what_would_happen_and_writes_nothing(stored: Service) -> None:
    planned = await provision(stored, secteur="Research", dry_run=True, send_invitation=True)

    assert {
        "external_id": None,
        "email": "ada@acme.example",
        "action": "created",
        "planned": True,
    } == planned.json["employee"]
    assert {"status": "invited"} == planned.json["invitation"]
    assert await stored.people() == 0
    assert [] == stored.mailer.letters


async def test_a_dry_run_of_a_change_names_who_would_change(stored: Service) -> None:
    person = await stored.person()
    planned = await provision(stored, nom="King", dry_run=True)

    assert ("updated", person, True) == tuple(
        planned.json["employee"][name] for name in ("action", "id", "planned")
    )
    assert (await read(stored, person))["nom"] == "Lovelace"


async def test_an_invitation_goes_out_with_the_record(stored: Service) -> None:
    answer = await provision(stored, send_invitation=True)
    (letter,) = stored.mailer.letters

    assert (True, {"status": "invited"}) == (answer.json["ok"], answer.json["invitation"])
    assert letter.email == "ada@acme.example"
    assert letter.password not in answer.body.decode()
    person = await read(stored, answer.json["employee"]["id"])
    assert person["derniere_invitation_at"] == "2026-03-31T08:00:00Z"


async def test_an_invitation_that_is_not_due_is_skipped_and_says_why(stored: Service) -> None:
    await provision(stored, send_invitation=True)
    again = await provision(stored, send_invitation=True)
    sso = await provision(stored, email="grace@sso.example", send_invitation=True)
    leaver = await provision(stored, email="alan@acme.example", active=False, send_invitation=True)

    assert [
        {"status": "skipped", "code": "recently_invited"},
        {"status": "skipped", "code": "sso"},
        {"status": "skipped", "code": "not_found"},
    ] == [answer.json["invitation"] for answer in (again, sso, leaver)]
    assert again.json["ok"] is True


async def test_a_mail_that_fails_makes_the_answer_not_ok_but_keeps_the_person(stored: Service) -> None:
    stored.mailer.refuse("ada@acme.example", permanent=True)
    answer = await provision(stored, send_invitation=True)

    assert (200, False) == (answer.status, answer.json["ok"])
    assert {"status": "failed", "code": "delivery_failed"} == answer.json["invitation"]
    assert answer.json["employee"]["action"] == "created"
    assert await stored.people() == 1


async def test_nobody_is_invited_for_a_record_that_failed(stored: Service) -> None:
    answer = await provision(stored, secteur_id=99, send_invitation=True)

    assert "invitation" not in answer.json
    assert [] == stored.mailer.letters


async def test_a_person_is_archived_by_id_once(stored: Service) -> None:
    person = await stored.person(external_id="RH-1")
    path = f"{EMPLOYEES}/{person}/deactivate"
    first = await stored.post(path)
    second = await stored.post(path, {})

    assert {
        "ok": True,
        "employee": {
            "external_id": "RH-1",
            "email": "ada@acme.example",
            "action": "deactivated",
            "id": person,
        },
        "summary": {**COUNTS, "deactivated": 1},
    } == first.json
    assert ("skipped", {**COUNTS, "skipped": 1}) == (
        second.json["employee"]["action"],
        second.json["summary"],
    )


async def test_texts_are_kept_in_normal_form(stored: Service) -> None:
    person = await stored.person(nom="  Le\u0301vy ", prenom="Zoe\u0308", email="Zoë@ACME.example")
    found = await read(stored, person)

    assert ("Lévy", "Zoë", "Zoë@acme.example") == (found["nom"], found["prenom"], found["email"])
    composed = await provision(stored, nom="Lévy", prenom="Zoë", email="zoë@acme.example")
    assert composed.json["employee"]["id"] == person


@pytest.mark.parametrize(
    "name", ["=cmd()", "+1", "@x", "-1", "ß", "İstanbul", "ſ", 'O\'Brien \\ "x"', "<b>&amp;"]
)
async def test_names_are_kept_as_they_are(stored: Service, name: str) -> None:
    person = await stored.person(nom=name)

    assert (await read(stored, person))["nom"] == name
