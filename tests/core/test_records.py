"""From plain texts to a checked record: every constraint at its limits, all faults at once, in the caller's words."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.absent import ABSENT, Absent
from awareness_core.emails import InvalidEmail, parse_email
from awareness_core.employees import EmployeeRecord, Presence
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.records import (
    FINGERPRINT_BYTES,
    MAX_LENGTHS,
    InvalidRecord,
    RawEmployee,
    check_record,
    fingerprint_of,
)
from awareness_core.sectors import SectorReference
from awareness_core.texts import normal_text, text_problem
from tests.core.strategies import code_points, email_texts, optional, plain_texts, raw_employees

REQUIRED = ("last_name", "first_name")
OPTIONAL = ("external_id", "job_title", "phone", "address", "sector_name", "sector_id")
LIMITS = {
    "last_name": 100,
    "first_name": 100,
    "external_id": 191,
    "job_title": 100,
    "phone": 30,
    "address": 255,
    "sector_name": 150,
    "sector_id": 64,
}
"""The reference's lengths, in code points; those of sector fields are a choice."""

LETTERS = st.sampled_from(("a", "é", "e\u0301", "e\u0302\u0301", "\U0001d11e"))
"""Each is one code point once composed, in one to four bytes."""

RAW = RawEmployee(email="ana@x.example", last_name="B", first_name="Ana")


def test_the_limits_are_the_references() -> None:
    assert {"email": 254, **LIMITS} == dict(MAX_LENGTHS)


@pytest.mark.parametrize("field", LIMITS)
@given(letter=LETTERS, blanks=st.sampled_from(("", " ", "\u3000")))
def test_a_text_may_be_as_long_as_its_limit_once_composed_and_trimmed(
    field: str, letter: str, blanks: str
) -> None:
    text = blanks + letter * LIMITS[field] + blanks

    record = check_record(_with(field, text))

    assert unicodedata.normalize("NFC", letter) * LIMITS[field] == _sent(record, field)


@pytest.mark.parametrize("field", LIMITS)
@given(letter=LETTERS)
def test_a_text_one_character_longer_is_refused(field: str, letter: str) -> None:
    length = LIMITS[field] + 1

    faults = _faults(_with(field, letter * length))

    assert [
        Fault(
            field=field,
            code="too_long",
            message=f"has {length} characters; at most {LIMITS[field]} are allowed",
        )
    ] == faults


@pytest.mark.parametrize("field", REQUIRED)
@pytest.mark.parametrize("blank", ["", " ", "\u3000", "\t\r\n", "\u200b", "\u3164 \u200d"], ids=code_points)
def test_a_required_text_must_not_be_blank(field: str, blank: str) -> None:
    assert [("too_short", field)] == [(fault.code, fault.field) for fault in _faults(_with(field, blank))]


@pytest.mark.parametrize("field", LIMITS)
def test_one_character_is_enough(field: str) -> None:
    assert "1" == _sent(check_record(_with(field, "1")), field)


@pytest.mark.parametrize("field", LIMITS)
@pytest.mark.parametrize("control", ["\x00", "\n", "\x7f", "\u2028", "\u202e", "\ud800"], ids=code_points)
def test_a_control_character_is_refused_in_every_field(field: str, control: str) -> None:
    faults = _faults(_with(field, f"a{control}b"))

    assert [("control_character", field)] == [(fault.code, fault.field) for fault in faults]


@pytest.mark.parametrize("blank", [None, "", " ", "\u3000", "\u200b"], ids=code_points)
@pytest.mark.parametrize("field", ["job_title", "phone", "address"])
def test_null_and_blank_clear_an_optional_text(field: str, blank: str | None) -> None:
    assert getattr(check_record(_with(field, blank)), field) is None


@pytest.mark.parametrize("field", ["job_title", "phone", "address", "sector"])
def test_an_optional_field_not_sent_is_absent(field: str) -> None:
    assert getattr(check_record(RAW), field) is ABSENT


@pytest.mark.parametrize("blank", [ABSENT, None, "", " "], ids=repr)
def test_an_external_id_is_never_cleared(blank: str | Absent | None) -> None:
    assert check_record(_with("external_id", blank)).external_id is None


def test_a_text_that_looks_like_a_formula_is_kept() -> None:
    assert "=1+1" == check_record(_with("job_title", "=1+1")).job_title


@pytest.mark.parametrize(
    ("active", "presence"),
    [
        (True, Presence.PRESENT),
        (False, Presence.LEAVING),
        (None, Presence.UNSTATED),
        (ABSENT, Presence.UNSTATED),
    ],
    ids=repr,
)
def test_active_tells_presence(active: bool | Absent | None, presence: Presence) -> None:  # noqa: FBT001
    assert presence == check_record(attrs.evolve(RAW, active=active)).presence


@pytest.mark.parametrize(
    ("name", "number", "expected"),
    [
        (ABSENT, ABSENT, ABSENT),
        (None, ABSENT, None),
        (ABSENT, None, None),
        (None, None, None),
        ("", ABSENT, None),
        (" ", " ", None),
        ("A", ABSENT, SectorReference(name="A")),
        ("A", None, SectorReference(name="A")),
        (" A ", "", SectorReference(name="A")),
        (ABSENT, "1", SectorReference(id="1")),
        (None, "1", SectorReference(id="1")),
        ("", " 1 ", SectorReference(id="1")),
        ("A", "1", SectorReference(id="1", name="A")),
    ],
    ids=repr,
)
def test_a_sector_is_named_by_what_is_not_blank_and_cleared_when_all_that_is_sent_is(
    name: str | Absent | None, number: str | Absent | None, expected: SectorReference | Absent | None
) -> None:
    assert expected == check_record(attrs.evolve(RAW, sector_name=name, sector_id=number)).sector


@given(raw_employees())
def test_a_record_passes_exactly_when_every_field_does(raw: RawEmployee) -> None:
    expected = {
        field for field in ("email", *REQUIRED, *OPTIONAL) if not _is_right(field, getattr(raw, field))
    }

    assert expected == {fault.field for fault in _faults(raw)}


@given(raw_employees())
def test_each_field_is_told_at_most_once_and_in_the_order_of_the_record(raw: RawEmployee) -> None:
    told = [fault.field for fault in _faults(raw)]

    assert told == [field for field in ("email", *REQUIRED, *OPTIONAL) if field in told]


@given(
    raw_employees(), st.dictionaries(st.sampled_from(("email", *REQUIRED, *OPTIONAL)), st.text(max_size=3))
)
def test_faults_speak_of_fields_by_the_callers_names(raw: RawEmployee, names: Mapping[str, str]) -> None:
    expected = [attrs.evolve(fault, field=names.get(fault.field, fault.field)) for fault in _faults(raw)]

    assert expected == _faults(raw, names=names)


@given(st.builds(attrs.evolve, st.just(RAW), email=email_texts(), job_title=optional(plain_texts())))
def test_composed_and_decomposed_spellings_give_one_record(raw: RawEmployee) -> None:
    composed, decomposed = (
        attrs.evolve(
            raw,
            email=unicodedata.normalize(form, raw.email),
            job_title=unicodedata.normalize(form, raw.job_title)
            if isinstance(raw.job_title, str)
            else raw.job_title,
        )
        for form in ("NFC", "NFD")
    )

    assert check_record(composed) == check_record(decomposed)


@given(raw_employees())
def test_a_checked_record_is_in_normal_form_and_passes_again(raw: RawEmployee) -> None:
    record = _record(raw)
    if record is None:
        return
    sector = record.sector or SectorReference()

    again = check_record(
        RawEmployee(
            email=record.email.text,
            last_name=record.last_name,
            first_name=record.first_name,
            external_id=record.external_id,
            job_title=record.job_title,
            phone=record.phone,
            address=record.address,
            sector_name=ABSENT if record.sector is ABSENT else sector.name,
            sector_id=ABSENT if record.sector is ABSENT else sector.id,
            active={Presence.PRESENT: True, Presence.LEAVING: False, Presence.UNSTATED: None}[
                record.presence
            ],
        )
    )

    assert record == again


def test_all_faults_of_a_record_are_told_at_once() -> None:
    raw = RawEmployee(
        email="nobody",
        last_name="",
        first_name="\x00",
        external_id="e" * 192,
        job_title="j" * 101,
        phone="0" * 31,
        address="a" * 256,
        sector_name="s" * 151,
        sector_id="1" * 65,
    )

    assert [
        ("email", "invalid_email"),
        ("last_name", "too_short"),
        ("first_name", "control_character"),
        *((field, "too_long") for field in OPTIONAL),
    ] == [(fault.field, fault.code) for fault in _faults(raw)]


def test_a_bad_address_is_told_with_the_reason() -> None:
    (fault,) = _faults(attrs.evolve(RAW, email="nobody"))

    assert "not an e-mail address: An email address must have an @-sign." == fault.message


def test_an_invalid_record_keeps_what_was_sent() -> None:
    record = InvalidRecord(faults=(), external_id=" 1 ", email="nobody")

    assert (" 1 ", "nobody") == (record.external_id, record.email)


@given(raw_employees(), st.none() | st.binary(min_size=16, max_size=16))
def test_a_record_carries_its_fingerprint_and_is_not_compared_by_it(
    raw: RawEmployee, fingerprint: bytes | None
) -> None:
    record = _record(raw)
    if record is None:
        return
    marked = check_record(raw, fingerprint=fingerprint)

    assert (None, fingerprint) == (record.fingerprint, marked.fingerprint)
    assert record == marked
    assert "fingerprint" not in repr(marked)


@given(st.lists(st.binary(max_size=40), unique=True))
def test_every_spelling_has_a_fingerprint_of_its_own(spellings: list[bytes]) -> None:
    fingerprints = [fingerprint_of(spelling) for spelling in spellings]

    assert {FINGERPRINT_BYTES} >= {len(fingerprint) for fingerprint in fingerprints}
    assert len(spellings) == len(set(fingerprints))
    assert fingerprints == [fingerprint_of(spelling) for spelling in spellings]


def test_a_fingerprint_stays_what_it_was_while_the_rules_do() -> None:
    # A new digest means that every stored one is forgotten: change it when the same bytes come to mean something else.
    assert "95cc4573eaa21b7eb14b3533f3f63f90" == fingerprint_of(b'{"email": "a@x.example"}').hex()


def _with(field: str, value: str | Absent | None) -> RawEmployee:
    changes: dict[str, str | Absent | None] = {field: value}
    return RawEmployee(**{**attrs.asdict(RAW), **changes})


def _sent(record: EmployeeRecord, field: str) -> object:
    if field in {"sector_name", "sector_id"}:
        return getattr(record.sector, field.removeprefix("sector_"))
    return getattr(record, field)


def _record(raw: RawEmployee, names: Mapping[str, str] | None = None) -> EmployeeRecord | None:
    try:
        return check_record(raw, names=names)
    except ValidationFailed:
        return None


def _faults(raw: RawEmployee, names: Mapping[str, str] | None = None) -> list[Fault]:
    try:
        check_record(raw, names=names)
    except ValidationFailed as refusal:
        return list(refusal.faults)
    return []


def _is_right(field: str, value: str | Absent | None) -> bool:
    if not isinstance(value, str):
        return True
    if field == "email":
        try:
            parse_email(value)
        except InvalidEmail:
            return False
        return True
    least = 1 if field in REQUIRED else 0
    return text_problem(normal_text(value), min_length=least, max_length=LIMITS[field]) is None
