"""One campaign and its recipients over HTTP, in JSON and in CSV."""

from __future__ import annotations

import csv
import io

import pytest

from tests.http.service import Answer, Service
from tests.http.test_result_imports import CAMPAIGN, IMPORT, event

pytestmark = pytest.mark.anyio

CSV = [("accept", "text/csv")]


async def imported(service: Service, *events: object, recipients: tuple[object, ...] = ()) -> str:
    """The path of a campaign with these results."""
    body = {"campaign": CAMPAIGN, "destinataires": list(recipients), "evenements": list(events)}
    answer = await service.post(IMPORT, body)
    return f"/api/v1/campaigns/{answer.json['campaign']['id']}"


def rows(answer: Answer) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.body.decode())))


async def test_what_machines_did_is_left_out_unless_asked_for(stored: Service) -> None:
    path = await imported(
        stored,
        event("a", "envoye"),
        event("a", "clique", "2026-03-03T09:00:01Z"),
        event("b", "clique", "2026-03-03T10:00:00Z"),
    )
    without = (await stored.get(path)).json["campaign"]["stats"]
    included = (await stored.get(path, query={"machine": "incluses"})).json["campaign"]["stats"]
    listed = await stored.get(
        "/api/v1/campaigns",
        query={"machine": "incluses", "date_debut": "2026-03-01", "date_fin": "2026-03-31"},
    )

    assert (1, 50.0, 1) == (without["cliques"], without["taux_clic"], without["interactions_machine"])
    assert (2, 100.0, 1) == (included["cliques"], included["taux_clic"], included["interactions_machine"])
    assert [included] == [found["stats"] for found in listed.json["data"]]


async def test_how_fast_it_was_noticed_is_told(stored: Service) -> None:
    path = await imported(
        stored,
        event("a", "envoye", "2026-03-03T08:00:00Z"),
        event("a", "clique", "2026-03-03T08:10:00Z"),
        event("b", "envoye", "2026-03-03T08:00:00Z"),
        event("b", "signale", "2026-03-03T08:30:00.500Z"),
    )

    assert {
        "premier_signalement_at": "2026-03-03T08:30:00.500Z",
        "delai_median_s": 1800.5,
        "taux_epargnes": 50.0,
        "intervalle_epargnes": [9.45, 90.55],
    } == (await stored.get(path)).json["campaign"]["reaction"]


async def test_a_campaign_that_nobody_reported_has_no_reaction(service: Service) -> None:
    path = await imported(service, event("a"))

    assert None is (await service.get(path)).json["campaign"]["reaction"]


async def test_recipients_are_listed_by_address_page_by_page(stored: Service) -> None:
    path = await imported(stored, *(event(who) for who in "cab"))
    page = await stored.get(f"{path}/results", query={"page": 2, "limit": 2})

    assert ["c@acme.example"] == [one["email"] for one in page.json["data"]]
    assert {"page": 2, "limit": 2, "total": 3, "total_pages": 2, "has_more": False} == page.json["pagination"]
    assert page.headers["vary"] == "accept"


async def test_who_was_not_sent_to_is_who_counts_among_the_errors(service: Service) -> None:
    early, late = "2026-03-03T08:00:00Z", "2026-03-03T08:05:00Z"
    path = await imported(
        service,
        *(event("again", "erreur", early), event("again", "envoye", late)),
        *(event("back", "erreur", late), event("back", "envoye", early)),
        event("never", "erreur", early),
        event("opened", "erreur", early),
        event("opened", "ouvert", "2026-03-03T10:00:00Z"),
        event("sent", "envoye", early),
        recipients=({"email": "waiting@acme.example"},),
    )
    told = (await service.get(f"{path}/results")).json["data"]
    stats = (await service.get(path)).json["campaign"]["stats"]

    assert ["envoye", "erreur", "erreur", "envoye", "envoye", "en_attente"] == [
        one["statut_envoi"] for one in told
    ]
    assert (4, 2) == (stats["envoyes"], stats["erreurs"])


async def test_csv_holds_everybody_with_the_same_columns(stored: Service) -> None:
    await stored.person(email="r7@acme.example", secteur="Ventes, Nord")
    path = await imported(stored, *(event(f"r{number}") for number in range(1200)))
    answer = await stored.get(f"{path}/results", headers=CSV)
    page = await stored.get(f"{path}/results", query={"limit": 1})

    found = rows(answer)
    assert (200, "text/csv; charset=utf-8") == (answer.status, answer.headers["content-type"])
    assert sorted(f"r{number}@acme.example" for number in range(1200)) == [row["email"] for row in found]
    assert list(page.json["data"][0]) == list(found[0])
    (tied,) = [row for row in found if row["email"] == "r7@acme.example"]
    assert ("Ventes, Nord", "2026-03-03T09:00:00Z", "") == (
        tied["secteur"],
        tied["clique_at"],
        tied["signale_at"],
    )


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "＝", "＋", "－", "＠", "\ufeff="])
async def test_no_cell_is_a_formula(service: Service, start: str) -> None:
    path = await imported(
        service,
        recipients=({"email": "a@acme.example", "external_id": f"{start}1+1"}, {"email": "=x@acme.example"}),
    )
    first, second = rows(await service.get(f"{path}/results", headers=CSV))

    assert "'=x@acme.example" == first["email"]
    assert f"'{start}1+1" == second["external_id"]
    told = (await service.get(f"{path}/results")).json["data"]
    assert f"{start}1+1" == told[1]["external_id"]


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("text/csv", "text/csv; charset=utf-8"),
        ("text/csv;q=0.1, application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/html", "application/json"),
    ],
)
async def test_csv_is_answered_to_who_prefers_it(service: Service, accept: str, expected: str) -> None:
    path = await imported(service)
    answer = await service.get(f"{path}/results", headers=[("accept", accept)])

    assert (200, expected) == (answer.status, answer.headers["content-type"])


async def test_an_accept_in_several_lines_is_one(service: Service) -> None:
    path = await imported(service)
    answer = await service.get(
        f"{path}/results", headers=[("accept", "application/json;q=0.5"), ("accept", "text/csv")]
    )

    assert "text/csv; charset=utf-8" == answer.headers["content-type"]


async def test_a_page_of_csv_is_refused_rather_than_ignored(service: Service) -> None:
    path = await imported(service)
    answer = await service.get(f"{path}/results", headers=CSV, query={"page": 1})

    assert [("page", "unknown_parameter")] == answer.faults


async def test_the_head_of_a_csv_has_no_body(service: Service) -> None:
    path = await imported(service, event("a"))
    answer = await service.call("HEAD", f"{path}/results", headers=CSV)

    assert (200, b"") == (answer.status, answer.body)


@pytest.mark.parametrize("tail", ["", "/results"])
async def test_another_companys_campaign_answers_as_one_that_is_not_there(stored: Service, tail: str) -> None:
    path = await imported(stored)
    for headers in ([], CSV):
        theirs = await stored.get(path + tail, headers=headers, key=stored.globex_key)
        nobodys = await stored.get(f"/api/v1/campaigns/unknown{tail}", headers=headers, key=stored.globex_key)

        assert theirs.status == 404
        assert nobodys.without_its_own == theirs.without_its_own


@pytest.mark.parametrize("query", [{"machine": "oui"}, {"machin": "incluses"}])
async def test_a_misspelt_option_is_refused(service: Service, query: dict[str, object]) -> None:
    path = await imported(service)

    assert 400 == (await service.get(path, query=query)).status
