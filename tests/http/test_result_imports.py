"""Results of a campaign over HTTP, as JSON and line by line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.results_check import RefusedLine
from awareness_http import result_lines
from awareness_http.strict_json import parse_json
from awareness_http.typed_reader import take
from awareness_http.wire.result_imports import Evenement
from tests.http.service import Answer, Service

pytestmark = pytest.mark.anyio

IMPORT = "/api/v1/campaigns/import"
NDJSON = "application/x-ndjson"
CAMPAIGN = {
    "external_id": "spring",
    "nom": "Spring",
    "statut": "en_cours",
    "date_debut": "2026-03-03T08:00:00Z",
}


def event(
    who: str, kind: str = "clique", at: str = "2026-03-03T09:00:00Z", **fields: object
) -> dict[str, Any]:
    return {"email": f"{who}@acme.example", "type": kind, "survenu_at": at, **fields}


def lines(*told: object, count: int | None = None) -> bytes:
    end = {"end": {"count": len(told) if count is None else count}}
    return "\n".join(map(json.dumps, [*told, end])).encode()


async def as_json(service: Service, events: Sequence[object] = (), **body: object) -> Answer:
    return await service.post(IMPORT, {"campaign": CAMPAIGN, "evenements": list(events), **body})


async def as_lines(service: Service, body: bytes) -> Answer:
    return await service.call("POST", IMPORT, body=body, content_type=NDJSON)


async def test_results_are_taken_in_and_sent_again_change_nothing(stored: Service) -> None:
    body = [event("a"), event("b", "signale", id="x"), event("b", "signale", id="x")]
    first = await as_json(stored, body, destinataires=[{"email": "c@acme.example", "external_id": "E1"}])
    again = await as_lines(
        stored,
        lines({"campaign": CAMPAIGN}, *({"evenement": one} for one in reversed(body))),
    )

    assert first.json["summary"] == {
        "destinataires": 1,
        "evenements": 3,
        "nouveaux": 2,
        "deja_connus": 1,
        "failed": 0,
        "effaces": 0,
    }
    assert (again.json["ok"], again.json["summary"]["nouveaux"], again.json["summary"]["deja_connus"]) == (
        True,
        0,
        3,
    )
    assert first.json["campaign"] == again.json["campaign"]
    stats = first.json["campaign"]["stats"]
    assert (3, 2, 1, 1) == (stats["total"], stats["envoyes"], stats["cliques"], stats["signales"])


async def test_a_campaign_that_ends_on_a_day_ends_with_it(service: Service) -> None:
    campaign = {**CAMPAIGN, "date_debut": "2026-03-03", "date_fin": "2026-03-03"}
    answer = await as_json(service, [event("a")], campaign=campaign)

    assert "2026-03-03T23:59:59.999Z" == answer.json["campaign"]["date_fin"]
    assert 1 == answer.json["campaign"]["stats"]["cliques"]


@pytest.mark.parametrize("none", [None, "", " "])
async def test_an_end_is_taken_back_and_what_came_after_it_counts_again(
    stored: Service, none: str | None
) -> None:
    ended = {**CAMPAIGN, "date_fin": "2026-03-03T08:30:00Z", "difficulte": "facile"}
    late = await as_json(stored, [event("a")], campaign=ended)
    kept = await as_json(stored)
    cleared = await as_json(
        stored, campaign={**CAMPAIGN, "date_debut": none, "date_fin": none, "created_at": none}
    )

    assert [0, 0, 1] == [one.json["campaign"]["stats"]["cliques"] for one in (late, kept, cleared)]
    assert late.json["campaign"] == kept.json["campaign"]
    assert (None, None) == (cleared.json["campaign"]["date_debut"], cleared.json["campaign"]["date_fin"])
    assert late.json["campaign"]["created_at"] == cleared.json["campaign"]["created_at"]
    assert "facile" == cleared.json["campaign"]["difficulte"]


async def test_a_difficulty_is_taken_back(service: Service) -> None:
    await as_json(service, campaign={**CAMPAIGN, "difficulte": "facile"})
    cleared = await as_lines(service, lines({"campaign": {**CAMPAIGN, "difficulte": None}}))

    assert None is cleared.json["campaign"]["difficulte"]


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "2100-01-01T00:00:00Z"])
async def test_a_time_that_only_stands_for_none_is_no_event(service: Service, at: str) -> None:
    answer = await as_json(service, [event("a", at=at), event("b")])

    (error,) = answer.json["errors"]
    assert ("evenements[0].survenu_at", "out_of_range") == (error["field"], error["code"])
    assert 1 == answer.json["campaign"]["stats"]["total"]


async def test_bad_items_are_told_by_their_place_and_spoil_no_other(service: Service) -> None:
    answer = await as_json(
        service,
        [event("a"), event("a", "nope"), event("b", at="2026-03-03"), 3, event("c", ip="x", methode="1")],
        destinataires=[{"email": "no address"}, {"email": "d@acme.example", "x": 1}],
    )

    assert answer.json["ok"] is False
    assert answer.json["summary"]["failed"] == 6
    assert [
        (0, "destinataires[0].email", "invalid_email"),
        (1, "destinataires[1].x", "unknown_field"),
        (1, "evenements[1].type", "unknown_value"),
        (2, "evenements[2].survenu_at", "invalid_moment"),
        (3, "evenements[3]", "wrong_type"),
        (4, "evenements[4].ip", "invalid_address"),
        (4, "evenements[4].methode", "invalid_method"),
    ] == [(error["index"], error["field"], error["code"]) for error in answer.json["errors"]]


async def test_text_that_is_no_text_fails_in_its_place(service: Service) -> None:
    events = [event("a"), event("b", id="\ud800")]
    told = await as_json(service, events)
    by_line = await as_lines(service, lines({"campaign": CAMPAIGN}, *({"evenement": one} for one in events)))

    assert ["evenements[1].id"] == [error["field"] for error in told.json["errors"]]
    assert ["[2].evenement.id"] == [error["field"] for error in by_line.json["errors"]]


async def test_bad_lines_are_told_by_their_number(service: Service) -> None:
    body = lines(
        {"campaign": CAMPAIGN},
        {"evenement": event("a")},
        {"evenement": event("a"), "destinataire": {"email": "b@acme.example"}},
        {"destinataire": {"email": ""}},
        {"campaign": CAMPAIGN},
    )
    answer = await as_lines(service, body.replace(b'"end": {', b'"end": {', 1))

    assert [(2, "[2]"), (3, "[3].destinataire.email"), (4, "[4]")] == [
        (error["index"], error["field"]) for error in answer.json["errors"]
    ]
    assert answer.json["summary"]["nouveaux"] == 1


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        (b"", "", "invalid_json"),
        (b"[]", "", "wrong_type"),
        (b"{}", "campaign", "missing"),
        (b'{"campaign": null}', "campaign", "wrong_type"),
        (b'{"campaign": {}, "evenements": {}}', "evenements", "wrong_type"),
        (b'{"evenements": [], "evenements": []}', "evenements", "repeated_field"),
        (b'\xef\xbb\xbf{"campaign": {}}', "", "invalid_json"),
        (b"[" * 100_000, "", "invalid_json"),
        (
            b'{"campaign": {"external_id": "x", "nom": "n", "statut": "finie"}}',
            "campaign.statut",
            "unknown_value",
        ),
        (
            b'{"campaign": {"external_id": " ", "nom": "n", "statut": "en_cours"}}',
            "campaign.external_id",
            "too_short",
        ),
        (
            b'{"campaign": {"external_id": "x", "nom": "n", "statut": "en_cours", "date_fin": "demain"}}',
            "campaign.date_fin",
            "invalid_moment",
        ),
        (
            json.dumps({"campaign": {**CAMPAIGN, "date_fin": "2026-03-03T07:59:59Z"}}).encode(),
            "campaign",
            "reversed_period",
        ),
    ],
)
async def test_a_broken_envelope_is_refused_whole(
    service: Service, body: bytes, field: str, code: str
) -> None:
    answer = await service.call("POST", IMPORT, body=body, content_type="application/json")

    assert answer.status == 400
    assert (field, code) in answer.faults
    assert (await service.get("/api/v1/campaigns")).json["data"] == []


async def test_all_faults_of_an_envelope_are_told_at_once(service: Service) -> None:
    answer = await service.post(IMPORT, {"campaign": {"nom": "n", "statut": 1}, "x": 1})

    assert {
        ("campaign.external_id", "missing"),
        ("campaign.statut", "wrong_type"),
        ("x", "unknown_field"),
    } == set(answer.faults)


@pytest.mark.parametrize(
    "body",
    [
        lines({"campaign": CAMPAIGN}, {"evenement": event("a")}, count=3),
        lines({"campaign": CAMPAIGN}, {"evenement": event("a")})[:-30],
        lines({"evenement": event("a")}, {"campaign": CAMPAIGN}),
        lines(),
    ],
)
async def test_lines_that_broke_off_or_begin_otherwise_write_nothing(service: Service, body: bytes) -> None:
    answer = await as_lines(service, body)

    assert (400, "VALIDATION_ERROR") == (answer.status, answer.code)
    assert (await service.get("/api/v1/campaigns")).json["data"] == []


async def test_too_many_items_of_one_body_are_refused(service: Service) -> None:
    body = b'{"campaign": %s, "evenements": [%s]}' % (json.dumps(CAMPAIGN).encode(), b"1," * 100_000 + b"1")
    answer = await service.call("POST", IMPORT, body=body, content_type="application/json")

    assert [("evenements", "too_many")] == answer.faults


async def test_a_campaign_of_another_company_with_the_same_name_is_left_alone(stored: Service) -> None:
    ours = await as_json(stored, [event("a")])
    theirs = await stored.post(IMPORT, {"campaign": CAMPAIGN}, key=stored.globex_key)

    assert ours.json["campaign"]["id"] != theirs.json["campaign"]["id"]
    assert theirs.json["campaign"]["stats"]["total"] == 0


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.text(max_size=5),
    st.sampled_from(["a@acme.example", "clique", "2026-03-03T08:00:00Z", "192.0.2.1", "GET", "é" * 1001]),
)
names = st.sampled_from(["email", "type", "survenu_at", "id", "ip", "user_agent", "methode", "x"])


@given(
    told=st.fixed_dictionaries(
        {"email": values, "type": values, "survenu_at": values}, optional={"id": values, "ip": values}
    )
    | st.dictionaries(names, values),
    is_ascii=st.booleans(),
)
def test_the_quick_reader_accepts_what_the_strict_one_does_and_reads_it_alike(
    told: dict[str, object], *, is_ascii: bool
) -> None:
    spelling = json.dumps(told, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    quick = result_lines._read_item("evenement", spelling)  # noqa: SLF001 (the seam between the two readers)
    try:
        strict = result_lines._read("evenement", take(Evenement, parse_json(spelling)))  # noqa: SLF001
    except Exception:  # noqa: BLE001 (only whether it is refused)
        strict = RefusedLine(faults=())

    assert isinstance(strict, RefusedLine) == isinstance(quick, RefusedLine)
    if not isinstance(strict, RefusedLine):
        assert strict == quick
