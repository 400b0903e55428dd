"""Passwords that people choose: which are refused, and why. Length and what attackers try first count, nothing else.

There are no rules on digits, capitals or signs: they make people choose `Password1!` (NIST SP 800-63B §3.1.1.2). A
password is compared in NFKC, so that it is the same however a keyboard composes it, and its length is that of NFKC
in code points (Choice: decisions/029). Hashing is a port's business; so is which passwords are common.
"""

from __future__ import annotations

import enum
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import attrs

from awareness_core.early_guesses import is_guessed_early, without_accents
from awareness_core.employees import Employee, EmployeeId
from awareness_core.passwords import TemporaryPassword, digest_password
from awareness_core.tenants import Company
from awareness_core.texts import text_problem

MIN_LENGTH = 12
MAX_LENGTH = 256
"""Far beyond what people type; without an end, hashing would be a way to keep the service busy."""

_LEAST_PERSONAL = 4
"""Shorter names, such as Li or Ann, are inside too many words."""
_WORDS = re.compile(r"[^\W_]+")


class Weakness(enum.Enum):
    """Why a password is refused."""

    CONTROL_CHARACTER = "control_character"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    COMMON = "common"
    PERSONAL = "personal"
    TEMPORARY = "temporary"


@attrs.frozen(kw_only=True)
class ChosenPassword:
    """What is kept of a chosen password: its hash, which says itself how it was made."""

    employee_id: EmployeeId
    hash: str = attrs.field(repr=False)
    changed_at: datetime


def normal_password(typed: str) -> str:
    """What is hashed and compared. Blanks stay, at the ends too: they are part of a password.

    What is longer than any password may be is returned as it is, and so never costs more to normalise.
    """
    if len(typed) > MAX_LENGTH or typed.isascii():
        return typed
    return unicodedata.normalize("NFKC", typed)


def is_hashable(normal: str) -> bool:
    """Whether it may be hashed at all; what is not is nobody's password."""
    return 0 < len(normal) <= MAX_LENGTH and text_problem(normal, max_length=MAX_LENGTH) is None


def is_too_short(normal: str) -> bool:
    """Whether it has too few signs to be looked at any further."""
    return len(normal) < MIN_LENGTH


def weaknesses(
    normal: str,
    *,
    person: Employee,
    company: Company,
    mailed: Iterable[TemporaryPassword],
    is_common: Callable[[str], bool],
) -> Sequence[Weakness]:
    """Everything that is wrong with a new password of that person; nothing when it may be chosen.

    Of one that is too short nothing else is told: a longer one is another one.
    `mailed` are the temporary passwords kept for them. `is_common` is asked about texts in lower case, without accents.
    """
    problem = text_problem(normal, max_length=MAX_LENGTH)
    if problem is not None:
        return [Weakness.TOO_LONG if problem.code == "too_long" else Weakness.CONTROL_CHARACTER]
    if is_too_short(normal):
        return [Weakness.TOO_SHORT]
    found: list[Weakness] = []
    if is_guessed_early(normal, is_common):
        found.append(Weakness.COMMON)
    if _is_personal(normal, person, company):
        found.append(Weakness.PERSONAL)
    if any(digest_password(normal, salt=kept.salt) == kept.digest for kept in mailed):
        found.append(Weakness.TEMPORARY)
    return found


def _is_personal(normal: str, person: Employee, company: Company) -> bool:
    """Whether a name of the person, their address or their company is inside."""
    plain = _plain(normal)
    local, _, domain = person.email.text.partition("@")
    texts = (local, domain.partition(".")[0], person.first_name, person.last_name, company.name)
    words = {_plain(word) for text in texts for word in (*_WORDS.findall(text), text)}
    return any(word in plain for word in words if len(word) >= _LEAST_PERSONAL)


def _plain(text: str) -> str:
    """In lower case, without accents and blanks: Hélène is tried as helene, too."""
    return "".join(without_accents(text.casefold()).split())
