"""Reading as a property: what JSON can say is read as it is, what is not JSON is refused, and nothing else happens."""

from __future__ import annotations

import contextlib
import json
from typing import Annotated, Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, UnsetType

from awareness_core.errors import ValidationFailed
from awareness_http.places import echo
from awareness_http.queries import take_query
from awareness_http.strict_json import parse_json
from awareness_http.typed_reader import read, take
from awareness_http.wire.people import EmployeeFilters
from awareness_http.wire.provisioning import EmployeeBody

texts = st.text(st.characters(codec="utf-8"), max_size=20)
numbers = st.integers(-(10**18) + 1, 10**18 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)


@given(values)
def test_every_json_value_is_read_as_it_is(value: object) -> None:
    assert value == parse_json(json.dumps(value).encode())


@given(values, values)
def test_a_repeated_name_is_refused_wherever_it_stands(outer: object, inner: object) -> None:
    twice = f'{{"a": {json.dumps(inner)}, "a": {json.dumps(inner)}}}'
    body = f'{{"x": [{json.dumps(outer)}, {{"y": {twice}}}]}}'
    with pytest.raises(ValidationFailed) as refusal:
        parse_json(body.encode())

    assert ["x[1].y.a"] == [fault.field for fault in refusal.value.faults]


@given(st.binary(max_size=60))
@example(b"\xef\xbb\xbf{}")
@example(b"-" * 60)
@example(b"1" * 60)
@example(b'{"a": 1e999}')
def test_whatever_bytes_come_there_is_a_value_or_a_refusal(body: bytes) -> None:
    with contextlib.suppress(ValidationFailed):
        value = parse_json(body)

        assert value == json.loads(body)


@given(values)
def test_whatever_value_comes_a_body_is_taken_or_its_faults_are_named(value: object) -> None:
    taken = take(EmployeeBody, value)

    assert all(len(fault.field) <= 300 and fault.message and fault.code for fault in taken.faults)
    assert taken.fields.keys() <= {field.name for field in attrs.fields(EmployeeBody)}
    json.dumps([fault.field for fault in taken.faults]).encode()


@given(st.dictionaries(st.sampled_from([field.name for field in attrs.fields(EmployeeBody)]), values))
def test_a_field_is_either_taken_or_at_fault_never_neither(value: dict[str, Any]) -> None:
    taken = take(EmployeeBody, value)
    at_fault = {fault.field.partition(".")[0].partition("[")[0] for fault in taken.faults}

    assert value.keys() <= taken.fields.keys() | at_fault
    assert {"email", "nom", "prenom"} <= taken.fields.keys() | at_fault
    assert set() == taken.fields.keys() & at_fault


@given(st.binary(max_size=80))
def test_whatever_query_comes_it_is_taken_or_its_faults_are_named(query: bytes) -> None:
    taken = take_query(EmployeeFilters, query)

    assert all(fault.field.isprintable() and fault.message for fault in taken.faults)
    if query.strip(b"&"):
        assert taken.fields or taken.faults


@given(st.text(max_size=100))
def test_what_is_echoed_is_short_and_printable_and_utf8(text: str) -> None:
    shown = echo(text)

    assert shown.isprintable()
    assert len(shown) <= 60 * len("\\u10ffff")
    assert shown == shown.encode().decode()


@attrs.frozen(kw_only=True)
class _Shape:
    number: Annotated[int, Meta(ge=1, le=10)] = 1
    texts: list[Annotated[str, Meta(max_length=3)]] | UnsetType = UNSET
    either: Annotated[str, Meta(max_length=2)] | int | UnsetType | None = UNSET


@pytest.mark.parametrize(
    ("value", "faults"),
    [
        ({}, []),
        ({"number": 10, "texts": ["abc"], "either": None}, []),
        ({"number": 0}, [("number", "out_of_range")]),
        ({"number": 11}, [("number", "out_of_range")]),
        ({"number": True}, [("number", "wrong_type")]),
        ({"number": None}, [("number", "wrong_type")]),
        ({"texts": ["abc", "abcd", 1]}, [("texts[1]", "too_long"), ("texts[2]", "wrong_type")]),
        ({"either": "abc"}, [("either", "too_long")]),
        ({"either": 10**9}, []),
        ({"either": 1.0}, [("either", "wrong_type")]),
        ({"Number": 1}, [("Number", "unknown_field")]),
    ],
)
def test_a_shape_is_read_by_its_annotations(value: object, faults: list[tuple[str, str]]) -> None:
    assert faults == [(fault.field, fault.code) for fault in take(_Shape, value).faults]


def test_absent_fields_have_the_defaults_of_the_shape() -> None:
    assert _Shape() == read(_Shape, {})


def test_a_shape_that_json_cannot_hold_is_a_mistake_of_ours() -> None:
    @attrs.frozen
    class Odd:
        when: complex

    with pytest.raises(TypeError, match="complex"):
        take(Odd, {})
