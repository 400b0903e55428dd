"""E-mail addresses: their normal form, and the key by which two spellings are one mailbox.

The normal form (what is stored and mailed) is email-validator's, without a DNS look-up. The key is
NFC(lower(NFC(local))) + "@" + lower(A-label domain). It never strips dots or `+tags` and never case-folds, as those
would merge mailboxes that are two people's at some providers (Choice: decisions/003). The database compares keys only;
it is never asked to lower-case anything itself.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import NewType

import attrs
from email_validator import EmailNotValidError, validate_email
from email_validator.rfc_constants import CASE_INSENSITIVE_MAILBOX_NAMES

from awareness_core.texts import normal_text

EmailKey = NewType("EmailKey", str)

MAX_EMAIL_LENGTH = 254
"""RFC 5321 §4.5.3.1.3 less the angle brackets of a path."""

_MAX_LOCAL = 64
_PLAIN_LOCAL = re.compile(r"[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*")


@attrs.frozen
class EmailAddress:
    """A checked address. `text` is its normal form, `key` compares mailboxes, `domain` is the lower-case A-label."""

    text: str
    key: EmailKey
    domain: str

    def __str__(self) -> str:
        return self.text


class InvalidEmail(ValueError):
    """The text is no address that mail could be sent to. The message says why."""


def parse_email(text: str) -> EmailAddress:
    """The address that `text` spells.

    Raises `InvalidEmail`. Outer white space is trimmed first, as it is in every other text.
    """
    trimmed = normal_text(text)
    if len(trimmed) > MAX_EMAIL_LENGTH:
        raise InvalidEmail(f"has {len(trimmed)} characters; at most {MAX_EMAIL_LENGTH} are allowed")
    return _parse_plain(trimmed) or _parse_any(trimmed)


class InvalidDomain(ValueError):
    """The text is no domain that addresses could have. The message says why."""


def parse_domain(text: str) -> str:
    """The lower-case A-label of a domain, as in `EmailAddress.domain`. Raises `InvalidDomain`."""
    trimmed = normal_text(text).removeprefix("@")
    try:
        return parse_email(f"someone@{trimmed}").domain
    except InvalidEmail as error:
        # The library speaks of an address, by the sign that stands before its domain.
        raise InvalidDomain(f"not a domain like example.com: {_of_a_domain(str(error))}") from error


def _of_a_domain(reason: str) -> str:
    reason = reason.replace("The part after the @-sign", "it").replace(
        "immediately after the @-sign", "first"
    )
    return reason.replace("after the @-sign", "in it").replace("An email address", "it")


def _parse_any(text: str) -> EmailAddress:
    try:
        valid = validate_email(text, check_deliverability=False, strict=True)
    except EmailNotValidError as error:
        raise InvalidEmail(str(error)) from error
    domain = valid.ascii_domain.lower()
    return EmailAddress(text=valid.normalized, key=_key(valid.local_part, domain), domain=domain)


def _parse_plain(text: str) -> EmailAddress | None:
    """What `_parse_any` gives, or None where only it can tell.

    The people of a company share few domains, and nearly every local part is a plain ASCII dot-atom. Remembering what
    the validator said of a domain makes reading a directory ten times faster.
    """
    local, _, domain = text.rpartition("@")
    lowered = local.lower()
    if (
        len(local) > _MAX_LOCAL
        or not _PLAIN_LOCAL.fullmatch(local)
        or lowered in CASE_INSENSITIVE_MAILBOX_NAMES
    ):
        return None
    plain_domain = _plain_domain(domain)
    if plain_domain is None:
        return None
    return EmailAddress(
        text=f"{local}@{plain_domain}", key=EmailKey(f"{lowered}@{plain_domain}"), domain=plain_domain
    )


@functools.lru_cache(maxsize=4096)
def _plain_domain(domain: str) -> str | None:
    """The normal form of a domain that is ASCII in every form, or None.

    The others are longer in bytes than in characters, and the validator limits the bytes of the whole address.
    """
    try:
        valid = validate_email(f"a@{domain}", check_deliverability=False, strict=True)
    except EmailNotValidError:
        return None
    return valid.domain if domain.isascii() and valid.domain.isascii() else None


def _key(local_part: str, domain: str) -> EmailKey:
    lowered = unicodedata.normalize("NFC", local_part).lower()
    return EmailKey(f"{unicodedata.normalize('NFC', lowered)}@{domain}")
