"""The description that the application serves is the one that is published, is valid, and names everything there is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import FormatChecker

from awareness_core.api_keys import Scope
from awareness_http.errors import STATUSES
from tests.http.contract import document
from tests.http.service import Service

pytestmark = pytest.mark.anyio


async def test_the_published_description_is_what_is_served(
    service: Service, golden: Callable[[str, str], str]
) -> None:
    served = (await service.get("/openapi.json", key=None)).body.decode() + "\n"

    assert golden("../../docs/reference/openapi.json", served) == served


async def test_every_operation_says_what_its_refusals_are(service: Service) -> None:
    expected = {"400", "401", "429", "500", "503"}
    operations = [operation for path, _, operation in _operations() if path.startswith("/api/")]

    assert len(operations) == 13
    assert [] == [
        operation["operationId"] for operation in operations if not expected <= operation["responses"].keys()
    ]


async def test_every_operation_that_needs_a_scope_names_it_and_can_refuse_for_it() -> None:
    known = {scope.value for scope in Scope}
    for _, _, operation in _operations():
        named = {scope for scope in known if f"`{scope}`" in operation.get("description", "")}

        assert ("403" in operation["responses"]) == (len(named) == 1)


async def test_a_body_takes_no_field_that_is_not_described() -> None:
    for _, _, operation in _operations():
        # What a tool sends is the tool's to change.
        if "requestBody" in operation and operation.get("security") != [{}]:
            reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]

            assert (
                document()["components"]["schemas"][reference.rpartition("/")[2]]["additionalProperties"]
                is False
            )


async def test_every_reference_leads_somewhere() -> None:
    for reference in _references(document()):
        place: object = document()
        for step in reference.removeprefix("#/").split("/"):
            assert isinstance(place, dict)
            place = place[step]

        assert place


async def test_every_format_that_is_named_is_one_that_answers_are_held_to() -> None:
    named = set(re.findall(r'"format": "([^"]+)"', json.dumps(document())))

    assert {"date-time", "email"} == named
    assert named <= FormatChecker().checkers.keys()


async def test_both_ways_to_send_a_key_are_described() -> None:
    schemes = document()["components"]["securitySchemes"].values()

    assert {("http", "bearer"), ("apiKey", "x-api-key")} == {
        (scheme["type"], scheme.get("scheme") or scheme["name"]) for scheme in schemes
    }


async def test_no_schema_tells_the_insides_of_the_code() -> None:
    text = json.dumps(document())

    assert "reference 2" not in text
    assert "decisions/" not in text


async def test_every_status_that_a_refusal_can_have_is_a_client_error_or_ours() -> None:
    assert set(STATUSES.values()) <= {*range(400, 432), 500, 503}


def _operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            if name == "$ref":
                yield member
            else:
                yield from _references(member)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
