"""How a fault names its place, such as `employees[3].nom`, and how it echoes a name that a caller made up.

A name that was sent may be anything; what is echoed of it is short and printable.
"""

from __future__ import annotations

from typing import Final

_LONGEST_ECHO: Final = 60
_LONGEST_PLACE: Final = 300


def member_place(place: str, name: str) -> str:
    """The place of a member of the object at `place`."""
    shown = echo(name)
    return shorten(f"{place}.{shown}" if place else shown)


def item_place(place: str, index: int) -> str:
    """The place of an item of the list at `place`."""
    return shorten(f"{place}[{index}]")


def place_within(place: str, field: str) -> str:
    """The place of `field`, itself a place or empty, within what stands at `place`, which may be empty too."""
    separator = "." if place and field and not field.startswith("[") else ""
    return shorten(f"{place}{separator}{field}")


def echo(text: str) -> str:
    """`text` as it may be shown: at most 60 characters, control characters and lone surrogates escaped."""
    if len(text) > _LONGEST_ECHO:
        return echo(text[: _LONGEST_ECHO - 1]) + "…"
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)


def shorten(place: str) -> str:
    """`place` itself, or its end when it is very long: what is wrong stands there."""
    return place if len(place) <= _LONGEST_PLACE else "…" + place[1 - _LONGEST_PLACE :]
