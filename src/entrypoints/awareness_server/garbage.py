"""How often a serving process looks for cyclic garbage.

Python's defaults look through everything that was imported again and again while a directory of a hundred thousand
people is read, and all requests wait for it. What stands after the start stays for good, so it is looked at no more.
"""

from __future__ import annotations

import gc

_THRESHOLDS = (50_000, 20, 50)
"""About a request's or a chunk's objects between two looks at the young ones."""


def look_seldom() -> None:
    """Set it so for this process. To be called when all is imported."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
