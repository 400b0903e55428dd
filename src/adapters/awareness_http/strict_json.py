"""JSON as RFC 8259 means it, and nothing that parsers merely tolerate.

Refused, each with its place: another encoding than UTF-8, a byte order mark, names repeated in one object, `NaN` and
`Infinity`, numbers that fit no 64 bits, nesting without end, and anything after the value. What the value should look
like is `typed_reader`'s business.
"""

from __future__ import annotations

import codecs
import json
import math
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

import attrs

from awareness_core.errors import MAX_FAULTS, Fault, ValidationFailed
from awareness_http.places import item_place, member_place

_MAX_INTEGER_DIGITS: Final = 18
"""Every such number fits 64 bits with its sign."""


@attrs.frozen
class _BadNumber:
    message: str


class _Repeating(dict[str, object]):
    """An object in which names are repeated; it holds the last value of each, like any parser's."""

    repeated: frozenset[str] = frozenset()


def parse_json(body: bytes) -> object:
    """The value that `body` spells. Raises `ValidationFailed` naming every place that is wrong, where there is one."""
    text = _decode(body)
    if not text.strip(" \t\r\n"):
        raise _broken("the body is empty; send a JSON object")
    parser = _Parser()
    try:
        value = parser.decode(text)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise _broken(message) from error
    except RecursionError as error:
        raise _broken("not JSON that can be read: it is nested too deeply") from error
    if parser.found_defect:
        raise ValidationFailed(islice(_defects(value), MAX_FAULTS))
    return value


class _Parser:
    """One run of the standard library's scanner, which notes that there was something it should not accept."""

    def __init__(self) -> None:
        self.found_defect = False
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._integer,
            parse_float=self._float,
            parse_constant=self._constant,
        )

    def decode(self, text: str) -> object:
        """The value, with a marker in the place of each defect."""
        value: object = self._decoder.decode(text)
        return value

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        self.found_defect = True
        repeating = _Repeating(members)
        counts = Counter(name for name, _ in pairs)
        repeating.repeated = frozenset(name for name, count in counts.items() if count > 1)
        return repeating

    def _integer(self, text: str) -> object:
        if len(text.lstrip("-")) <= _MAX_INTEGER_DIGITS:
            return int(text)
        return self._bad_number(f"has more than {_MAX_INTEGER_DIGITS} digits")

    def _float(self, text: str) -> object:
        number = float(text)
        return number if math.isfinite(number) else self._bad_number("is larger than any number that is read")

    def _constant(self, text: str) -> object:
        return self._bad_number(f"{text} is not a JSON number")

    def _bad_number(self, message: str) -> _BadNumber:
        self.found_defect = True
        return _BadNumber(message)


def _decode(body: bytes) -> str:
    if body.startswith(codecs.BOM_UTF8):
        raise _broken("not JSON: it begins with a byte order mark; send UTF-8 without one")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _broken(f"not UTF-8: {error.reason} at byte {error.start}") from error


def _broken(message: str) -> ValidationFailed:
    return ValidationFailed([Fault(field="", code="invalid_json", message=message)])


def _defects(value: object) -> Iterator[Fault]:
    # A stack of our own: the scanner may have gone deeper than a recursion in Python may.
    waiting: list[tuple[_Path | None, object]] = [(None, value)]
    while waiting:
        path, here = waiting.pop()
        match here:
            case _BadNumber():
                yield Fault(field=_spell(path), code="invalid_number", message=here.message)
            case dict():
                if isinstance(here, _Repeating):
                    for name in sorted(here.repeated):
                        place = member_place(_spell(path), name)
                        yield Fault(field=place, code="repeated_field", message="is sent more than once")
                waiting.extend((_Path(path, name), member) for name, member in reversed(here.items()))
            case list():
                waiting.extend((_Path(path, index), here[index]) for index in range(len(here) - 1, -1, -1))


class _Path(NamedTuple):
    """How one got to a value. Spelt only where something is wrong: a body may hold half a million places."""

    parent: _Path | None
    step: str | int


def _spell(path: _Path | None) -> str:
    steps: list[str | int] = []
    while path is not None:
        steps.append(path.step)
        path = path.parent
    place = ""
    for step in reversed(steps):
        place = member_place(place, step) if isinstance(step, str) else item_place(place, step)
    return place
