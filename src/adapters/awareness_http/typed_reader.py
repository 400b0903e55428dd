"""From plain JSON values to the fields that a wire type declares, telling every fault with its place.

Driven by the annotations of the type, which the OpenAPI is made of too: what is documented is what is read. Types are
strict: nothing is coerced, and a name that the type does not declare is a fault. Knows no field by name.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Annotated, Final, TypeVar, Union, get_args, get_origin, get_type_hints

import attrs
from msgspec import Meta, UnsetType

from awareness_core.errors import MAX_FAULTS, Fault, ValidationFailed
from awareness_core.texts import normal_text, text_problem
from awareness_http.places import echo, item_place, member_place

Shape = TypeVar("Shape")

Note = Callable[[str, str, str], None]
"""Takes the place, the code and the message of a fault."""

_UNLIMITED: Final = 1 << 62


@attrs.frozen(kw_only=True)
class Taken:
    """What could be read: the well-formed fields by name, absent ones left out, and everything that was wrong."""

    fields: Mapping[str, object]
    faults: Sequence[Fault]


def take(shape: type, value: object, *, besides: Sequence[str] = ()) -> Taken:
    """The fields of `value` that an instance of the attrs class `shape` needs. Never raises.

    `besides` are fields that stand there too, and that another reader takes.
    """
    faults: list[Fault] = []

    def note(place: str, code: str, message: str) -> None:
        if len(faults) < MAX_FAULTS:
            faults.append(Fault(field=place, code=code, message=message))

    if not isinstance(value, dict):
        note("", "wrong_type", f"must be an object, not {_named(value)}")
        return Taken(fields={}, faults=faults)
    wanted = _fields_of(shape)
    fields = {}
    for name, field in wanted.items():
        if name in value:
            known = len(faults)
            read = field.check(value[name], name, note)
            if len(faults) == known:
                fields[name] = read
        elif field.is_required:
            note(name, "missing", "is required")
    _note_strangers(value, (*besides, *wanted), note)
    return Taken(fields=fields, faults=faults)


def fields_with(shape: type, kind: type) -> frozenset[str]:
    """The names of those fields of `shape` that may hold a `kind`."""
    hints = get_type_hints(shape, include_extras=True)
    return frozenset(
        field.name
        for field in attrs.fields(shape)
        if any(member is kind for member, _ in members(hints[field.name]))
    )


def read(shape: type[Shape], value: object) -> Shape:
    """An instance of the attrs class `shape`. Raises `ValidationFailed` with every fault."""
    taken = take(shape, value)
    if taken.faults:
        raise ValidationFailed(taken.faults)
    return shape(**taken.fields)


def _note_strangers(value: Mapping[str, object], wanted: Sequence[str], note: Note) -> None:
    known = f"there are {', '.join(wanted)}" if wanted else "there are none"
    # A body may hold a hundred thousand of them, and no more are told than a `note` takes.
    for name in islice((name for name in value if name not in wanted), MAX_FAULTS):
        note(member_place("", name), "unknown_field", f"is not a field here; {known}")


Check = Callable[[object, str, Note], object]
"""Takes a JSON value and its place; returns it as read, or notes why it cannot be."""


@attrs.frozen(kw_only=True)
class _Field:
    is_required: bool
    check: Check


@cache
def _fields_of(shape: type) -> Mapping[str, _Field]:
    hints = get_type_hints(shape, include_extras=True)
    return {
        field.name: _Field(is_required=field.default is attrs.NOTHING, check=_check_for(hints[field.name]))
        for field in attrs.fields(shape)
    }


def _check_for(annotation: object) -> Check:
    checks: dict[type, Check] = {}
    for member, meta in members(annotation):
        checks[_json_type(member)] = _check_of_type(member, meta)
    expected = " or ".join(_NAMES[kind] for kind in checks if kind is not type(None))

    def check(value: object, place: str, note: Note) -> object:
        # The exact type: `True` is an `int` to `isinstance`.
        found = checks.get(type(value)) or (checks.get(dict) if isinstance(value, dict) else None)
        if found is None:
            note(place, "wrong_type", f"must be {expected}, not {_named(value)}")
            return None
        return found(value, place, note)

    return check


def members(annotation: object) -> list[tuple[object, Meta]]:
    """The types that a union allows, each with its constraints; what stands for "not sent" is left out."""
    inner, meta = _unwrap(annotation)
    if get_origin(inner) in {Union, types.UnionType}:
        return [
            (member, own if own is not _NO_LIMITS else meta)
            for argument in get_args(inner)
            if argument is not UnsetType
            for member, own in [_unwrap(argument)]
        ]
    return [(inner, meta)]


def _unwrap(annotation: object) -> tuple[object, Meta]:
    if get_origin(annotation) is Annotated:
        inner, *extras = get_args(annotation)
        return inner, next((extra for extra in extras if isinstance(extra, Meta)), _NO_LIMITS)
    return annotation, _NO_LIMITS


_NO_LIMITS: Final = Meta()

_NAMES: Final[Mapping[type, str]] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def _named(value: object) -> str:
    if isinstance(value, bool):
        return "a boolean"
    return next((name for kind, name in _NAMES.items() if isinstance(value, kind)), "that")


def _json_type(member: object) -> type:
    origin = get_origin(member) or member
    if not isinstance(origin, type):
        raise TypeError(f"a wire type cannot hold {member!r}")
    if issubclass(origin, enum.Enum):
        return str
    if origin not in _NAMES:
        raise TypeError(f"a wire type cannot hold {member!r}")
    return origin


def _check_of_type(member: object, meta: Meta) -> Check:
    if get_origin(member) is list:
        return _list_check(_check_for(get_args(member)[0]), meta)
    if isinstance(member, type) and issubclass(member, enum.Enum):
        return _enum_check(member)
    if member is str:
        return _text_check(meta)
    if member is int:
        return _integer_check(meta)
    return lambda value, _place, _note: value


def _text_check(meta: Meta) -> Check:
    max_length = _UNLIMITED if meta.max_length is None else meta.max_length

    def check(value: object, place: str, note: Note) -> object:
        # Judged in its normal form but handed on as it is: what a text becomes is the core's to say.
        problem = text_problem(
            normal_text(str(value)), max_length=max_length, min_length=meta.min_length or 0
        )
        if problem is not None:
            note(place, problem.code, problem.message)
        return value

    return check


def _enum_check(kind: type[enum.Enum]) -> Check:
    by_value = {member.value: member for member in kind}

    def check(value: object, place: str, note: Note) -> object:
        found = by_value.get(value)
        if found is None:
            note(place, "unknown_value", f"must be one of {', '.join(by_value)}, not '{echo(str(value))}'")
        return found

    return check


def _integer_check(meta: Meta) -> Check:
    low = -_UNLIMITED if meta.ge is None else int(meta.ge)
    high = _UNLIMITED if meta.le is None else int(meta.le)

    def check(value: object, place: str, note: Note) -> object:
        if isinstance(value, int) and not low <= value <= high:
            limits = f"from {low} to {high}" if meta.le is not None else f"at least {low}"
            note(place, "out_of_range", f"must be {limits}")
        return value

    return check


def _list_check(check_item: Check, meta: Meta) -> Check:
    max_items = _UNLIMITED if meta.max_length is None else meta.max_length

    def check(value: object, place: str, note: Note) -> object:
        items = value if isinstance(value, list) else []
        if len(items) > max_items:
            note(place, "too_many", f"has {len(items)} items; at most {max_items} are allowed")
            return items
        return [check_item(item, item_place(place, index), note) for index, item in enumerate(items)]

    return check
