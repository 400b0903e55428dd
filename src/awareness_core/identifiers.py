"""Identifiers that sort by the time they were made: UUID version 7 (RFC 9562 §5.7), from arguments alone."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

UUID7_ENTROPY_BYTES = 10

_LOW = (1 << 62) - 1
_STEP_BYTES = 4

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def uuid7(*, at: datetime, entropy: bytes) -> str:
    """The text of a UUIDv7 for the moment `at` (aware), filled with `UUID7_ENTROPY_BYTES` random bytes."""
    if len(entropy) != UUID7_ENTROPY_BYTES:
        raise ValueError(f"a UUIDv7 takes {UUID7_ENTROPY_BYTES} random bytes, not {len(entropy)}")
    filling = int.from_bytes(entropy)
    return _spell(at, (filling >> 64 & 0xFFF) << 62 | filling & _LOW)


def uuid7_series(*, at: datetime, take: Callable[[int], bytes]) -> Iterator[str]:
    """UUIDv7s of one moment, each greater than the one before (RFC 9562 §6.2, method 2); `take` gives random bytes."""
    # A clear top bit leaves room for more steps than anybody takes.
    tail = int.from_bytes(take(UUID7_ENTROPY_BYTES)) >> 7
    while True:
        yield _spell(at, tail)
        tail += 1 + int.from_bytes(take(_STEP_BYTES))


def _spell(at: datetime, tail: int) -> str:
    """`tail` is all that is left beside time, version and variant: 74 bits."""
    since_epoch = at - _EPOCH
    milliseconds = (since_epoch.days * 86_400 + since_epoch.seconds) * 1000 + since_epoch.microseconds // 1000
    if milliseconds < 0:
        raise ValueError(f"a UUIDv7 tells the milliseconds since 1970; {at.isoformat()} is earlier")
    # No mask: the last moment that Python can tell is well within 48 bits.
    number = milliseconds << 80 | 0x7 << 76 | tail >> 62 << 64 | 0x2 << 62 | tail & _LOW
    return str(uuid.UUID(int=number))
