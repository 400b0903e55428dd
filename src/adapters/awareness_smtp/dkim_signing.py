"""DKIM: a signature by which a receiver sees that a mail is from its sender's domain (RFC 6376).

For mail servers that do not sign by themselves. The public half of the key stands in the domain's DNS, under the
selector.
"""

from __future__ import annotations

import re
from typing import Final

import attrs
import dkim
from dkim.crypto import UnparsableKeyError, parse_pem_private_key

from awareness_smtp.mail_settings import InvalidMailSetting

_SIGNED: Final = (
    b"From",
    b"To",
    b"Subject",
    b"Date",
    b"Message-ID",
    b"MIME-Version",
    b"Content-Type",
    b"Content-Language",
    b"Auto-Submitted",
    # Said once more than it is there, so that nobody can add another.
    b"From",
    b"Subject",
)
_RELAXED: Final = (b"relaxed", b"relaxed")
_LEAST_BITS: Final = 1024
_SELECTOR: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*", re.ASCII)


@attrs.frozen(kw_only=True)
class DkimKey:
    """A private key and the name under which the domain shows its public half."""

    selector: str
    pem: bytes = attrs.field(repr=False)


def parse_dkim_selector(text: str) -> str:
    """A selector in lower case. Raises `InvalidMailSetting`."""
    name = text.strip().lower()
    if _SELECTOR.fullmatch(name) is None:
        raise InvalidMailSetting("the DKIM selector must be a label of DNS, such as awareness2026")
    return name


def parse_dkim_key(pem: str, *, selector: str) -> DkimKey:
    """The key in a PEM text, RSA of 1024 bits or more. Raises `InvalidMailSetting`, whose message holds none of it."""
    name = parse_dkim_selector(selector)
    encoded = pem.strip().encode("utf-8", "replace")
    try:
        modulus = parse_pem_private_key(encoded)["modulus"]
    except (UnparsableKeyError, ValueError, LookupError, TypeError):
        raise InvalidMailSetting(
            "the DKIM key must be an RSA private key in PEM; openssl genrsa 2048 makes one"
        ) from None
    if modulus.bit_length() < _LEAST_BITS:
        raise InvalidMailSetting(f"the DKIM key must have {_LEAST_BITS} bits or more, better 2048")
    return DkimKey(selector=name, pem=encoded)


def signed(content: bytes, key: DkimKey, *, domain: str) -> bytes:
    """The message with a signature of `domain` before it. Takes milliseconds of computing: not for an event loop."""
    there = {line.partition(b":")[0].lower() for line in content.partition(b"\r\n\r\n")[0].split(b"\r\n")}
    signature: bytes = dkim.sign(
        content,
        key.selector.encode("ascii"),
        domain.encode("ascii"),
        key.pem,
        canonicalize=_RELAXED,
        include_headers=[name for name in _SIGNED if name.lower() in there],
    )
    return signature + content
