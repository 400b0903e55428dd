"""Texts from files and strangers, made fit for a terminal; and counts with their noun."""

from __future__ import annotations

import shutil
import sys
import textwrap


def shown(text: str, *, limit: int | None = None) -> str:
    """`text` with every character that no terminal prints (controls, escapes, overrides) spelt as its number.

    With a `limit` of characters, what is beyond it is cut and an ellipsis says so.
    """
    plain = text if text.isprintable() else "".join(map(_printable, text))
    return plain if limit is None or len(plain) <= limit else f"{plain[: limit - 1]}…"


def folded(text: str) -> str:
    """`text` on as many lines as the terminal behind stderr needs, broken between words; one line for a file."""
    if not sys.stderr.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, max(width, 20), subsequent_indent="  ", break_on_hyphens=False)


def count_of(number: int, one: str, many: str) -> str:
    """`number` and its noun."""
    return f"{number:,} {one if number == 1 else many}"


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
