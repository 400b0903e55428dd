"""Reading JSON and NDJSON strictly: what a lenient reader would silently repair becomes a problem of its row.

A repeated key, NaN, a number that no computer holds: each is marked where it stands, and the other rows are read.
Knows no field; keys are columns like any others.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator

import attrs

from awareness_core.absent import ABSENT
from awareness_server.roster_table import RosterRow, RosterTable, RosterUnusable, Unreadable

ENVELOPE = "employees"
"""The key under which an object may hold the array of people."""

_MAX_DIGITS = 20


@attrs.frozen
class _RepeatedKey:
    key: str
    value: dict[str, object]


@attrs.frozen
class _Broken:
    why: str


def looks_like_json(text: str) -> bool:
    """Whether it begins as JSON or NDJSON does; no header of a CSV begins so."""
    return text.lstrip()[:1] in {"[", "{"}


def read_json(text: str) -> tuple[RosterTable, tuple[str, ...]]:
    """The table of an array of objects, bare or under "employees"; and the envelope's other keys.

    Rows are numbered by their index, from 0. Raises `RosterUnusable` when the document as a whole is no such JSON.
    """
    document = _parsed(text)
    others: tuple[str, ...] = ()
    if isinstance(document, _RepeatedKey):
        raise RosterUnusable(f"its key '{document.key}' stands there twice")
    if isinstance(document, dict):
        others = tuple(key for key in document if key != ENVELOPE)
        document = document.get(ENVELOPE)
    if isinstance(document, _Broken):
        raise RosterUnusable(f"it is not valid JSON: {document.why}")
    if not isinstance(document, list):
        raise RosterUnusable(
            f'it is JSON, but no array of people; write [{{...}}, ...] or {{"{ENVELOPE}": [{{...}}, ...]}}'
        )
    return _table(enumerate(document)), others


def read_ndjson(text: str) -> RosterTable:
    """The table of one object a line; blank lines are left out, rows are numbered by line, from 1."""
    lines = enumerate(text.split("\n"), start=1)
    return _table((number, _parsed(line)) for number, line in lines if line.strip())


def is_ndjson(text: str) -> bool:
    """Whether each line is a document of its own: the first line ends the object that it begins."""
    lines = [line for line in text.split("\n") if line.strip()][:2]
    if not lines or not lines[0].lstrip().startswith("{") or not lines[0].rstrip().endswith("}"):
        return False
    only = _parsed(lines[0]) if len(lines) == 1 else None
    return not (isinstance(only, dict) and ENVELOPE in only)


def _table(items: Iterable[tuple[int, object]]) -> RosterTable:
    found = list(items)
    keys: dict[str, None] = {}
    for _, item in found:
        if isinstance(item, _RepeatedKey | dict):
            keys |= dict.fromkeys(_members(item))
    columns = tuple(keys)
    return RosterTable(columns=columns, rows=tuple(_rows(found, columns)))


def _rows(items: Iterable[tuple[int, object]], columns: tuple[str, ...]) -> Iterator[RosterRow]:
    nothing = (ABSENT,) * len(columns)
    for number, item in items:
        match item:
            case dict() | _RepeatedKey():
                members = _members(item)
                values = tuple(members.get(column, ABSENT) for column in columns)
                problem = _problem(item)
            case _Broken(why=why):
                values, problem = nothing, f"is not valid JSON: {why}"
            case _:
                values, problem = nothing, "is no object; each person is written {...}"
        yield RosterRow(line=number, values=values, problem=problem)


def _problem(item: dict[str, object] | _RepeatedKey) -> str | None:
    if isinstance(item, _RepeatedKey):
        return f"has the key '{item.key}' twice"
    for key, value in item.items():
        if isinstance(value, Unreadable):
            return f"has {value.what} as '{key}', which no JSON reader takes"
    return None


def _members(item: dict[str, object] | _RepeatedKey) -> dict[str, object]:
    return item.value if isinstance(item, _RepeatedKey) else item


def _parsed(text: str) -> object:
    try:
        return _DECODER.decode(text.strip())
    except json.JSONDecodeError as error:
        at = f"column {error.colno}" if "\n" not in text else f"line {error.lineno}, column {error.colno}"
        return _Broken(f"{error.msg} at {at}")
    except RecursionError:
        return _Broken("it is nested too deep")


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object] | _RepeatedKey:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    repeated = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
    return _RepeatedKey(key=repeated, value=value)


def _integer(digits: str) -> int | Unreadable:
    return int(digits) if len(digits) <= _MAX_DIGITS else Unreadable(f"a number of {len(digits)} digits")


def _no_number(name: str) -> Unreadable:
    return Unreadable(name)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_constant=_no_number, strict=True
)
