"""What a row of the table is: figures of ours, figures of the limit, their ratio round by round, and the bar.

Figures of one round belong together, as they were measured one right after the other: the ratio is the median of the
rounds' ratios, which a busy machine moves less than a ratio of medians.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

import attrs

Spell = Callable[[float], str]


@attrs.frozen
class Bar:
    """What a ratio, or a figure that has no limit beside it, should reach."""

    value: float
    is_floor: bool = False

    def is_met_by(self, value: float) -> bool:
        """Whether `value`, as it is printed, is on the right side."""
        return round(value, 2) >= self.value if self.is_floor else round(value, 2) <= self.value

    def spelt(self, spell: Spell) -> str:
        """For people."""
        return f"{'≥' if self.is_floor else '≤'} {spell(self.value)}"


@attrs.frozen(kw_only=True)
class Line:
    """One line of the table, as text but for whether its bar is met (None: there is none)."""

    row: str
    work: str
    ours: str
    limit: str
    ratio: str
    bar: str
    is_met: bool | None
    computing: str = ""
    """The same comparison by the time that the processor was busy, which neighbours on the machine move less."""


def compared(
    row: str,
    work: str,
    *,
    ours: Sequence[float],
    limit: Sequence[float],
    spell: Spell,
    bar: Bar,
    limit_is: str = "",
    computing: str = "",
) -> Line:
    """A line that compares. `ours` and `limit` have a figure a round."""
    ratios = [mine / least for mine, least in zip(ours, limit, strict=True)]
    ratio = median(ratios)
    return Line(
        row=row,
        work=work,
        ours=spell(median(ours)),
        limit=f"{spell(median(limit))}{limit_is and ' '}{limit_is}",
        ratio=f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        bar=bar.spelt(times),
        is_met=bar.is_met_by(ratio),
        computing=computing,
    )


def computing_times(ours: Sequence[float], limit: Sequence[float], spell: Spell) -> str:
    """`Line.computing` of figures a round."""
    ratio = median(mine / least for mine, least in zip(ours, limit, strict=True))
    return f"{spell(median(ours))} / {spell(median(limit))} = {ratio:.2f}"


def absolute(row: str, work: str, *, ours: Sequence[float], spell: Spell, bar: Bar | None) -> Line:
    """A line whose bar is a figure of its own."""
    figure = median(ours)
    spread = "" if len(ours) == 1 else f" ({spell(min(ours))} to {spell(max(ours))})"
    return Line(
        row=row,
        work=work,
        ours=spell(figure) + spread,
        limit="–",
        ratio="–",
        bar="–" if bar is None else bar.spelt(spell),
        is_met=None if bar is None else bar.is_met_by(figure),
    )


def times(value: float) -> str:
    """A ratio."""
    return f"{value:.2f} ×"


def per_second(value: float) -> str:
    """Requests."""
    return f"{value:,.0f}/s"


def seconds(value: float) -> str:
    """A time that people wait for."""
    return f"{value:.2f} s"


def microseconds(value: float) -> str:
    """A time in seconds, spelt in millionths."""
    return f"{value * 1_000_000:.0f} µs"


def milliseconds(value: float) -> str:
    """A time in seconds, spelt in thousandths."""
    return f"{value * 1000:.1f} ms"


def mebibytes(value: float) -> str:
    """Bytes."""
    return f"{value / 2**20:.1f} MiB"
