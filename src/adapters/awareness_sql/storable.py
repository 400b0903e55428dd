"""Texts that a database can take: `awareness_core.texts` lets no others in, but a question may hold anything."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether `text` could be stored. Databases cut a text at NUL or refuse it, and surrogates are no UTF-8.

    What is not storable equals nothing that is stored, and is contained in nothing.
    """
    return _UNSTORABLE.search(text) is None
