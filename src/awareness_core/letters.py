"""A letter of access with a new temporary password, and what is kept of that password and of the attempt to mail it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from awareness_core.clock_ports import Entropy
from awareness_core.employees import Employee, EmployeeId
from awareness_core.invitations import last_attempts
from awareness_core.passwords import (
    ENTROPY_BYTES,
    SALT_BYTES,
    TemporaryPassword,
    digest_password,
    spell_password,
)
from awareness_core.ports import Delivery, InvitationLetter, Transaction
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


async def note_outcomes(
    transaction: Transaction, told: Sequence[tuple[TemporaryPassword, Delivery]], *, ended_at: datetime
) -> None:
    """Keep what became of letters made at one moment, in the order of mailing: who was reached, and whose turn came."""
    await transaction.record_deliveries([password for password, delivery in told if delivery.accepted])
    failed = [(password, delivery.tried) for password, delivery in told if not delivery.accepted]
    if failed:
        began_at = failed[0][0].created_at
        moments = last_attempts([tried for _, tried in failed], began_at=began_at, ended_at=ended_at)
        await transaction.record_failures(
            [(password, moment) for (password, _), moment in zip(failed, moments, strict=True)]
        )


async def readdressed(
    transaction: Transaction, employee_ids: Collection[EmployeeId]
) -> frozenset[EmployeeId]:
    """Whose address changed while their mail was under way, of people whose attempt was noted before that.

    What was mailed opens nothing. A change back to the same address counts too.
    """
    people = await transaction.employees_by_id(employee_ids)
    return frozenset(person.id for person in people if person.invitation.last_attempt_at is None)
