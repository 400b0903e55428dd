"""The passwords that people choose most often, from lists in this package.

`data/SOURCES.md` says where they come from.
"""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import Final

_LISTS: Final = ("common.txt", "french.txt", "dates_and_places.txt")


class ListedPasswords:
    """`FrequentPasswords` from the lists, which are read when the first password is looked up."""

    def holds(self, text: str) -> bool:
        """See `FrequentPasswords`."""
        return text in _listed()


@functools.cache
def _listed() -> frozenset[str]:
    folder = files("awareness_passwords").joinpath("data")
    return frozenset(
        line for name in _LISTS for line in folder.joinpath(name).read_text(encoding="utf-8").splitlines()
    )
