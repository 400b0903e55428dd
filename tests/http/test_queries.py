"""Queries are read as strictly as bodies: no parameter unknown, none twice, each of its type, all faults at once."""

from __future__ import annotations

import pytest

from tests.http.service import Service

pytestmark = pytest.mark.anyio

EMPLOYEES = "/api/v1/employees"
CAMPAIGNS = "/api/v1/campaigns"


@pytest.mark.parametrize("path", [EMPLOYEES, CAMPAIGNS])
@pytest.mark.parametrize(
    ("query", "fault"),
    [
        (b"page=0", ("page", "out_of_range")),
        (b"page=-1", ("page", "out_of_range")),
        (b"page=100000000000000000000000", ("page", "out_of_range")),
        (b"page=" + b"9" * 5000, ("page", "out_of_range")),
        (b"page=1000000001", ("page", "out_of_range")),
        (b"page=", ("page", "wrong_type")),
        (b"page", ("page", "wrong_type")),
        (b"page=1.0", ("page", "wrong_type")),
        (b"page=1e2", ("page", "wrong_type")),
        (b"page=+1", ("page", "wrong_type")),
        (b"page=%2B1", ("page", "wrong_type")),
        (b"page=01", ("page", "wrong_type")),
        (b"page=1_000", ("page", "wrong_type")),
        (b"page=0x1", ("page", "wrong_type")),
        (b"page=%D9%A1", ("page", "wrong_type")),
        (b"page=true", ("page", "wrong_type")),
        (b"page=1%00", ("page", "wrong_type")),
        (b"page=1%0A", ("page", "wrong_type")),
        (b"limit=0", ("limit", "out_of_range")),
        (b"limit=101", ("limit", "out_of_range")),
        (b"limit=-5", ("limit", "out_of_range")),
        (b"page=1&page=1", ("page", "repeated_parameter")),
        (b"page=1&page=2&page=3&page=4", ("page", "repeated_parameter")),
        (b"page=1&p%61ge=2", ("page", "repeated_parameter")),
        (b"Page=1", ("Page", "unknown_parameter")),
        (b"page[]=1", ("page[]", "unknown_parameter")),
        (b"offset=1", ("offset", "unknown_parameter")),
        (b"=1", ("", "unknown_parameter")),
        (b"page%00=1", ("page\\u0000", "unknown_parameter")),
        (b"statut=supprime", ("statut", "unknown_value")),
        (b"statut=", ("statut", "unknown_value")),
        (b"statut=%00", ("statut", "unknown_value")),
        (b"statut=active", ("statut", "unknown_value")),
        (b"page=%ZZ", ("page", "invalid_encoding")),
        (b"page=%", ("page", "invalid_encoding")),
        (b"page=%FF", ("page", "invalid_encoding")),
        (b"%FF=1", ("%FF", "invalid_encoding")),
        (b"page=%ED%A0%80", ("page", "invalid_encoding")),
        (b"\xff=1", ("\\xff", "invalid_encoding")),
    ],
)
async def test_a_wrong_parameter_is_refused_by_name(
    service: Service, path: str, query: bytes, fault: tuple[str, str]
) -> None:
    answer = await service.get(path, query=query)

    assert answer.status == 400
    assert {fault} == set(answer.faults)


async def test_every_fault_of_a_query_is_told_at_once(service: Service) -> None:
    answer = await service.get(EMPLOYEES, query=b"page=0&limit=x&statut=y&secteur_id=z&email=a&foo=1&q=%00")

    assert {
        ("page", "out_of_range"),
        ("limit", "wrong_type"),
        ("statut", "unknown_value"),
        ("secteur_id", "wrong_type"),
        ("email", "invalid_email"),
        ("foo", "unknown_parameter"),
        ("q", "control_character"),
    } == set(answer.faults)


async def test_an_unknown_value_is_answered_with_the_known_ones(service: Service) -> None:
    answer = await service.get(CAMPAIGNS, query={"statut": "x"})

    assert "brouillon, planifiee, en_cours, en_pause, terminee, annulee" in answer.json["message"]


@pytest.mark.parametrize("path", ["/api/v1/ping", "/api/v1/employees/x"])
async def test_a_path_without_parameters_takes_none(service: Service, path: str) -> None:
    answer = await service.get(path, query={"page": 1})

    assert (answer.status, answer.faults) == (400, [("page", "unknown_parameter")])


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/metrics", "/docs", "/openapi.json"])
async def test_beside_the_api_a_query_is_left_alone(service: Service, path: str) -> None:
    """Probes and scrapers add parameters of their own, and nothing there could be meant by one."""
    assert (await service.get(path, query=b"page=1&page=%ZZ")).status == 200


async def test_a_post_takes_no_parameters_either(service: Service) -> None:
    answer = await service.post(EMPLOYEES, {}, query={"dry_run": "true"})

    assert (answer.status, answer.faults) == (400, [("dry_run", "unknown_parameter")])


async def test_empty_parts_of_a_query_mean_nothing(service: Service) -> None:
    assert (await service.get(EMPLOYEES, query=b"&&page=1&")).status == 200


async def test_more_parameters_than_anybody_needs_are_refused(service: Service) -> None:
    answer = await service.get(EMPLOYEES, query=b"&".join(b"a%d=1" % number for number in range(500)))

    assert (answer.status, answer.faults[0]) == (400, ("", "too_many"))
    assert len(answer.faults) == 100


@pytest.mark.parametrize("name", ["q", "email", "external_id", "secteur_id"])
@pytest.mark.parametrize("value", ["", "   "])
async def test_a_filter_for_nothing_is_refused_not_dropped(service: Service, name: str, value: str) -> None:
    answer = await service.get(EMPLOYEES, query={name: value})

    assert (answer.status, answer.faults) == (400, [(name, "too_short")])


@pytest.mark.parametrize("value", ["12a", "-1", "1.0", "١٢", "9" * 19, "0x1"])
async def test_a_sector_is_sought_by_its_number(service: Service, value: str) -> None:
    answer = await service.get(EMPLOYEES, query={"secteur_id": value})

    assert (answer.status, answer.faults) == (400, [("secteur_id", "wrong_type")])


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-31T08:00:00",
        "2026-03-31 08:00:00",
        "2026-02-30",
        "2026-13-01",
        "2026-00-10",
        "0000-01-01",
        "10000-01-01",
        "2026-03-31T25:00:00Z",
        "2026-03-31T08:60:00Z",
        "2026-03-31T08:00:00+25:00",
        "2026-03-31T08:00Z",
        "20260331",
        "2026-W14",
        "2026-090",
        "31/03/2026",
        "yesterday",
        "1774944000",
        "٢٠٢٦-٠٣-٣١",
        "9999-12-31T23:59:59-01:00",
        "0001-01-01T00:00:00+01:00",
        "",
        "x" * 41,
    ],
)
@pytest.mark.parametrize("name", ["date_debut", "date_fin"])
async def test_a_moment_is_a_date_or_a_time_with_its_offset(service: Service, name: str, value: str) -> None:
    answer = await service.get(CAMPAIGNS, query={name: value})

    assert answer.status == 400
    assert {name} == {field for field, _ in answer.faults}


@pytest.mark.parametrize(
    "value",
    ["2026-03-31", "2026-03-31T08:00:00Z", "2026-03-31T08:00:00.123456+02:00", "2026-03-31t08:00:00z"],
)
async def test_moments_may_be_written_in_several_ways(service: Service, value: str) -> None:
    assert (await service.get(CAMPAIGNS, query={"date_debut": value})).status == 200


async def test_an_offset_whose_plus_was_not_escaped_is_explained(service: Service) -> None:
    answer = await service.get(CAMPAIGNS, query=b"date_debut=2026-03-31T08:00:00+02:00")

    assert answer.status == 400
    assert "%2B" in answer.json["message"]


@pytest.mark.parametrize(
    "query",
    [
        {"date_debut": "9999-12-31", "date_fin": "9999-12-31"},
        {"date_debut": "0001-01-01", "date_fin": "0001-01-01"},
        {"date_debut": "0001-01-01", "date_fin": "9999-12-31T23:59:59.999Z"},
        {"date_fin": "9999-12-31", "page": "1000000000", "limit": "100"},
    ],
)
async def test_the_ends_of_the_calendar_are_dates_like_others(stored: Service, query: dict[str, str]) -> None:
    answer = await stored.get(CAMPAIGNS, query=query)

    assert (answer.status, answer.json["data"]) == (200, [])


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"date_debut": "2026-03-02", "date_fin": "2026-03-01"}, "date_fin"),
        ({"date_debut": "2026-04-01"}, "date_debut"),
        ({"date_fin": "2026-01-01"}, "date_fin"),
    ],
)
async def test_a_reversed_period_is_refused_by_the_parameter_that_was_sent(
    service: Service, query: dict[str, str], named: str
) -> None:
    answer = await service.get(CAMPAIGNS, query=query)

    assert (answer.status, answer.faults) == (400, [(named, "reversed_period")])
