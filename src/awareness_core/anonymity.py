"""Who is left when a person was erased: an anonymous recipient, and a mark by which their address is known again.

The recipient's address is random, another one in each campaign, in a domain that no address can be told in. The mark is
a keyed digest: it keeps what is imported again from bringing the person back, and tells nothing without the company's
secret. Whoever has that too can try addresses until one fits (Choice: decisions/028).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NewType

import attrs

from awareness_core.campaigns import Campaign
from awareness_core.emails import EmailAddress, EmailKey

AddressMark = NewType("AddressMark", str)
"""64 hexadecimal digits: one address that was erased from one company."""

SECRET_BYTES = 32
PSEUDONYM_BYTES = 16

# "invalid" is reserved (RFC 2606 §2); `emails.parse_email` refuses it, so nobody is taken for somebody erased.
_DOMAIN = "erased.invalid"


@attrs.frozen(kw_only=True)
class ErasedAddress:
    """An address that somebody had who was erased. Campaigns created up to `until` are without it."""

    mark: AddressMark
    until: datetime


def mark_of(email_key: EmailKey, secret: bytes) -> AddressMark:
    """The mark of an address in the company of that secret."""
    return AddressMark(hashlib.blake2b(email_key.encode(), key=secret, digest_size=32).hexdigest())


def anonymous_address(entropy: bytes) -> EmailAddress:
    """An address that is nobody's, made of `PSEUDONYM_BYTES` random bytes."""
    if len(entropy) != PSEUDONYM_BYTES:
        raise ValueError(f"an anonymous address takes {PSEUDONYM_BYTES} random bytes, not {len(entropy)}")
    text = f"erased-{entropy.hex()}@{_DOMAIN}"
    return EmailAddress(text=text, key=EmailKey(text), domain=_DOMAIN)


def is_anonymous(email: EmailAddress) -> bool:
    """Whether it is nobody's: what is left of somebody erased."""
    return email.domain == _DOMAIN


def is_erased_from(erased: ErasedAddress, campaign: Campaign) -> bool:
    """Whether what the campaign tells of that address is about somebody erased: it was there, or ran, by then.

    Whoever has the address later is told of in later campaigns.
    """
    return min(campaign.created_at, campaign.listed_at) <= erased.until


def marked(email_keys: Iterable[EmailKey], secret: bytes) -> Mapping[AddressMark, EmailKey]:
    """Each address by its mark."""
    return {mark_of(key, secret): key for key in email_keys}
