"""A letter of access with a new temporary password, and what is kept of that password."""

from __future__ import annotations

from datetime import datetime

from awareness_core.clock_ports import Entropy
from awareness_core.employees import Employee
from awareness_core.passwords import (
    ENTROPY_BYTES,
    SALT_BYTES,
    TemporaryPassword,
    digest_password,
    spell_password,
)
from awareness_core.ports import InvitationLetter
from awareness_core.tenants import Company


def new_letter(
    entropy: Entropy, person: Employee, company: Company, *, decided_at: datetime, now: datetime
) -> tuple[TemporaryPassword, InvitationLetter]:
    """What to keep, and what to mail, of an invitation decided on at `decided_at`."""
    expires_at = now + company.invitation_lifetime
    text = spell_password(entropy.take(ENTROPY_BYTES))
    salt = entropy.take(SALT_BYTES)
    password = TemporaryPassword(
        employee_id=person.id,
        salt=salt,
        digest=digest_password(text, salt=salt),
        created_at=now,
        expires_at=expires_at,
    )
    letter = InvitationLetter(
        employee_id=person.id,
        company_name=company.name,
        company_color=company.color,
        language=company.language,
        email=person.email.text,
        first_name=person.first_name,
        last_name=person.last_name,
        password=text,
        decided_at=decided_at,
        created_at=now,
        expires_at=expires_at,
    )
    return password, letter
