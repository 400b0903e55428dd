"""Texts from elsewhere, made fit for one line of a header, a mail or a log, whatever they hold."""

from __future__ import annotations

import re
import unicodedata

# Controls (CR and LF among them), lone surrogates, line and paragraph separators; and what turns the reading order.
_LINE_BREAKING = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

_BLANKS = re.compile(" {2,}")


def one_line(text: str) -> str:
    """`text` as one line that encodes: what could end it becomes a blank, blanks are joined. Total."""
    if not text.isprintable():
        text = "".join(
            " "
            if unicodedata.category(character) in _LINE_BREAKING or character in _BIDI_CONTROLS
            else character
            for character in text
        )
    # Not `split()`: blanks of other kinds, no-break ones above all, are there for a reason.
    return _BLANKS.sub(" ", text).strip(" ")
