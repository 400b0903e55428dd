"""Which of several media types a request would rather have, by its `Accept` (RFC 9110 §12.5.1).

The range that says most about a type decides its weight. Of two types of one weight that is preferred which is named
more exactly, else first. What cannot be read of the header counts for nothing, and whoever accepts none of the types
gets the first: an answer in another form serves better than none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_WEIGHT: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?", re.ASCII)

_Standing = tuple[float, int, int]
"""Weight, exactness, and how early it was named: the greater is preferred."""


def preferred(accept: Sequence[str], offered: Sequence[str]) -> str:
    """The one of `offered`, in lower case and at least one, for the values of that header."""
    ranges = [_range(text, place) for place, text in enumerate(",".join(accept).split(","))]
    standings = {media: _standing(media, [one for one in ranges if one is not None]) for media in offered}
    return max(offered, key=lambda media: standings[media])


def _range(text: str, place: int) -> tuple[str, float, int] | None:
    """A range with its weight and its place from the end, or None for what is no range."""
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    weight = next((value for key, _, value in (one.partition("=") for one in parameters) if key == "q"), "1")
    if not name or not _WEIGHT.fullmatch(weight):
        return None
    return name, float(weight), -place


def _standing(media: str, ranges: Sequence[tuple[str, float, int]]) -> _Standing:
    widest_first = ("*/*", f"{media.partition('/')[0]}/*", media)
    found = [
        (widest_first.index(name), place, weight) for name, weight, place in ranges if name in widest_first
    ]
    exactness, place, weight = max(found, default=(-1, 0, 0.0))
    return weight, exactness if weight else -1, place if weight else 0
