"""The normal form of the short texts that callers send: names, titles, identifiers.

Canonical composition (NFC), outer white space trimmed, empty when all of it is invisible, control characters refused;
lengths are counted in code points after that, so the same name typed on two systems compares equal. Says nothing about
what a field means.
"""

from __future__ import annotations

import unicodedata

import attrs

# Cc: controls, NUL, CR, LF and tab among them. Cs: lone surrogates, which no UTF-8 text can carry.
# Zl and Zp: line and paragraph separators, which split a line in mails, logs and CSV.
_REFUSED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})

# Bidirectional overrides and isolates can make a name read as another one; no name needs them (Unicode TR 36 §2.4).
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# Seen by nobody when they stand alone: formats such as U+200B, blanks, and what Unicode calls ignorable elsewhere
# (DerivedCoreProperties, Default_Ignorable_Code_Point), Hangul fillers among it. Inside a text they may be needed: a
# joiner of emoji or of Indic scripts, a variation selector.
_UNSEEN_CATEGORIES = frozenset({"Cf", "Zs"})
_UNSEEN = frozenset(
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
        ),
    )
)


@attrs.frozen(kw_only=True)
class TextProblem:
    """Why a text is refused. `code` is stable; `message` says what would be right."""

    code: str
    message: str


def normal_text(text: str) -> str:
    """`text` in NFC without outer white space; empty when nothing in it can be seen.

    Total: never fails, whatever the text holds.
    """
    if text.isascii():
        return text.strip()
    normal = unicodedata.normalize("NFC", text).strip()
    return "" if all(map(_is_unseen, normal)) else normal


def text_problem(normal: str, *, max_length: int, min_length: int = 0) -> TextProblem | None:
    """What is wrong with an already normal text, or None. Lengths are in code points, both ends allowed."""
    if not normal.isprintable():
        for position, character in enumerate(normal):
            if unicodedata.category(character) in _REFUSED_CATEGORIES or character in _BIDI_CONTROLS:
                kind = "lone surrogate" if "\ud800" <= character <= "\udfff" else "control character"
                return TextProblem(
                    code="control_character",
                    message=f"{kind} U+{ord(character):04X} at position {position}; send plain text",
                )
    if len(normal) < min_length:
        return TextProblem(
            code="too_short", message=f"must have at least {min_length} character(s) that are not blank"
        )
    if len(normal) > max_length:
        return TextProblem(
            code="too_long", message=f"has {len(normal)} characters; at most {max_length} are allowed"
        )
    return None


def _is_unseen(character: str) -> bool:
    if character in _BIDI_CONTROLS:
        return False
    return character in _UNSEEN or unicodedata.category(character) in _UNSEEN_CATEGORIES


def folded_name(text: str) -> str:
    """The key under which two spellings of one name compare equal: NFC, one blank between words, case folded."""
    if text.isascii():
        return " ".join(text.split()).lower()
    folded = " ".join(unicodedata.normalize("NFC", text).split()).casefold()
    # Case folding can leave a decomposed sequence (U+0130 does), so compose once more.
    return unicodedata.normalize("NFC", folded)
