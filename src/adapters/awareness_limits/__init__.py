"""Quota counters: in this process' memory, or in a Redis or Valkey that many processes share.

`counter_from_url` is what a program calls. A shared counter never takes the program down with it: `FallbackCounter`
counts in memory for as long as the store is away.
"""

from awareness_limits.choice import counter_from_url
from awareness_limits.fallback import FallbackCounter, SharedCounter
from awareness_limits.memory import MemoryCounter
from awareness_limits.redis_counter import RedisCounter
from awareness_limits.store_url import InvalidStoreUrl, StoreUrl, parse_store_url

__all__ = [
    "FallbackCounter",
    "InvalidStoreUrl",
    "MemoryCounter",
    "RedisCounter",
    "SharedCounter",
    "StoreUrl",
    "counter_from_url",
    "parse_store_url",
]
