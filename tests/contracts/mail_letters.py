"""Letters to send, for the tests of the mailers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import attrs

from awareness_core.employees import EmployeeId
from awareness_core.ports import InvitationLetter
from awareness_core.tenants import Language

NOW = datetime(2026, 11, 21, 7, 45, 12, 345_000, tzinfo=UTC)

LETTER = InvitationLetter(
    employee_id=EmployeeId("0193a1b2-0000-7000-8000-000000000001"),
    company_name="Acme Énergie",
    language=Language.FRENCH,
    email="helene.unal@acme.example",
    first_name="Hélène",
    last_name="Ünal",
    password="7k3mq-x9d2f-0a1bz-w8vtc",
    decided_at=NOW,
    created_at=NOW,
    expires_at=NOW + timedelta(days=7),
)


def letters(count: int) -> list[InvitationLetter]:
    """Letters to `person0@acme.example` and so on, each with a password of its own."""
    return [
        attrs.evolve(
            LETTER,
            employee_id=EmployeeId(f"0193a1b2-0000-7000-8000-{number:012}"),
            email=f"person{number}@acme.example",
            password=f"{number:05}-x9d2f-0a1bz-w8vtc",
        )
        for number in range(count)
    ]


def letter_to(email: str) -> InvitationLetter:
    return attrs.evolve(LETTER, email=email)
