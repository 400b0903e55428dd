"""How a campaign went over time, as lines for a terminal and as JSON.

A line for each span since the first mail, a column for each step. A terminal too narrow for bars gets the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from awareness_core.timelines import Span, Timeline
from awareness_server.cli.bars import bar
from awareness_server.cli.campaign_words import STEPS
from awareness_server.cli.output import JsonValue, moment, shown_moment

_UNITS = ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min"))
_FOLDED = {"submitted": ("sub-", "mitted"), "reported": ("re-", "ported")}
_GAP = 2
_LEAST_BAR = 4
_LONGEST_BAR = 20
_NOTHING = "."
_FIRST_REPORT = "*"


def drawn_timeline(timeline: Timeline, *, first_report_at: datetime | None, width: int) -> list[str]:
    """The lines, none longer than `width` where that is 40 or more. The span of the first report has an asterisk."""
    spans = timeline.spans
    if not spans:
        return []
    labels = _labels(spans)
    counts = {step: [_count(span, step) for span in spans] for step in STEPS}
    digits = max(len(str(count)) for column in counts.values() for count in column)
    label_width = max(map(len, labels))
    # The last column has room for the asterisk.
    room = (width - label_width - 1) // len(STEPS) - _GAP - digits - 1
    reported_in = _index_at(spans, first_report_at)
    lines = [f"Since the first mail, {shown_moment(spans[0].start)}"]
    if room < _LEAST_BAR:
        return [*lines, *_numbers(labels, counts, digits=digits, reported_in=reported_in)]
    room = min(room, _LONGEST_BAR)
    cell_width = digits + 1 + room
    head = "".join(f"{'':{_GAP}}{step:<{cell_width}}" for step in STEPS)
    lines.append(f"{'':{label_width}}{head}".rstrip())
    for index, label in enumerate(labels):
        cells = []
        for step, column in counts.items():
            # Each column has a scale of its own: reports are few beside opens, and matter as much.
            drawn = bar(column[index] / max(1, *column), room)
            mark = _FIRST_REPORT if step == "reported" and index == reported_in else " "
            cells.append(f"{'':{_GAP}}{column[index] or _NOTHING:>{digits}}{mark}{drawn:<{room}}")
        lines.append(f"{label:>{label_width}}{''.join(cells)}".rstrip())
    return [*lines, "The longest bar of a column is its largest number."]


def spell_timeline(timeline: Timeline) -> JsonValue:
    """Its spans in their order."""
    return [
        {
            "from": moment(span.start),
            "to": moment(span.end),
            **{step: _count(span, step) for step in STEPS},
        }
        for span in timeline.spans
    ]


def _numbers(
    labels: Sequence[str], counts: dict[str, list[int]], *, digits: int, reported_in: int | None
) -> list[str]:
    label_width = max(map(len, labels))
    heads = {step: _FOLDED.get(step, ("", step)) for step in counts}
    widths = {step: max(digits, *map(len, head)) for step, head in heads.items()}
    lines = [
        f"{'':{label_width}}{''.join(f' {head[row]:>{widths[step]}}' for step, head in heads.items())}"
        for row in (0, 1)
    ]
    for index, label in enumerate(labels):
        cells = "".join(f" {column[index] or _NOTHING:>{widths[step]}}" for step, column in counts.items())
        mark = _FIRST_REPORT if index == reported_in else ""
        lines.append(f"{label:>{label_width}}{cells}{mark}")
    return lines


def _labels(spans: Sequence[Span]) -> list[str]:
    begin = spans[0].start
    return [_label(span.start - begin, span.end - begin) for span in spans]


def _label(start: timedelta, end: timedelta) -> str:
    for unit, name in _UNITS:
        if not start % unit and not end % unit:
            return f"{start // unit}-{end // unit} {name}"
    # Only the last span, which ends with the last moment, has no round end.
    return f"{start // _UNITS[0][0]} d on"


def _index_at(spans: Sequence[Span], at: datetime | None) -> int | None:
    return next((i for i, span in enumerate(spans) if at is not None and span.start <= at < span.end), None)


def _count(span: Span, step: str) -> int:
    count: int = getattr(span, step)
    return count
