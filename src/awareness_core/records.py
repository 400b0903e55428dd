"""From the plain texts of a caller to a checked `EmployeeRecord`, telling all that is wrong at once.

The one home of the field constraints (reference 2.1): HTTP bodies, roster files and embedding programs all pass here.
It speaks of fields by the names it is given, because callers must read of *their* fields in a message.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from typing import NamedTuple, Protocol

import attrs

from awareness_core.absent import ABSENT, Absent
from awareness_core.emails import MAX_EMAIL_LENGTH, EmailAddress, EmailKey, InvalidEmail, parse_email
from awareness_core.employees import EmployeeId, EmployeeRecord, Presence
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.sectors import SectorReference
from awareness_core.texts import normal_text, text_problem

MAX_LENGTHS: Mapping[str, int] = {
    "email": MAX_EMAIL_LENGTH,
    "last_name": 100,
    "first_name": 100,
    "external_id": 191,
    "job_title": 100,
    "phone": 30,
    "address": 255,
    "sector_name": 150,
    "sector_id": 64,
}
"""Code points after normalisation (reference 2.1)."""

_RULES = b"rules-1"

_PRESENCE: Mapping[bool | Absent | None, Presence] = {
    True: Presence.PRESENT,
    False: Presence.LEAVING,
    None: Presence.UNSTATED,
    ABSENT: Presence.UNSTATED,
}


@attrs.frozen(kw_only=True)
class RawEmployee:
    """An employee's fields as sent: texts of any shape, nothing checked. Types are right, contents may not be."""

    email: str
    last_name: str
    first_name: str
    external_id: str | Absent | None = ABSENT
    job_title: str | Absent | None = ABSENT
    phone: str | Absent | None = ABSENT
    address: str | Absent | None = ABSENT
    sector_name: str | Absent | None = ABSENT
    sector_id: str | Absent | None = ABSENT
    active: bool | Absent | None = ABSENT


@attrs.frozen(kw_only=True)
class InvalidRecord:
    """A record that breaks a constraint, kept in its place among others so that they are not lost with it.

    `external_id` and `email` are as sent. What can be read of them still counts as a mention of that person, so that a
    mistyped line never makes a sync believe that somebody has left.
    """

    faults: tuple[Fault, ...]
    external_id: str | None = None
    email: str = ""


class Glance(Protocol):
    """What a record says at first sight: its fingerprint, and whom it names, as sent and unchecked."""

    @property
    def fingerprint(self) -> bytes:
        """`fingerprint_of` its spelling."""

    @property
    def external_id(self) -> str | None:
        """None when there is none, or it cannot be read."""

    @property
    def email(self) -> str:
        """Empty when it cannot be read."""


class UnchangedPerson(NamedTuple):
    """An active person of whom a record, known by its fingerprint, says nothing new; what an answer needs of them.

    The record names the same external id and address.

    A tuple, as a whole directory of them is made at every sync in which hardly anything has changed.
    """

    id: EmployeeId
    external_id: str | None
    email: str
    email_key: EmailKey


FINGERPRINT_BYTES = 16
_NOTHING_YET = hashlib.blake2b(digest_size=FINGERPRINT_BYTES, person=_RULES)


def fingerprint_of(spelling: bytes) -> bytes:
    """The digest of a record as it was sent, byte by byte; the same bytes said the same before.

    128 bits, so that no two records of any directory share one. `_RULES` changes whenever the same bytes could come to
    mean something else.
    """
    digest = _NOTHING_YET.copy()
    digest.update(spelling)
    return digest.digest()


def check_record(
    raw: RawEmployee, *, names: Mapping[str, str] | None = None, fingerprint: bytes | None = None
) -> EmployeeRecord:
    """The record that `raw` spells, in normal form.

    Raises `ValidationFailed` with every fault. `names` maps this module's field names to the caller's.
    """
    check = _Check(names or {})
    email = check.email(raw.email)
    last_name = check.required("last_name", raw.last_name)
    first_name = check.required("first_name", raw.first_name)
    external_id = check.optional("external_id", raw.external_id)
    job_title = check.optional("job_title", raw.job_title)
    phone = check.optional("phone", raw.phone)
    address = check.optional("address", raw.address)
    sector_name = check.optional("sector_name", raw.sector_name)
    sector_id = check.optional("sector_id", raw.sector_id)
    if check.faults or email is None:
        raise ValidationFailed(check.faults)
    return EmployeeRecord(
        email=email,
        last_name=last_name,
        first_name=first_name,
        external_id=external_id or None,
        job_title=job_title,
        phone=phone,
        address=address,
        sector=_sector_reference(sector_name, sector_id),
        presence=_PRESENCE[raw.active],
        fingerprint=fingerprint,
    )


class _Check:
    """Checks one field after the other and remembers what was wrong."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self.faults: list[Fault] = []

    def email(self, text: str) -> EmailAddress | None:
        """The address, or None after noting why it is none."""
        try:
            return parse_email(text)
        except InvalidEmail as error:
            self._note("email", "invalid_email", f"not an e-mail address: {error}")
            return None

    def required(self, field: str, text: str) -> str:
        """The normal form of a text that must not be blank."""
        normal = normal_text(text)
        if not normal or len(normal) > MAX_LENGTHS[field] or not normal.isprintable():
            self._judge(field, normal, min_length=1)
        return normal

    def optional(self, field: str, text: str | Absent | None) -> str | Absent | None:
        """The normal form of a text that may be absent or cleared; blank clears."""
        if text is ABSENT or text is None:
            return text
        normal = normal_text(text)
        if len(normal) > MAX_LENGTHS[field] or not normal.isprintable():
            self._judge(field, normal, min_length=0)
        return normal or None

    def _judge(self, field: str, normal: str, *, min_length: int) -> None:
        problem = text_problem(normal, min_length=min_length, max_length=MAX_LENGTHS[field])
        if problem is not None:
            self._note(field, problem.code, problem.message)

    def _note(self, field: str, code: str, message: str) -> None:
        self.faults.append(Fault(field=self._names.get(field, field), code=code, message=message))


@functools.lru_cache(maxsize=1024)
def _sector_reference(
    name: str | Absent | None, number: str | Absent | None
) -> SectorReference | Absent | None:
    # Choice (decisions/008): HR exports send the field they do not use as null, so a value beside a null wins;
    # only null alone, or null twice, clears the sector.
    if name or number:
        return SectorReference(id=number or None, name=name or None)
    return ABSENT if name is ABSENT and number is ABSENT else None
