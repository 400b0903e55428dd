"""Chains of waiting: each waits for at most one other, and a ring of waiting is an exchange that succeeds."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet


def follow_chains(
    waits_for: Mapping[int, int], *, stuck: AbstractSet[int], free: AbstractSet[int]
) -> frozenset[int]:
    """Those of `waits_for` who wait in vain, because the end of their chain is in `stuck`.

    Whoever is in `free` makes way whatever becomes of their own wait. Nobody is waited for by two. Linear time.
    """
    in_vain: dict[int, bool] = {}
    for start in waits_for:
        if start in in_vain:
            continue
        path, at = [start], waits_for[start]
        while at != start and at in waits_for and at not in in_vain and at not in free and at not in stuck:
            path.append(at)
            at = waits_for[at]
        is_vain = at != start and at not in free and (at in stuck or in_vain.get(at, False))
        in_vain.update(dict.fromkeys(path, is_vain))
    return frozenset(position for position, is_vain in in_vain.items() if is_vain)
