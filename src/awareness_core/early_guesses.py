"""Whether a password is what attackers try first: a common one, with whatever people put around, into and between.

It is looked at in lower case, without accents, and with and without blanks and joiners (Choice: decisions/029). Which
ones are common is told by whoever asks. Several different words are no common password, even where each of them is one.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator

_LEAST_DISTINCT = 5
_FEW_WORDS = 2
"""So many different common passwords behind each other are still guessed early: qwerty-azerty."""

_IN_WORDS = {"0": "o", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"}
_DISGUISES = str.maketrans({**_IN_WORDS, "1": "i", "!": "i"})
# A figure 1 or an exclamation mark may as well stand between two words.
_INNER_DISGUISES = str.maketrans(_IN_WORDS)
_LETTERS = re.compile(r"[^\W\d_]+")
_LONE_SIGN = re.compile(r"(?<![\d@$])[03457@$](?![\d@$])")

IsCommon = Callable[[str], bool]


def is_guessed_early(normal: str, is_common: IsCommon) -> bool:
    """Whether that password, in normal form, is a common one or a pattern. `is_common` gets lower case, no accents."""
    folded = normal.casefold()
    if len(set(folded)) < _LEAST_DISTINCT or _is_run(folded):
        return True
    plain = without_accents(folded)
    return any(map(is_common, _cores(plain))) or any(
        _is_common_twice(words, is_common) for words in _readings(plain)
    )


def without_accents(folded: str) -> str:
    """A text in lower case as it is tried: Hélène is tried as helene, too."""
    apart = unicodedata.normalize("NFKD", folded)
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def _is_run(folded: str) -> bool:
    """Whether each sign follows the one before it, up or down: 123456789012, zyxwvutsrqpo."""
    steps = {
        (ord(after) - ord(before)) % 10 if (before + after).isdigit() else ord(after) - ord(before)
        for before, after in itertools.pairwise(folded)
    }
    return steps in ({1}, {-1}, {9})


def _cores(plain: str) -> Iterator[str]:
    """What may have been the password to which the rest was added: as one, or the same again and again."""
    for spelling in _spellings(plain):
        if spelling:
            yield spelling
            yield _unit(spelling)


def _spellings(plain: str) -> Iterator[str]:
    yield plain
    glued = "".join(sign for sign in plain if sign.isalnum() or ord(sign) in _DISGUISES)
    yield glued
    peeled = _between_letters(glued)
    yield peeled
    yield _between_letters(peeled.translate(_DISGUISES))
    # A disguise may stand in the place of the first letter or of the last one, too: $unshine2024, licorn3!2024.
    end = glued.rindex(peeled) + len(peeled)
    for whole in (glued[:end], glued[: end + 1]):
        yield _between_letters(whole.translate(_DISGUISES))


def _readings(plain: str) -> Iterator[set[str]]:
    """The different words in it, by what one takes for a disguised letter."""
    lone = _LONE_SIGN.sub(lambda sign: sign[0].translate(_INNER_DISGUISES), plain)
    for text in (plain, lone, plain.translate(_INNER_DISGUISES), plain.translate(_DISGUISES)):
        yield set(_LETTERS.findall(text))


def _is_common_twice(words: set[str], is_common: IsCommon) -> bool:
    """Whether these are one or two common passwords and nothing else."""
    if len(words) == 1:
        (word,) = words
        return any(
            is_common(word[:middle]) and is_common(word[middle:]) for middle in range(1, len(word))
        ) or is_common(_unit(word))
    return 0 < len(words) <= _FEW_WORDS and all(is_common(_unit(word)) for word in words)


def _unit(text: str) -> str:
    """What `text` repeats from its beginning to its end, cut off anywhere; itself when it repeats nothing twice."""
    for length in range(1, len(text) // 2 + 1):
        if all(sign == text[position % length] for position, sign in enumerate(text)):
            return text[:length]
    return text


def _between_letters(text: str) -> str:
    """From the first letter to the last one: without the year and the exclamation mark."""
    letters = [position for position, sign in enumerate(text) if sign.isalpha()]
    return text[letters[0] : letters[-1] + 1] if letters else ""
