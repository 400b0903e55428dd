"""The normal form of short texts: one spelling, lengths in code points, no character that lies."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.texts import folded_name, normal_text, text_problem
from tests.core.strategies import (
    BLANKS,
    CONTROLS,
    LETTERS,
    code_points,
    hostile_texts,
    normal_texts,
    plain_texts,
)

UNSEEN = (
    "\u200b",
    "\u200d",
    "\u00ad",
    "\u2060",
    "\ufeff",
    "\u180b",
    "\u3164",
    "\u2800",
    "\ufe0f",
    "\U000e0101",
)
INNER_CONTROLS = st.sampled_from(CONTROLS)


@given(hostile_texts())
def test_normal_text_is_total_and_idempotent(text: str) -> None:
    once = normal_text(text)

    assert once == normal_text(once)


@given(plain_texts())
def test_composed_and_decomposed_spellings_have_one_normal_form(text: str) -> None:
    assert normal_text(unicodedata.normalize("NFD", text)) == normal_text(unicodedata.normalize("NFC", text))


@given(hostile_texts())
def test_a_normal_text_is_composed_and_has_no_outer_blanks(text: str) -> None:
    normal = normal_text(text)

    assert unicodedata.is_normalized("NFC", normal)
    assert normal == normal.strip()


@given(plain_texts(), st.sampled_from(BLANKS), st.sampled_from(BLANKS))
def test_outer_blanks_of_any_kind_make_no_difference(text: str, before: str, after: str) -> None:
    assert normal_text(text) == normal_text(f"{before}{text}{after}")


@given(st.text(st.sampled_from([*BLANKS, *UNSEEN]), max_size=8))
def test_what_nobody_can_see_is_blank(text: str) -> None:
    assert "" == normal_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{ROCKET}",
        "\N{HEAVY BLACK HEART}\N{VARIATION SELECTOR-16}",
        "\u0915\u094d\N{ZERO WIDTH JOINER}\u0937",
        "Jean\N{SOFT HYPHEN}Luc",
        "\N{ZERO WIDTH SPACE}Ada",
    ],
    ids=code_points,
)
def test_what_joins_or_parts_letters_is_kept(text: str) -> None:
    assert text == normal_text(text)
    assert text_problem(text, max_length=9) is None


@given(st.sampled_from(UNSEEN), st.sampled_from(["\x00", "\u2028", "\u202e"]))
def test_a_control_character_among_what_nobody_sees_is_refused_all_the_same(
    unseen: str, control: str
) -> None:
    problem = text_problem(normal_text(f"{unseen}{control}{unseen}"), max_length=9)

    assert "control_character" == getattr(problem, "code", None)


def test_ascii_blanks_are_trimmed_too() -> None:
    assert "a b" == normal_text(" \ta b\r\n")


@given(normal_texts())
def test_inner_blanks_and_case_are_kept(text: str) -> None:
    assert text == normal_text(text)


@given(plain_texts(min_size=1, max_size=3), INNER_CONTROLS, plain_texts(min_size=1, max_size=3))
def test_a_control_character_inside_is_refused_and_located(before: str, control: str, after: str) -> None:
    text = f"{before}{control}{after}"

    problem = text_problem(text, max_length=100)

    assert problem is not None
    assert "control_character" == problem.code
    kind = "lone surrogate" if unicodedata.category(control) == "Cs" else "control character"
    assert f"{kind} U+{ord(control):04X} at position {len(before)}; send plain text" == problem.message


def test_the_first_control_character_is_told_before_any_length() -> None:
    problem = text_problem("a\x00b\x01", max_length=1)

    assert problem is not None
    assert "control character U+0000 at position 1; send plain text" == problem.message


@pytest.mark.parametrize("control", CONTROLS, ids=code_points)
def test_a_control_character_is_refused_at_either_end(control: str) -> None:
    assert "control_character" == getattr(text_problem(f"{control}a", max_length=9), "code", None)
    assert "control_character" == getattr(text_problem(f"a{control}", max_length=9), "code", None)


def test_exactly_the_controls_separators_surrogates_and_bidi_overrides_are_refused() -> None:
    bidi = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}
    expected = {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cs", "Zl", "Zp"} or code in bidi
    }

    refused = {code for code in range(sys.maxunicode + 1) if text_problem(chr(code), max_length=1)}

    assert expected == refused


@given(
    st.lists(st.sampled_from([letter for letter in LETTERS if len(letter) == 1]), max_size=12).map("".join),
    st.integers(min_value=0, max_value=12),
    st.integers(min_value=0, max_value=12),
)
def test_lengths_count_code_points_and_both_ends_are_allowed(text: str, least: int, spare: int) -> None:
    most = least + spare
    problem = text_problem(text, min_length=least, max_length=most)

    expected = "too_short" if len(text) < least else "too_long" if len(text) > most else None
    assert expected == (None if problem is None else problem.code)


def test_an_empty_text_is_fine_unless_one_is_required() -> None:
    assert text_problem("", max_length=3) is None


def test_the_lengths_are_told() -> None:
    short = text_problem("", min_length=1, max_length=3)
    long = text_problem("\U0001d11e" * 4, max_length=3)

    assert short is not None
    assert long is not None
    assert "must have at least 1 character(s) that are not blank" == short.message
    assert "has 4 characters; at most 3 are allowed" == long.message


@given(hostile_texts())
@example("İ")
@example("ß")
@example("ſ")
@example("\u0345")
@example("\u1e9b\u0323")
def test_folded_name_is_idempotent(text: str) -> None:
    once = folded_name(text)

    assert once == folded_name(once)


@pytest.mark.parametrize("letter", LETTERS, ids=code_points)
def test_folded_name_does_not_tell_composed_from_decomposed(letter: str) -> None:
    assert folded_name(unicodedata.normalize("NFC", letter)) == folded_name(
        unicodedata.normalize("NFD", letter)
    )


@given(plain_texts())
def test_folded_name_does_not_tell_case_apart(text: str) -> None:
    assert folded_name(text) == folded_name(text.casefold())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("Straße", "STRAẞE"),
        ("ſtadt", "Stadt"),
        ("İzmir", "i\u0307zmir"),
        ("ΣΑΣ", "σας"),
        ("ﬁnance", "FINANCE"),
        ("  R \u00a0 D ", "r d"),
        ("E\u0301cole", "école"),
    ],
)
def test_two_spellings_of_one_name_fold_alike(one: str, other: str) -> None:
    assert folded_name(one) == folded_name(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Achat", "Achats"), ("R D", "RD"), ("ecole", "école"), ("ı", "i")]
)
def test_two_names_fold_apart(one: str, other: str) -> None:
    assert folded_name(one) != folded_name(other)


@given(st.lists(normal_texts(), min_size=1, max_size=3), st.lists(st.sampled_from(BLANKS), min_size=1))
def test_inner_blanks_fold_to_one(words: list[str], blanks: list[str]) -> None:
    assert folded_name(" ".join(words)) == folded_name("".join(blanks).join(words))
