"""A mail server's answer without the addresses in it: what is logged of a letter names nobody.

Servers quote whom they refuse, as typed, in other cases, in the encodings of RFC 3461 and RFC 6533, of URLs and of
HTML. Rather hides too much than too little.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

HIDDEN: Final = "***"

_AT: Final = (
    r"(?:@|\N{FULLWIDTH COMMERCIAL AT}|\N{SMALL COMMERCIAL AT}|[+%=]40|&#0*64;|&#x0*40;|&commat;|\\x\{40\})"
)
_LOOKS_LIKE_ONE: Final = re.compile(_AT, re.IGNORECASE)
# What may stand around an address and is no part of one that is not quoted (RFC 5322 §3.2.3).
_WORD: Final = re.compile(r"[^\s<>()\[\],:\"]+")
# Shorter ones are in innocent words; these are not left as a piece of another word either.
_TELLING: Final = 5
_QUOTED_LOCAL: Final = re.compile(rf'"[^"]*"(?={_AT})', re.IGNORECASE)


def without_addresses(text: str) -> str:
    """`text` with `***` for every word that holds an at sign, however that is encoded."""
    if _LOOKS_LIKE_ONE.search(text) is None:
        return text
    text = _QUOTED_LOCAL.sub(HIDDEN, text)
    return _WORD.sub(lambda word: HIDDEN if _LOOKS_LIKE_ONE.search(word[0]) else word[0], text)


def without_recipient(text: str, recipient: str) -> str:
    """The same, and without the recipient's local part where it stands alone. For what a server said, not for our own.

    Neither occurs in what is left, in any case and any Unicode normal form.
    """
    local = recipient.rpartition("@")[0]
    told = _spellings(local).sub(HIDDEN, without_addresses(text))
    folded = _folded(told)
    if _folded(recipient) in folded or (len(local) >= _TELLING and _folded(local) in folded):
        return HIDDEN
    return told


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=256)
def _spellings(local: str) -> re.Pattern[str]:
    """The local part as a word of its own, each character as it is or encoded."""
    # Letters such as ß become two in another case, which no comparison of single ones finds.
    cases = (local, local.upper(), local.casefold())
    forms = {unicodedata.normalize(form, case) for form in ("NFC", "NFD") for case in cases}
    spelt = "|".join("".join(map(_one_spelling, form)) for form in sorted(forms))
    return re.compile(rf"(?<!\w)(?:{spelt})(?!\w)", re.IGNORECASE)


def _one_spelling(character: str) -> str:
    octets = character.encode("utf-8", "surrogatepass")
    point = ord(character)
    encoded = (re.escape("".join(f"{sign}{octet:02X}" for octet in octets)) for sign in "+%=")
    others = (*encoded, f"&#0*{point};", f"&#x0*{point:X};", rf"\\x\{{0*{point:X}\}}")
    return f"(?:{'|'.join((re.escape(character), *others))})"
