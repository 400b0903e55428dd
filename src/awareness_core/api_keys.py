"""API keys: how they are spelt, the states they go through, what they may do.

A key reads `awk_<11 base62: public id>_<43 base62: 256 bits of secret><6 base62: CRC-32 of all before it>`. The
checksum lets a mistyped key be refused without a look-up; it proves nothing. Stores keep the SHA-256 of the secret:
256 random bits need no slow hash. This module never sees a clock or a random source; both are arguments.
"""

from __future__ import annotations

import enum
import hashlib
import hmac
import re
import zlib
from datetime import datetime, timedelta
from typing import NewType

import attrs

from awareness_core.errors import ApiKeyInvalid, InsufficientScope
from awareness_core.tenants import CompanyId

ApiKeyId = NewType("ApiKeyId", str)
"""UUIDv7 text: the identifier callers see (`api_key_id`)."""

PublicId = NewType("PublicId", str)
"""The 11 base62 characters inside the key by which it is looked up. Not a secret."""

SECRET_BYTES = 32
PUBLIC_ID_ENTROPY_BYTES = 8
MAX_KEY_NAME = 100
PUBLIC_ID_LENGTH = 11
LAST_USED_RESOLUTION = timedelta(minutes=1)
"""`last_used_at` is written at most once in this time, so that reading never becomes a write per request."""

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_LENGTH = 43
_CHECKSUM_LENGTH = 6
_SHAPE = re.compile(
    rf"awk_([0-9A-Za-z]{{{PUBLIC_ID_LENGTH}}})_([0-9A-Za-z]{{{_SECRET_LENGTH}}})([0-9A-Za-z]{{6}})"
)
_DUMMY_DIGEST = hashlib.sha256(b"no key has this secret").digest()


class Scope(enum.Enum):
    """What a key may do. The first four are the reference's (5.4), the others Choice (decisions/005)."""

    WRITE_EMPLOYEES = "write:employees"
    READ_RESULTS = "read:results"
    READ_SCORES = "read:scores"
    READ_TRAININGS = "read:trainings"
    READ_EMPLOYEES = "read:employees"
    ERASE_EMPLOYEES = "erase:employees"
    WRITE_RESULTS = "write:results"
    WRITE_TRAININGS = "write:trainings"
    READ_EVENTS = "read:events"


class ApiKeyState(enum.Enum):
    """Derived from the dates, never stored."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


@attrs.frozen(kw_only=True)
class ApiKey:
    """What a store keeps of a key. `secret_digest` is the 32-byte SHA-256 of the secret; all times are UTC."""

    id: ApiKeyId
    company_id: CompanyId
    public_id: PublicId
    secret_digest: bytes = attrs.field(repr=False)
    name: str
    scopes: frozenset[Scope]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    def state(self, now: datetime) -> ApiKeyState:
        """Revocation outlasts expiry: a revoked key stays `revoked` after its expiry date."""
        if self.revoked_at is not None:
            return ApiKeyState.REVOKED
        if self.expires_at is not None and now >= self.expires_at:
            return ApiKeyState.EXPIRED
        return ApiKeyState.ACTIVE

    def use_is_worth_recording(self, now: datetime) -> bool:
        """Whether `last_used_at` is older than `LAST_USED_RESOLUTION`."""
        return self.last_used_at is None or now - self.last_used_at >= LAST_USED_RESOLUTION


@attrs.frozen(kw_only=True)
class PresentedKey:
    """A key as a caller sent it: well spelt, not yet known to be anyone's."""

    public_id: PublicId
    secret: str = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Caller:
    """Who is calling, once their key has been checked: the tenant and what the key may do there."""

    company_id: CompanyId
    api_key_id: ApiKeyId
    scopes: frozenset[Scope]


def mint_key(*, public_id: PublicId, secret: bytes) -> PresentedKey:
    """A new key out of `SECRET_BYTES` random bytes."""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"an API key's secret has {SECRET_BYTES} bytes, not {len(secret)}")
    return PresentedKey(public_id=public_id, secret=base62(int.from_bytes(secret), length=_SECRET_LENGTH))


def spell_key(key: PresentedKey) -> str:
    """The text of a key, to be shown once; `parse_key` reads it back."""
    body = f"awk_{key.public_id}_{key.secret}"
    return body + _checksum(body)


def public_id_from(randomness: bytes) -> PublicId:
    """A public id from `PUBLIC_ID_ENTROPY_BYTES` random bytes."""
    if len(randomness) != PUBLIC_ID_ENTROPY_BYTES:
        raise ValueError(f"a public id takes {PUBLIC_ID_ENTROPY_BYTES} random bytes, not {len(randomness)}")
    return PublicId(base62(int.from_bytes(randomness), length=PUBLIC_ID_LENGTH))


def parse_key(text: str) -> PresentedKey | None:
    """The key that `text` spells, or None when its shape or its checksum is wrong."""
    shape = _SHAPE.fullmatch(text)
    if shape is None or not hmac.compare_digest(_checksum(text[:-_CHECKSUM_LENGTH]), shape[3]):
        return None
    return PresentedKey(public_id=PublicId(shape[1]), secret=shape[2])


def digest_secret(secret: str) -> bytes:
    """What a store keeps of the secret: its SHA-256, 32 bytes."""
    return hashlib.sha256(secret.encode("ascii")).digest()


def authenticate(presented: PresentedKey, stored: ApiKey | None, *, now: datetime) -> Caller:
    """The caller behind a key, or `ApiKeyInvalid`.

    An unknown key (`stored` is None) costs the same hash and the same comparison as a known one, so that the time to
    answer does not tell which public ids exist.
    """
    expected = _DUMMY_DIGEST if stored is None else stored.secret_digest
    secret_is_right = hmac.compare_digest(digest_secret(presented.secret), expected)
    if stored is None or not secret_is_right or stored.state(now) is not ApiKeyState.ACTIVE:
        raise ApiKeyInvalid
    return Caller(company_id=stored.company_id, api_key_id=stored.id, scopes=stored.scopes)


def authorise(caller: Caller, scope: Scope) -> None:
    """Nothing, or `InsufficientScope` naming `scope`."""
    if scope not in caller.scopes:
        raise InsufficientScope(scope.value)


def base62(number: int, *, length: int) -> str:
    """`number` (not negative) in base 62, padded with zeros to `length` digits."""
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    if number:
        raise ValueError(f"the number does not fit in {length} base-62 digits")
    return "".join(reversed(digits))


def _checksum(body: str) -> str:
    return base62(zlib.crc32(body.encode("ascii")), length=_CHECKSUM_LENGTH)
