"""Passwords that people choose: hashed with Argon2id, and compared with what everybody chooses."""

from __future__ import annotations

from awareness_passwords.frequent import ListedPasswords
from awareness_passwords.hashing import Argon2Hasher

__all__ = ["Argon2Hasher", "ListedPasswords"]
