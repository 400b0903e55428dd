"""Reading people and campaigns: pages, filters, figures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from awareness_core.campaigns import Campaign, CampaignState
from awareness_core.employees import EmployeeId
from awareness_core.kpis import Funnel
from awareness_core.use_cases.record_first_login import record_first_login
from tests.contracts.storages import campaign
from tests.http.service import NOW, Service

pytestmark = pytest.mark.anyio

EMPLOYEES = "/api/v1/employees"
CAMPAIGNS = "/api/v1/campaigns"


async def emails(service: Service, **query: object) -> list[str]:
    data = (await service.get(EMPLOYEES, query=query)).json["data"]
    return [person["email"].partition("@")[0] for person in data]


async def staffed(service: Service) -> dict[str, str]:
    """Four people who differ in whatever can be filtered by; returns their ids."""
    people = {}
    for name, fields in {
        "ada": {"external_id": "RH-1", "secteur": "Research"},
        "grace": {"email": "grace@sso.example", "nom": "Hopper", "prenom": "Grace", "secteur": "Sales"},
        "alan": {"email": "alan@acme.example", "nom": "Turing", "prenom": "Alan"},
        "zoe": {"email": "zoe@acme.example", "nom": "Lévy", "prenom": "Zoé", "secteur": "Research"},
    }.items():
        people[name] = await service.person(**fields)
        service.clock.advance(timedelta(minutes=1))
    await record_first_login(service.ports, service.acme.id, EmployeeId(people["alan"]))
    await service.post(f"{EMPLOYEES}/{people['zoe']}/deactivate")
    return people


async def test_people_are_listed_in_the_order_of_creation_a_page_at_a_time(stored: Service) -> None:
    await staffed(stored)
    first = await stored.get(EMPLOYEES, query={"limit": 3})
    second = await stored.get(EMPLOYEES, query={"limit": 3, "page": 2})
    beyond = await stored.get(EMPLOYEES, query={"limit": 3, "page": 3})

    assert {"page": 1, "limit": 3, "total": 4, "total_pages": 2, "has_more": True} == first.json["pagination"]
    assert ["ada", "grace", "alan", "zoe"] == [
        person["email"].partition("@")[0] for person in first.json["data"] + second.json["data"]
    ]
    assert ([], False) == (beyond.json["data"], beyond.json["pagination"]["has_more"])


async def test_an_empty_list_has_no_pages(stored: Service) -> None:
    answer = await stored.get(EMPLOYEES)

    assert {
        "data": [],
        "pagination": {"page": 1, "limit": 50, "total": 0, "total_pages": 0, "has_more": False},
    } == answer.json


async def test_each_filter_narrows(stored: Service) -> None:
    await staffed(stored)
    expected = {
        ("external_id", "RH-1"): ["ada"],
        ("external_id", "rh-1"): [],
        ("email", "ADA@ACME.example"): ["ada"],
        ("statut", "actif"): ["ada", "grace", "alan"],
        ("statut", "archive"): ["zoe"],
        ("acces", "en_attente"): ["ada"],
        ("acces", "connecte"): ["alan"],
        ("acces", "sso"): ["grace"],
        ("secteur_id", "1"): ["ada", "zoe"],
        ("secteur_id", "999"): [],
        ("q", "LÉVY"): ["zoe"],
        ("q", "le\u0301vy"): ["zoe"],
        ("q", "ada love"): ["ada"],
        ("q", "hopper grace"): ["grace"],
        ("q", "acme.example"): ["ada", "alan", "zoe"],
        ("q", "%"): [],
        ("q", "_"): [],
    }
    found = {(name, value): await emails(stored, **{name: value}) for name, value in expected}

    assert expected == found


async def test_filters_together_narrow_further(stored: Service) -> None:
    await staffed(stored)

    assert ["ada"] == await emails(stored, secteur_id="1", statut="actif")
    assert [] == await emails(stored, q="ada", statut="archive")


async def test_a_first_login_is_told(stored: Service) -> None:
    people = await staffed(stored)
    alan = (await stored.get(f"{EMPLOYEES}/{people['alan']}")).json["employee"]

    assert ("connecte", "2026-03-31T08:04:00Z") == (alan["acces"], alan["premiere_connexion_at"])


@pytest.mark.parametrize("name", ["nobody", "01950000-0000-7000-8000-000000000000", "0", "x" * 4000])
async def test_an_id_that_is_nobodys_is_not_found(stored: Service, name: str) -> None:
    read = await stored.get(f"{EMPLOYEES}/{name}")
    ended = await stored.post(f"{EMPLOYEES}/{name}/deactivate")

    assert [(404, "NOT_FOUND")] * 2 == [(answer.status, answer.code) for answer in (read, ended)]


async def test_campaigns_are_listed_with_their_figures_latest_first(stored: Service) -> None:
    funnel = Funnel(total=3, sent=3, opened=2, clicked=1, submitted=1, reported=2, errors=0, machine=4)
    await save(
        stored,
        campaign(1, name="Older", starts_at=NOW - timedelta(days=9), state=CampaignState.RUNNING),
        campaign(
            2,
            name="Facture",
            state=CampaignState.COMPLETED,
            created_at=NOW - timedelta(days=5),
            starts_at=NOW - timedelta(days=2, milliseconds=-123),
            ends_at=NOW - timedelta(days=1),
            funnel=funnel,
        ),
    )
    answer = await stored.get(CAMPAIGNS)
    latest, older = answer.json["data"]

    assert {
        "id": "0002",
        "nom": "Facture",
        "statut": "terminee",
        "created_at": "2026-03-26T08:00:00Z",
        "date_debut": "2026-03-29T08:00:00.123Z",
        "date_fin": "2026-03-30T08:00:00Z",
        "external_id": None,
        "difficulte": None,
        "stats": {
            "total": 3,
            "envoyes": 3,
            "ouverts": 2,
            "cliques": 1,
            "soumis": 1,
            "signales": 2,
            "erreurs": 0,
            "interactions_machine": 4,
            "taux_ouverture": 66.67,
            "taux_clic": 33.33,
            "taux_soumission": 33.33,
            "taux_signalement": 66.67,
            "intervalle_ouverture": [20.77, 93.85],
            "intervalle_clic": [6.15, 79.23],
            "intervalle_soumission": [6.15, 79.23],
            "intervalle_signalement": [20.77, 93.85],
        },
    } == latest
    assert ("Older", "en_cours", None) == (older["nom"], older["statut"], older["date_fin"])
    assert 0.0 == older["stats"]["taux_clic"]


async def test_every_state_has_its_word_and_filters(stored: Service) -> None:
    words = {
        CampaignState.DRAFT: "brouillon",
        CampaignState.SCHEDULED: "planifiee",
        CampaignState.RUNNING: "en_cours",
        CampaignState.PAUSED: "en_pause",
        CampaignState.COMPLETED: "terminee",
        CampaignState.CANCELLED: "annulee",
    }
    await save(stored, *(campaign(number, state=state, created_at=NOW) for number, state in enumerate(words)))
    found = {
        word: (await stored.get(CAMPAIGNS, query={"statut": word})).json["data"] for word in words.values()
    }

    assert set(CampaignState) == words.keys()
    assert {word: [word] for word in words.values()} == {
        word: [item["statut"] for item in items] for word, items in found.items()
    }


async def test_both_ends_of_the_period_are_included_and_a_date_means_the_whole_day(stored: Service) -> None:
    day = datetime(2026, 3, 10, tzinfo=UTC)
    moments = [
        day - timedelta(milliseconds=1),
        day,
        day + timedelta(days=1, milliseconds=-1),
        day + timedelta(days=1),
    ]
    await save(stored, *(campaign(number, starts_at=moment) for number, moment in enumerate(moments)))
    whole_day = await ids(stored, date_debut="2026-03-10", date_fin="2026-03-10")
    exact = await ids(stored, date_debut="2026-03-10T01:00:00+01:00", date_fin="2026-03-10T23:59:59.999Z")

    assert ["0002", "0001"] == whole_day == exact


async def test_the_period_is_the_last_30_days_by_default_and_a_draft_stands_under_its_creation(
    stored: Service,
) -> None:
    days = timedelta(days=30)
    await save(
        stored,
        campaign(1, starts_at=NOW - days),
        campaign(2, starts_at=NOW - days - timedelta(milliseconds=1)),
        campaign(3, starts_at=NOW),
        campaign(4, starts_at=NOW + timedelta(milliseconds=1)),
        campaign(5, created_at=NOW - timedelta(days=1)),
    )

    assert ["0003", "0005", "0001"] == await ids(stored)
    (draft,) = (await stored.get(CAMPAIGNS, query={"limit": 1, "page": 2})).json["data"]
    assert (None, "2026-03-30T08:00:00Z") == (draft["date_debut"], draft["created_at"])


async def test_an_empty_campaign_has_rates_of_nothing_and_says_that_nothing_is_known(stored: Service) -> None:
    await save(stored, campaign(1, created_at=NOW))
    (empty,) = (await stored.get(CAMPAIGNS)).json["data"]

    assert (0, 0.0, [0.0, 100.0]) == tuple(
        empty["stats"][name] for name in ("total", "taux_clic", "intervalle_clic")
    )


async def save(service: Service, *campaigns: Campaign) -> None:
    async with service.ports.store.transaction(service.acme.id) as transaction:
        await transaction.save_campaigns(campaigns)


async def ids(service: Service, **query: object) -> list[str]:
    return [item["id"] for item in (await service.get(CAMPAIGNS, query=query)).json["data"]]
