"""What every row is handed, and the order in which it measures: ours, the limit, ours, the limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import attrs

from benchmarks.figures import Line
from benchmarks.stores import Backend

Figure = TypeVar("Figure")
OtherFigure = TypeVar("OtherFigure")


@attrs.frozen(kw_only=True)
class Bench:
    """One run of the suite."""

    backend: Backend
    rounds: int
    say: Callable[[str], None]
    """Tells whoever waits what is being done."""


Row = Callable[[Bench], Iterable[Line]]
"""A part of the table: measures, and returns its lines."""


def in_turns(
    bench: Bench, ours: Callable[[int], Figure], limit: Callable[[int], OtherFigure]
) -> tuple[Sequence[Figure], Sequence[OtherFigure]]:
    """A figure of each for every round; both are given the round's number, from 0."""
    pairs = []
    for number in range(bench.rounds):
        bench.say(f"round {number + 1} of {bench.rounds}")
        pairs.append((ours(number), limit(number)))
    return [mine for mine, _ in pairs], [least for _, least in pairs]
