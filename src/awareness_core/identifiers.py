"""Identifiers that sort by the time they were made: UUID version 7 (RFC 9562 §5.7), from arguments alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

UUID7_ENTROPY_BYTES = 10

_LOW = (1 << 62) - 1
_STEP_BYTES = 4
_STEPS_AT_ONCE = 64

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def uuid7(*, at: datetime, entropy: bytes) -> str:
    """The text of a UUIDv7 for the moment `at` (aware), filled with `UUID7_ENTROPY_BYTES` random bytes."""
    if len(entropy) != UUID7_ENTROPY_BYTES:
        raise ValueError(f"a UUIDv7 takes {UUID7_ENTROPY_BYTES} random bytes, not {len(entropy)}")
    filling = int.from_bytes(entropy)
    return _spell(_moment(at), (filling >> 64 & 0xFFF) << 62 | filling & _LOW)


def uuid7_series(*, at: datetime, take: Callable[[int], bytes]) -> Iterator[str]:
    """UUIDv7s of one moment, each greater than the one before (RFC 9562 §6.2, method 2); `take` gives random bytes."""
    moment = _moment(at)
    # A clear top bit leaves room for more steps than anybody takes.
    tail = int.from_bytes(take(UUID7_ENTROPY_BYTES)) >> 7
    yield _spell(moment, tail)
    while True:
        steps = take(_STEP_BYTES * _STEPS_AT_ONCE)
        for start in range(0, len(steps), _STEP_BYTES):
            tail += 1 + int.from_bytes(steps[start : start + _STEP_BYTES])
            yield _spell(moment, tail)


def _moment(at: datetime) -> int:
    """The bits that say when, and the version."""
    since_epoch = at - _EPOCH
    milliseconds = (since_epoch.days * 86_400 + since_epoch.seconds) * 1000 + since_epoch.microseconds // 1000
    if milliseconds < 0:
        raise ValueError(f"a UUIDv7 tells the milliseconds since 1970; {at.isoformat()} is earlier")
    # No mask: the last moment that Python can tell is well within 48 bits.
    return milliseconds << 80 | 0x7 << 76


def _spell(moment: int, tail: int) -> str:
    """`tail` is all that is left beside time, version and variant: 74 bits."""
    digits = f"{moment | tail >> 62 << 64 | 0x2 << 62 | tail & _LOW:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
