"""Bars for figures on stdout: of blocks to the eighth of a column, or of # where the output cannot spell blocks."""

from __future__ import annotations

from awareness_server.cli.output import stdout_can_show

_EIGHTHS = "▏▎▍▌▋▊▉█"
_PLAIN = "#"


def bar(share: float, width: int) -> str:
    """`share`, 0 to 1, of `width` columns. Only nothing is drawn as nothing."""
    if share <= 0 or width <= 0:
        return ""
    if not stdout_can_show(_EIGHTHS):
        return _PLAIN * max(1, round(share * width))
    whole, eighths = divmod(max(1, round(share * width * 8)), 8)
    return _EIGHTHS[-1] * whole + (_EIGHTHS[eighths - 1] if eighths else "")
