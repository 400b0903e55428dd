"""What is said, in which language: the company's, or before it is known who it is one that the browser asks for.

The texts stand in `texts/`, one file a language; one that is missing is an error and not a blank.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final

from awareness_core.tenants import Language

FALLBACK: Final = Language.ENGLISH
"""For browsers that ask for neither."""

_LONGEST_HEADER: Final = 500

Texts = Mapping[str, Any]
"""Texts by section and name."""


@functools.cache
def texts_in(language: Language) -> Texts:
    """Everything that is said in that language."""
    written = files("awareness_web").joinpath("texts", f"{language.value}.toml").read_text(encoding="utf-8")
    return tomllib.loads(written)


def preferred_language(header: str | None) -> Language:
    """The one that an `Accept-Language` (RFC 9110 §12.5.4) wants most, of equals the first one named.

    `*` stands for those that are not named. Total: the header may hold anything.
    """
    wanted: dict[Language, float] = {}
    for_others = 0.0
    for part in (header or "")[:_LONGEST_HEADER].split(","):
        name, _, parameter = part.partition(";")
        if name.strip() == "*":
            for_others = max(for_others, _quality(parameter))
        for language in Language:
            if name.strip().lower().partition("-")[0] == language.value:
                wanted[language] = max(wanted.get(language, 0.0), _quality(parameter))
    for language in (FALLBACK, *Language):
        wanted.setdefault(language, for_others)
    best = max(wanted, key=lambda language: wanted[language])
    return best if wanted[best] > 0 else FALLBACK


def spell_date(moment: datetime, language: Language) -> str:
    """The day in UTC, as people write it: 3 March 2026, 3 mars 2026."""
    day = moment.astimezone(UTC)
    number = "1er" if language is Language.FRENCH and day.day == 1 else str(day.day)
    return f"{number} {texts_in(language)['dates']['months'][day.month - 1]} {day.year}"


def _quality(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if name.rstrip().lower() != "q":
        return 1.0
    try:
        quality = float(value)
    except ValueError:
        return 0.0
    return quality if 0 <= quality <= 1 else 0.0
