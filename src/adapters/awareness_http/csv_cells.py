"""Texts as cells of a CSV that people open in a spreadsheet, which runs whatever looks like a formula.

A quote before it makes a text of it. Guarded is what begins with one of the characters that OWASP's "CSV Injection"
names, the full-width ones included, which East Asian versions take for the others; also behind blanks and characters
that do not show, which an import may cut off. Quoting of commas and line ends is the CSV writer's business.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_FORMULA_STARTS: Final = frozenset("=+-@\t\r\n＝＋－＠")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})


def guarded_cell(text: str) -> str:
    """`text`, with a quote before it if a spreadsheet would run it."""
    return f"'{text}" if _looks_like_formula(text) else text


def _looks_like_formula(text: str) -> bool:
    if text.isalnum():
        return False
    for character in text:
        if character in _FORMULA_STARTS:
            return True
        if unicodedata.category(character) not in _UNSEEN:
            return False
    return False
