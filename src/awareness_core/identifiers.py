"""Identifiers that sort by the time they were made: UUID version 7 (RFC 9562 §5.7), from arguments alone."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

UUID7_ENTROPY_BYTES = 10

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def uuid7(*, at: datetime, entropy: bytes) -> str:
    """The text of a UUIDv7 for the moment `at`, filled with `UUID7_ENTROPY_BYTES` random bytes.

    `at` is aware. Raises `ValueError` for a moment before 1970, which has no such identifier.
    """
    if len(entropy) != UUID7_ENTROPY_BYTES:
        raise ValueError(f"a UUIDv7 takes {UUID7_ENTROPY_BYTES} random bytes, not {len(entropy)}")
    since_epoch = at - _EPOCH
    milliseconds = (since_epoch.days * 86_400 + since_epoch.seconds) * 1000 + since_epoch.microseconds // 1000
    if milliseconds < 0:
        raise ValueError(f"a UUIDv7 tells the milliseconds since 1970; {at.isoformat()} is earlier")
    # No mask: the last moment that Python can tell is well within 48 bits.
    number = milliseconds << 80 | int.from_bytes(entropy)
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=number))
