"""Query strings, read as strictly as bodies: every parameter known, none twice, each a value of its type.

A misspelt filter that is silently dropped shows a caller all of their people where they asked for one (Choice:
decisions/004). What a value means is the wire's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, TypeVar
from urllib.parse import unquote_to_bytes

import attrs

from awareness_core.errors import Fault, ValidationFailed
from awareness_http.places import echo
from awareness_http.typed_reader import Taken, fields_with, take

Shape = TypeVar("Shape")

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_STRAY_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_MAX_PARAMETERS: Final = 100
_BOOLEANS: Final = {"true": True, "false": False}


def read_query(shape: type[Shape], query: bytes) -> Shape:
    """An instance of the attrs class `shape`. Raises `ValidationFailed` with every fault."""
    taken = take_query(shape, query)
    if taken.faults:
        raise ValidationFailed(taken.faults)
    return shape(**taken.fields)


def take_query(shape: type, query: bytes) -> Taken:
    """The parameters that an instance of `shape` needs. Never raises."""
    if not query:
        return _nothing_sent(shape)
    names = [field.name for field in attrs.fields(shape)]
    sent: dict[str, object] = {}
    faults: list[Fault] = []
    for name, text in _pairs(query, faults):
        if name not in names:
            known = ", ".join(names) if names else "none"
            message = f"is not a parameter here; there are {known}"
            faults.append(Fault(field=echo(name), code="unknown_parameter", message=message))
        elif name in sent:
            faults.append(Fault(field=name, code="repeated_parameter", message="is sent more than once"))
        else:
            sent[name] = _typed(shape, name, text, faults)
    failed = {fault.field for fault in faults}
    taken = take(shape, {name: value for name, value in sent.items() if name not in failed})
    return Taken(fields=taken.fields, faults=[*faults, *taken.faults])


@cache
def _nothing_sent(shape: type) -> Taken:
    return take(shape, {})


def _pairs(query: bytes, faults: list[Fault]) -> Iterator[tuple[str, str]]:
    parts = [part for part in query.split(b"&") if part]
    if len(parts) > _MAX_PARAMETERS:
        faults.append(Fault(field="", code="too_many", message=f"more than {_MAX_PARAMETERS} parameters"))
    for part in parts[:_MAX_PARAMETERS]:
        name, _, value = part.partition(b"=")
        decoded_name, decoded_value = _decode(name), _decode(value)
        if decoded_name is None or decoded_value is None:
            place = echo(name.decode("ascii", "backslashreplace"))
            message = "is not percent-encoded UTF-8"
            faults.append(Fault(field=place, code="invalid_encoding", message=message))
        else:
            yield decoded_name, decoded_value


def _decode(part: bytes) -> str | None:
    if _STRAY_PERCENT.search(part):
        return None
    try:
        return unquote_to_bytes(part.replace(b"+", b" ")).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _typed(shape: type, name: str, text: str, faults: list[Fault]) -> object:
    if name in _booleans_of(shape):
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        message = f"must be true or false, not '{echo(text)}'"
        faults.append(Fault(field=name, code="wrong_type", message=message))
        return None
    if name not in _integers_of(shape):
        return text
    if _INTEGER.fullmatch(text) is None:
        faults.append(Fault(field=name, code="wrong_type", message=f"must be an integer, not '{echo(text)}'"))
        return None
    # Any number of 18 digits is beyond every limit there is; `int` refuses thousands of them.
    return int(text[:19])


@cache
def _integers_of(shape: type) -> frozenset[str]:
    return fields_with(shape, int)


@cache
def _booleans_of(shape: type) -> frozenset[str]:
    return fields_with(shape, bool)
