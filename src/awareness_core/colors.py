"""Colours of companies: how they are written, and what can be read on them."""

from __future__ import annotations

import re

_WRITTEN = re.compile(r"#?([0-9a-f]{6}|[0-9a-f]{3})", re.ASCII)
WHITE, BLACK = "#ffffff", "#000000"

_LEAST_SEEN = 3


class InvalidColor(ValueError):
    """The text is no colour. The message says what would be right."""


def parse_color(text: str) -> str:
    """The colour as `#rrggbb` in lower case, from that or `#rgb`, with or without the #. Raises `InvalidColor`."""
    match = _WRITTEN.fullmatch(text.strip().lower())
    if match is None:
        raise InvalidColor("must be written like #1a5a9c")
    digits = match[1]
    if len(digits) == 3:  # noqa: PLR2004 (the short form, each digit of which stands for two)
        digits = "".join(digit * 2 for digit in digits)
    return f"#{digits}"


def readable_on(color: str) -> str:
    """White or black, whichever stands out more on `color` (WCAG 2.2, contrast ratio): 4.5 or better, always."""
    return max(WHITE, BLACK, key=lambda text: contrast(text, color))


def stands_out(color: str, ground: str) -> bool:
    """Whether a surface of `color` is seen on `ground` without a border (WCAG 2.2 §1.4.11): 3 or better."""
    return contrast(color, ground) >= _LEAST_SEEN


def contrast(one: str, other: str) -> float:
    """From 1 for the same to 21 for black on white (WCAG 2.2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4  # noqa: PLR2004 (sRGB)
        for channel in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
