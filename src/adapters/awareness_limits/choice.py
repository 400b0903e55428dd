"""Which counter a setting asks for. Connects to nothing: a store that is away is no reason not to start."""

from __future__ import annotations

from awareness_limits.fallback import FallbackCounter
from awareness_limits.memory import MemoryCounter
from awareness_limits.redis_counter import RedisCounter
from awareness_limits.store_url import parse_store_url


def counter_from_url(url: str | None) -> MemoryCounter | FallbackCounter:
    """The counter for `AWARENESS_LIMITS_URL`: None or `memory://` counts in this process alone.

    Raises `InvalidStoreUrl`, and `ModuleNotFoundError` naming the extra when the client library is not installed.
    """
    if url is None or url.strip() in {"", "memory://"}:
        return MemoryCounter()
    return FallbackCounter(RedisCounter(parse_store_url(url)), MemoryCounter())
