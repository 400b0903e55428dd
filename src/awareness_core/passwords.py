"""Temporary passwords: how they are made from randomness, shown, read back and compared.

100 random bits in four groups of five, in Crockford's base 32, which has no letters that are mistaken for digits. With
that many random bits a fast keyed hash is enough (Choice: decisions/010); passwords that people choose would need
argon2id.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime

import attrs

from awareness_core.employees import EmployeeId

ENTROPY_BYTES = 13
SALT_BYTES = 16

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_GROUPS, _GROUP_LENGTH = 4, 5
_SYMBOLS = _GROUPS * _GROUP_LENGTH
# What people type instead: Crockford's own reading of the letters left out, and no separators.
_AS_TYPED = str.maketrans(
    {"o": "0", "i": "1", "l": "1", "-": "", " ": "", "\N{EN DASH}": "", "\N{NO-BREAK SPACE}": ""}
)


@attrs.frozen(kw_only=True)
class TemporaryPassword:
    """What is kept of a mailed password: enough to recognise it, not enough to know it."""

    employee_id: EmployeeId
    salt: bytes = attrs.field(repr=False)
    digest: bytes = attrs.field(repr=False)
    created_at: datetime
    expires_at: datetime


def spell_password(entropy: bytes) -> str:
    """The password for `ENTROPY_BYTES` random bytes, as mailed: `xxxxx-xxxxx-xxxxx-xxxxx`."""
    if len(entropy) != ENTROPY_BYTES:
        raise ValueError(f"a temporary password takes {ENTROPY_BYTES} random bytes, not {len(entropy)}")
    number = int.from_bytes(entropy)
    symbols = "".join(_ALPHABET[number >> 5 * position & 31] for position in range(_SYMBOLS))
    return "-".join(symbols[start : start + _GROUP_LENGTH] for start in range(0, _SYMBOLS, _GROUP_LENGTH))


def digest_password(password: str, *, salt: bytes) -> bytes:
    """The 32-byte keyed BLAKE2b of a password, however it was typed: case, blanks and dashes do not matter."""
    typed = password.strip().lower().translate(_AS_TYPED)
    return hashlib.blake2b(typed.encode("utf-8", "surrogatepass"), key=salt, digest_size=32).digest()


def opens(typed: str, kept: TemporaryPassword, *, now: datetime) -> bool:
    """Whether what somebody typed is the password that was mailed, and it has not expired. Constant time."""
    is_right = hmac.compare_digest(digest_password(typed, salt=kept.salt), kept.digest)
    return is_right and now < kept.expires_at
