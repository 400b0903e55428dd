"""A company (tenant): its identity and the few policies that the rules read.

Knows nothing of employees or keys; they point at their company by `CompanyId`.
"""

from __future__ import annotations

import enum
from datetime import datetime, timedelta
from typing import NewType

import attrs

CompanyId = NewType("CompanyId", str)
"""UUIDv7 text, opaque to callers (Choice: decisions/002)."""

MAX_COMPANY_NAME = 100

INVITATION_LIFETIME = timedelta(days=7)
"""How long a mailed temporary password opens the door, unless a company says otherwise (Choice: decisions/009)."""


class Language(enum.Enum):
    """The language a company's people are written to in."""

    FRENCH = "fr"
    ENGLISH = "en"


@attrs.frozen(kw_only=True)
class Company:
    """One customer company.

    `sso_domains` are lower-case A-label domains whose people log in through the company's own identity provider.
    `color`, as `#rrggbb`, is what its people know it by; None for the program's own. `created_at` is aware, in UTC.
    """

    id: CompanyId
    name: str
    language: Language = Language.FRENCH
    sso_domains: frozenset[str] = frozenset()
    invitation_lifetime: timedelta = INVITATION_LIFETIME
    color: str | None = None
    created_at: datetime
