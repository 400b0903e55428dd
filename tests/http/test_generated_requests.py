"""Requests that nobody thought of, generated from the published description, against a real server.

What must hold for each: no error of ours, an answer that the description has, and a 4xx for what the description
forbids. That everything it allows is accepted is not asked: no schema can say that a name is not blank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.http.contract import document
from tests.http.granian_process import Served, serving

pytestmark = pytest.mark.slow

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,  # the last: left out where a bad record is no bad request
]


schema = schemathesis.openapi.from_dict(document())
OPERATIONS = [(method, path) for path, methods in document()["paths"].items() for method in methods]


@schemathesis.serializer("application/x-ndjson")
def as_it_is(_context: schemathesis.SerializationContext, value: object) -> bytes:
    """Send a generated text as the body."""
    return str(value).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def served(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(migrated, tmp_path_factory.mktemp("served")) as server:
        yield server


def what_is_described_is_what_happens(method: str, path: str) -> Callable[..., None]:
    """Return a test of one operation."""

    @schema.include(method=method, path=path).parametrize()
    @settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    def answers_as_described(served: Served, case: schemathesis.Case[Any]) -> None:
        response = case.call(
            base_url=f"http://127.0.0.1:{served.port}", headers={"Authorization": f"Bearer {served.key}"}
        )

        # In a sync a bad record fails in its place, within a 200, so that it spoils no other.
        is_sync = path.endswith("/sync")
        case.validate_response(response, checks=CHECKS[:-1] if is_sync else CHECKS)

    test: Callable[..., None] = answers_as_described
    return test


# Each has a name of its own: pytest gives all that schemathesis makes of one function the same id, and where tests are
# shared out to several processes only the first of an id is run.
for _method, _path in OPERATIONS:
    globals()[f"test_{_method}_{_path}"] = what_is_described_is_what_happens(_method, _path)


def test_nothing_of_it_was_an_error_of_ours(served: Served) -> None:
    figures = served.ask("GET", "/metrics", key=None).body.decode()

    assert [path for _, path in OPERATIONS if f'route="{path}"' not in figures] == []
    assert 'status="200"' in figures
    assert 'status="400"' in figures
    assert 'status="5' not in figures
    assert "Traceback" not in served.log.read_text(encoding="utf-8")
