"""Hashes of passwords by what Python brings, for tests and for programs without Argon2; and very few common ones."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os

from awareness_core.ports import refuse_inside_transaction

_SALT_BYTES = 16
_BLOCK_SIZE, _LANES = 8, 1
_OVERHEAD_BYTES = 64 * 1024


class ScryptHasher:
    """`PasswordHasher` by scrypt (RFC 7914). `cost` is a power of two; a hash takes 1 KiB of memory times it."""

    def __init__(self, *, cost: int = 2**14) -> None:
        self._cost = cost

    async def hash(self, password: str) -> str:
        """See `PasswordHasher`."""
        refuse_inside_transaction("a password was hashed")
        salt = os.urandom(_SALT_BYTES)
        digest = await asyncio.to_thread(_digest, password, salt, self._cost)
        return f"scrypt${self._cost}${salt.hex()}${digest.hex()}"

    async def verify(self, password: str, kept: str | None) -> bool:
        """See `PasswordHasher`."""
        refuse_inside_transaction("a password was hashed")
        _, cost, salt, digest = (kept or f"scrypt${self._cost}$00$00").split("$")
        found = await asyncio.to_thread(_digest, password, bytes.fromhex(salt), int(cost))
        return hmac.compare_digest(found, bytes.fromhex(digest))

    def is_outdated(self, kept: str) -> bool:
        """See `PasswordHasher`."""
        return kept.split("$")[1] != str(self._cost)


class FewPasswords:
    """`FrequentPasswords` that knows what comes first in every list."""

    def holds(self, text: str) -> bool:
        """See `FrequentPasswords`."""
        return text in _FEW


_FEW = frozenset({"azerty", "azertyuiop", "letmein", "motdepasse", "password", "qwerty", "qwertyuiop"})


def _digest(password: str, salt: bytes, cost: int) -> bytes:
    memory = 128 * _BLOCK_SIZE * (cost + _LANES) + _OVERHEAD_BYTES
    return hashlib.scrypt(
        password.encode(), salt=salt, n=cost, r=_BLOCK_SIZE, p=_LANES, maxmem=memory, dklen=32
    )
