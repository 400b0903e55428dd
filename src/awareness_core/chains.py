"""Chains of waiting: each waits for at most one other, and a ring of waiting is an exchange that succeeds."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet


def follow_chains(
    waits_for: Mapping[int, int], *, stuck: AbstractSet[int], free: AbstractSet[int]
) -> frozenset[int]:
    """Those of `waits_for` who wait in vain, because the end of their chain is in `stuck`.

    Whoever is in `free` makes way whatever becomes of their own wait. Linear time.
    """
    in_vain: dict[int, bool] = {}
    for start in waits_for:
        if start in in_vain:
            continue
        path, at = {start}, waits_for[start]
        while at in waits_for and not (at in path or at in in_vain or at in free or at in stuck):
            path.add(at)
            at = waits_for[at]
        is_vain = at not in path and at not in free and (at in stuck or in_vain.get(at, False))
        in_vain.update(dict.fromkeys(path, is_vain))
    return frozenset(position for position, is_vain in in_vain.items() if is_vain)
