"""The OpenAPI document as a judge: every answer of every test has to be one that it describes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"

QUOTA_HEADERS: Final = ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit-policy")


@cache
def document() -> dict[str, Any]:
    """Return the snapshot, which `test_openapi` compares with what the application serves."""
    described: dict[str, Any] = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    return described


def check_answer(method: str, path: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Assert that the document allows this answer, and that nothing is missing which every answer carries."""
    assert set(QUOTA_HEADERS) <= headers.keys()
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,128}", headers["x-request-id"])
    assert headers["x-content-type-options"] == "nosniff"
    limit, window = headers["ratelimit-policy"].split(";w=")
    assert limit == headers["ratelimit-limit"]
    assert 0 <= int(headers["ratelimit-remaining"]) <= int(limit)
    assert 0 <= int(headers["ratelimit-reset"]) <= int(window)
    if status >= 400:
        _check_refusal(status, headers, body)
    if method in {"HEAD", "OPTIONS"} or not body or headers["content-type"] != "application/json":
        return
    described = _described_answer(method, path, status)
    if described is not None:
        _validate(json.loads(body), described["content"]["application/json"]["schema"])
        assert {name.lower() for name in described["headers"] if _is_on_each(name)} <= headers.keys()


def _check_refusal(status: int, headers: Mapping[str, str], body: bytes) -> None:
    assert headers["content-type"] == "application/json"
    if body:
        _validate(json.loads(body), {"$ref": "#/components/schemas/ErrorResponse"})
        code = json.loads(body)["code"]
        assert (code == "VALIDATION_ERROR") == ("details" in json.loads(body))
    assert (status == 401) == (headers.get("www-authenticate") in {"Bearer", "HMAC"})
    assert (status == 405) == ("allow" in headers)
    # Of conflicts, only that with oneself is over at a time that is known.
    assert status == 409 or (status in {429, 503}) == ("retry-after" in headers)


def _described_answer(method: str, path: str, status: int) -> dict[str, Any] | None:
    """Return what the document says of that answer; None for paths and methods that it does not know."""
    for template, operations in document()["paths"].items():
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(template))
        if re.fullmatch(pattern, path) and method.isupper() and method.lower() in operations:
            answers = operations[method.lower()]["responses"]
            # Any request at all can be too large in its head.
            if status in {414, 431}:
                return None
            assert str(status) in answers, f"{method} {path} is not said to answer {status}"
            found: dict[str, Any] = answers[str(status)]
            reference = found.get("$ref", "").rpartition("/")[2]
            return document()["components"]["responses"][reference] if reference else found
    return None


def _is_on_each(header: str) -> bool:
    is_required: bool = document()["components"]["headers"][header]["required"]
    return is_required


def _validate(value: object, schema: Mapping[str, Any]) -> None:
    _validator(json.dumps(schema)).validate(value)


@cache
def _validator(schema: str) -> Draft202012Validator:
    whole = {**json.loads(schema), "components": document()["components"]}
    return Draft202012Validator(whole, format_checker=FormatChecker())
