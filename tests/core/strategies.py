"""What the property tests of the core draw from.

Alphabets are tiny, so that two draws collide often, and nasty: the characters on which normal forms, case mappings and
key comparisons differ. Everything drawn as a domain value keeps the invariants that the core and the stores promise
each other, unless the name of the strategy says otherwise.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import attrs
from hypothesis import strategies as st

from awareness_core.absent import ABSENT, Absent
from awareness_core.emails import EmailAddress, parse_email
from awareness_core.employees import (
    Employee,
    EmployeeId,
    EmployeeRecord,
    EmployeeState,
    InvitationHistory,
    Presence,
)
from awareness_core.records import RawEmployee
from awareness_core.sectors import Sector, SectorId, SectorReference
from awareness_core.tenants import INVITATION_LIFETIME, Company, CompanyId, Language
from awareness_core.texts import normal_text

NOW = datetime(2026, 3, 31, 8, 0, tzinfo=UTC)
"""The moment at which the tests' stories take place."""

LETTERS = (
    *"abeiksAEIKS",
    "é",
    "e\u0301",  # the same letter, decomposed
    "E\u0301",
    "ß",  # upper-cased "SS", case-folded "ss"
    "ẞ",
    "İ",  # lower-cased to two code points
    "ı",
    "ſ",  # case-folded, but not lower-cased, to "s"
    "\u212a",  # the Kelvin sign, K in NFC
    "\u212b",  # the Angstrom sign, Å in NFC
    "ﬁ",  # case-folded to "fi", never so by NFC
    "ς",
    "Σ",
    "\u1e9b\u0323",  # composes and reorders
    "\U0001d11e",  # outside the Basic Multilingual Plane
)
"""Letters on which two ways of comparing disagree."""

BLANKS = (" ", "\u00a0", "\u2003", "\u3000")
"""White space that trimming removes and that is no control character."""

CONTROLS = (
    "\x00",
    "\t",
    "\n",
    "\r",
    "\x1b",
    "\x7f",
    "\x85",
    "\u2028",
    "\u2029",
    "\u202e",
    "\u2066",
    "\ud800",
    "\udfff",
)
"""What no short text may hold inside."""

LOCAL_PARTS = (
    "a",
    "A",
    "b",
    "ab",
    "a.b",
    "a+b",
    "é",
    "e\u0301",
    "É",
    "ß",
    "ss",
    "ſ",
    "s",
    "İ",
    "i\u0307",
    "o'b",
)
DOMAINS = (
    "x.example",
    "X.Example",
    "y.example",
    "bücher.example",
    "xn--bcher-kva.example",
    "Bu\u0308cher.example",
)
EXTERNAL_IDS = ("1", "2", "a", "A")
NAMES = ("a", "b", "A", "é", "ß", "ss", "İ", "ſ", "Å", "a b")
"""Names in normal form, for the people in whom the name does not matter."""

SECTOR_NAMES = ("Achats", "ACHATS", " achats ", "Straße", "STRASSE", "R  D", "R D", "\u212b", "Å")


def code_points(text: object) -> str:
    """A name for a text in a test's id, where a control character would do harm: `U+0065 U+0301`."""
    return " ".join(f"U+{ord(character):04X}" for character in text) if isinstance(text, str) else repr(text)


def moments() -> st.SearchStrategy[datetime]:
    """Moments around `NOW`, in UTC and whole milliseconds: dense within an hour, sparse over years."""
    near = st.integers(min_value=-3_600_000, max_value=3_600_000)
    far = st.integers(min_value=-100_000_000_000, max_value=100_000_000_000)
    return (near | far).map(lambda milliseconds: NOW + timedelta(milliseconds=milliseconds))


def any_moments() -> st.SearchStrategy[datetime]:
    """Any moment that Python can tell, in UTC and whole milliseconds."""
    return st.datetimes(timezones=st.just(UTC)).map(
        lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    )


def hostile_texts(*, max_size: int | None = None) -> st.SearchStrategy[str]:
    """Anything a Python string can hold: controls, lone surrogates, blanks, decomposed letters."""
    return st.lists(
        st.sampled_from((*LETTERS, *BLANKS, *CONTROLS)), max_size=12 if max_size is None else max_size
    ).map("".join) | st.text(st.characters(exclude_categories=()), max_size=max_size)


def plain_texts(*, min_size: int = 0, max_size: int = 12) -> st.SearchStrategy[str]:
    """Texts that no rule refuses for a character: tricky letters and blanks, not yet in normal form."""
    return st.lists(
        st.sampled_from((*LETTERS, *BLANKS, "-", "'", "=", "+", "@")), min_size=min_size, max_size=max_size
    ).map("".join)


def normal_texts(*, max_size: int = 12) -> st.SearchStrategy[str]:
    """Non-blank texts in normal form."""
    return plain_texts(min_size=1, max_size=max_size).map(normal_text).filter(bool)


def names() -> st.SearchStrategy[str]:
    """Names in normal form out of a small set."""
    return st.sampled_from(NAMES)


def email_texts() -> st.SearchStrategy[str]:
    """Addresses as people type them, all valid; many spell the same mailbox."""
    return st.builds(
        lambda local, domain, before, after: f"{before}{local}@{domain}{after}",
        st.sampled_from(LOCAL_PARTS),
        st.sampled_from(DOMAINS),
        st.sampled_from(("", "", " ")),
        st.sampled_from(("", "", "\u00a0")),
    )


def emails() -> st.SearchStrategy[EmailAddress]:
    """Checked addresses out of a small set, so that collisions are common."""
    return email_texts().map(parse_email)


def few_emails(count: int = 4) -> st.SearchStrategy[EmailAddress]:
    """One of `count` distinct mailboxes, for tests in which people meet on purpose."""
    return st.sampled_from([parse_email(f"{letter}@x.example") for letter in "abcdefghij"[:count]])


def external_ids() -> st.SearchStrategy[str]:
    """External ids out of a small set that tells lower from upper case."""
    return st.sampled_from(EXTERNAL_IDS)


def employee_ids() -> st.SearchStrategy[EmployeeId]:
    """Employee ids out of a small set."""
    return st.integers(min_value=1, max_value=9).map(numbered_id)


def numbered_id(number: int) -> EmployeeId:
    """The employee id that spells `number`; ids sort as their numbers do."""
    return EmployeeId(f"01950000-0000-7000-8000-{number:012d}")


def optional(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str | Absent | None]:
    """A text, "clear it", or "leave it"."""
    return st.sampled_from((ABSENT, None)) | texts


def sector_references() -> st.SearchStrategy[SectorReference]:
    """References by number, by name, or by both; numbers may be unknown or misspelt."""
    numbers = st.sampled_from(("1", "2", "3", "9", "01", "١", "-1", "x"))
    names = st.sampled_from(SECTOR_NAMES).map(normal_text)
    return (
        st.builds(SectorReference, id=numbers)
        | st.builds(SectorReference, name=names)
        | st.builds(SectorReference, id=numbers, name=names)
    )


def sectors() -> st.SearchStrategy[list[Sector]]:
    """The sectors of one company: ids and keys are unique, names as first spelt."""
    return st.lists(
        st.builds(
            Sector,
            id=st.integers(min_value=1, max_value=4).map(SectorId),
            name=st.sampled_from(SECTOR_NAMES).map(lambda name: " ".join(normal_text(name).split())),
        ),
        max_size=4,
        unique_by=(lambda sector: sector.id, lambda sector: sector.key),
    )


def raw_employees() -> st.SearchStrategy[RawEmployee]:
    """Fields as sent, right or wrong."""
    texts = hostile_texts()
    fields = optional(st.just("") | plain_texts() | texts)
    return st.builds(
        RawEmployee,
        email=email_texts() | texts,
        last_name=plain_texts() | texts,
        first_name=plain_texts() | texts,
        external_id=optional(external_ids()) | fields,
        job_title=fields,
        phone=fields,
        address=fields,
        sector_name=optional(st.sampled_from(SECTOR_NAMES)) | fields,
        sector_id=optional(st.sampled_from(("1", "2"))) | fields,
        active=st.sampled_from((ABSENT, None, True, False)),
    )


def records(
    *,
    emails: st.SearchStrategy[EmailAddress] | None = None,
    external_ids: st.SearchStrategy[str] | None = None,
    sectors: st.SearchStrategy[SectorReference] | None = None,
) -> st.SearchStrategy[EmployeeRecord]:
    """Records as `check_record` makes them."""
    texts = st.sampled_from((ABSENT, None, *NAMES[:4]))
    return st.builds(
        EmployeeRecord,
        email=few_emails() if emails is None else emails,
        last_name=names(),
        first_name=names(),
        external_id=st.none() | (st.sampled_from(EXTERNAL_IDS) if external_ids is None else external_ids),
        job_title=texts,
        phone=texts,
        address=texts,
        sector=st.sampled_from((ABSENT, None)) | (sector_references() if sectors is None else sectors),
        presence=st.sampled_from(Presence),
    )


def employees(
    *,
    ids: st.SearchStrategy[EmployeeId] | None = None,
    emails: st.SearchStrategy[EmailAddress] | None = None,
    external_ids: st.SearchStrategy[str | None] | None = None,
    sector_ids: st.SearchStrategy[SectorId | None] | None = None,
    states: tuple[EmployeeState, ...] = tuple(EmployeeState),
) -> st.SearchStrategy[Employee]:
    """People as a store may hold them.

    An archived person has neither a password nor a live invitation; a password needs a first login and ends the
    invitation; what was sent was attempted.
    """
    return st.builds(
        _employee,
        employee_id=employee_ids() if ids is None else ids,
        external_id=st.sampled_from((None, *EXTERNAL_IDS)) if external_ids is None else external_ids,
        email=few_emails() if emails is None else emails,
        last_name=names(),
        first_name=names(),
        details=st.sampled_from(_DETAILS),
        sector_id=_SECTOR_IDS if sector_ids is None else sector_ids,
        standing=st.sampled_from([standing for standing in _STANDINGS if standing[0] in states]),
        invitation=invitation_histories(),
        since=moments(),
    )


def _employee(
    *,
    employee_id: EmployeeId,
    external_id: str | None,
    email: EmailAddress,
    last_name: str,
    first_name: str,
    details: tuple[str | None, str | None, str | None],
    sector_id: SectorId | None,
    standing: tuple[EmployeeState, bool, bool],
    invitation: InvitationHistory,
    since: datetime,
) -> Employee:
    state, has_logged_in, has_password = standing
    is_active = state is EmployeeState.ACTIVE
    job_title, phone, address = details
    awaits_access = is_active and not has_password
    return Employee(
        id=employee_id,
        external_id=external_id,
        email=email,
        last_name=last_name,
        first_name=first_name,
        job_title=job_title,
        phone=phone,
        address=address,
        sector_id=sector_id,
        state=state,
        first_login_at=since + timedelta(days=1) if has_logged_in else None,
        has_password=has_password,
        invitation=invitation if awaits_access else attrs.evolve(invitation, live_until=None),
        created_at=since,
        updated_at=since + timedelta(days=3),
        archived_at=None if is_active else since + timedelta(days=2),
    )


_STANDINGS = (
    (EmployeeState.ACTIVE, False, False),
    (EmployeeState.ACTIVE, True, True),
    (EmployeeState.ACTIVE, True, False),
    (EmployeeState.ARCHIVED, False, False),
    (EmployeeState.ARCHIVED, True, False),
)
"""Who may exist: the state, whether they have logged in once, whether they have a password."""

_DETAILS = ((None, None, None), ("a", None, None), (None, "a", "b"), ("a", "b", "a"), ("b", "a", "b"))
_SECTOR_IDS = st.sampled_from((None, *(SectorId(number) for number in range(1, 5))))


def invitation_histories() -> st.SearchStrategy[InvitationHistory]:
    """Never invited, attempted in vain, mailed, or mailed and attempted again.

    Dates are near `NOW` or far from it, and also after it, as a clock set wrong makes them; the limits of the rules
    that read them are drawn often.
    """
    return st.builds(_history, _ATTEMPTS, st.sampled_from(_SENT_BEFORE), st.sampled_from(_LIFETIMES))


def _history(
    attempted_before: timedelta | None, sent_before: timedelta | None, lifetime: timedelta | None
) -> InvitationHistory:
    if attempted_before is None:
        return InvitationHistory()
    attempt = NOW - attempted_before
    if sent_before is None:
        return InvitationHistory(last_attempt_at=attempt)
    sent = attempt - sent_before
    return InvitationHistory(
        last_attempt_at=attempt, last_sent_at=sent, live_until=None if lifetime is None else sent + lifetime
    )


_TICK = timedelta(milliseconds=1)
_QUARTER = timedelta(minutes=15)
_ATTEMPTS = st.sampled_from(
    (
        None,
        timedelta(0),
        _QUARTER - _TICK,
        _QUARTER,
        _QUARTER + _TICK,
        timedelta(days=7),
        timedelta(days=40),
        -_TICK,
    )
) | st.integers(min_value=0, max_value=3_600_000).map(
    lambda milliseconds: timedelta(milliseconds=milliseconds)
)
_SENT_BEFORE = (None, timedelta(0), _QUARTER, timedelta(days=1))
_LIFETIMES = (None, timedelta(days=7), timedelta(days=7) + _TICK, timedelta(minutes=15))


def archived_before_now(person: Employee) -> Employee:
    """Nobody was archived in the future, or they would be the most recently archived for ever."""
    if person.archived_at is None or person.archived_at < NOW:
        return person
    return attrs.evolve(person, archived_at=NOW - (person.archived_at - NOW) - timedelta(milliseconds=1))


def directories(*, max_size: int = 6) -> st.SearchStrategy[list[Employee]]:
    """The people of one company as a store keeps them, in any order.

    Ids and external ids are unique, and at most one active person holds an address.
    """
    return st.lists(
        employees(),
        max_size=max_size,
        unique_by=(
            lambda person: person.id,
            lambda person: ("none", person.id) if person.external_id is None else ("is", person.external_id),
            lambda person: ("held", person.email.key) if person.is_active else ("free", person.id),
        ),
    )


def companies() -> st.SearchStrategy[Company]:
    """Companies with and without an identity provider of their own."""
    return st.builds(
        Company,
        id=st.just(CompanyId("01950000-0000-7000-9000-000000000001")),
        name=normal_texts(),
        language=st.sampled_from(Language),
        sso_domains=st.frozensets(st.sampled_from(("x.example", "y.example", "xn--bcher-kva.example"))),
        invitation_lifetime=st.sampled_from((INVITATION_LIFETIME, timedelta(minutes=1), timedelta(days=30))),
        created_at=moments(),
    )


PERSON = Employee(
    id=numbered_id(1),
    email=parse_email("a@x.example"),
    last_name="b",
    first_name="a",
    created_at=NOW,
    updated_at=NOW,
)
"""An active person of whom nothing else is known, for examples to evolve."""

COMPANY = Company(id=CompanyId("01950000-0000-7000-9000-000000000001"), name="c", created_at=NOW)
"""A company with every policy at its default, for examples to evolve."""
