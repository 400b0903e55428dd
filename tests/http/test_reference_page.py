"""The page that people read is complete: every path, field, parameter, word, code and header that there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from awareness_http.errors import STATUSES
from tests.http.contract import document

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "reference" / "http-api.md").read_text(encoding="utf-8")
SOURCES: Final = [
    *(ROOT / "src" / "adapters" / "awareness_http").rglob("*.py"),
    # What a source or a provider is, only commands say.
    *(
        path
        for path in (ROOT / "src" / "awareness_core").glob("*.py")
        if path.stem not in {"sources", "identity_providers"}
    ),
]
WORDS: Final = set(
    re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL))
)


def operations() -> Iterator[str]:
    for path, methods in document()["paths"].items():
        for method in methods:
            yield f"{method.upper()} {path}"


def names() -> Iterator[str]:
    """Every field, parameter and enumerated word of the description."""
    for schema in document()["components"]["schemas"].values():
        yield from schema.get("properties", {})
        yield from schema.get("enum", ())
    for methods in document()["paths"].values():
        for operation in methods.values():
            yield from (parameter["name"] for parameter in operation.get("parameters", ()))


def fault_codes() -> Iterator[str]:
    """Every code that a fault is made with on the way of a request."""
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        yield from re.findall(r'code="([a-z_]+)"', text)
        yield from re.findall(r'note\([^"\n]+, "([a-z_]+)"', text)


@pytest.mark.parametrize("operation", list(operations()))
def test_every_operation_is_told(operation: str) -> None:
    assert operation in WORDS


@pytest.mark.parametrize("name", sorted(set(names())))
def test_every_field_and_word_is_told(name: str) -> None:
    assert name in WORDS


@pytest.mark.parametrize("kind", STATUSES, ids=lambda kind: kind.__name__)
def test_every_code_is_told_with_its_status(kind: type) -> None:
    rows = [line for line in PAGE.splitlines() if f"`{kind.code}`" in line]  # type: ignore[attr-defined]

    assert any(str(STATUSES[kind]) in row for row in rows)


@pytest.mark.parametrize("code", sorted(set(fault_codes())))
def test_every_code_of_a_fault_is_told(code: str) -> None:
    assert code in WORDS


@pytest.mark.parametrize("name", sorted(document()["components"]["headers"]))
def test_every_header_is_told(name: str) -> None:
    assert name in WORDS


def test_every_metric_is_told() -> None:
    source = (ROOT / "src" / "adapters" / "awareness_http" / "metrics.py").read_text(encoding="utf-8")
    found = set(re.findall(r'"(awareness_http_\w+)"', source))

    assert 3 == len(found)
    assert [] == [name for name in found if not {name, f"{name}_total"} & WORDS]
