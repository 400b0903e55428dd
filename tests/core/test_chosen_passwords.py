"""Which passwords people may choose: length, and what is guessed first, and nothing else."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import attrs
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from awareness_core.chosen_passwords import (
    MAX_LENGTH,
    MIN_LENGTH,
    Weakness,
    is_hashable,
    normal_password,
    weaknesses,
)
from awareness_core.passwords import ENTROPY_BYTES, digest_password, spell_password
from tests.contracts.storages import ACME, password, person

ADA = attrs.evolve(
    person(1, email="ada.lovelace@acme.example"), first_name="Hélène", last_name="Lovelace-Byron"
)
COMMON = frozenset(
    {"azerty", "password", "motdepasse", "sunshine", "letmein", "qwerty", "securite", "licorne", "admin"}
)
WORDS = frozenset({"cheval", "agrafe", "pile", "correcte", "brume", "poney", "tracteur", "ficelle"})
GOOD = "sept chevaux sous la pluie"

# Letters that no word above, and no name of Ada's, can be made of.
_HARMLESS = st.text("bgjkquvwxz BGJKQUVWXZ-_.µéœ漢", min_size=MIN_LENGTH, max_size=MAX_LENGTH)


def found(typed: str) -> Sequence[Weakness]:
    return weaknesses(
        normal_password(typed), person=ADA, company=ACME, mailed=[], is_common=COMMON.__contains__
    )


@given(_HARMLESS)
@example(GOOD)
@example("correct horse battery staple")
@example("x9$Kq-z7!wVb2")
@example("719402856317")
def test_a_long_password_of_many_signs_is_taken_whatever_they_are(typed: str) -> None:
    normal = normal_password(typed)
    assume(len(set(normal.casefold())) >= 5 and MIN_LENGTH <= len(normal) <= MAX_LENGTH)
    half = len(normal) // 2
    assume(not any(normal.casefold().startswith(normal.casefold()[:unit] * 2) for unit in range(1, half + 1)))

    assert [] == found(typed)


@given(st.text(st.characters(exclude_categories=["C", "Z"]), max_size=MIN_LENGTH - 1))
def test_of_a_short_password_nothing_else_is_told(typed: str) -> None:
    assume(len(normal_password(typed)) < MIN_LENGTH)

    assert [Weakness.TOO_SHORT] == found(typed)


@given(st.integers(MAX_LENGTH + 1, 10 * MAX_LENGTH))
def test_a_longer_password_than_anybody_types_is_refused_and_never_hashed(length: int) -> None:
    assert [Weakness.TOO_LONG] == found("\N{LATIN SMALL LETTER A WITH RING ABOVE}b" * length)
    assert not is_hashable(normal_password("a" * length))


def test_what_grows_when_it_is_normalised_is_measured_afterwards() -> None:
    # One sign that is eighteen in NFKC.
    assert [Weakness.TOO_LONG] == found("\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 20)


@given(st.text(max_size=MAX_LENGTH))
def test_a_password_is_the_same_however_it_is_composed(typed: str) -> None:
    spellings = {unicodedata.normalize(form, typed) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    assume(all(len(spelt) <= MAX_LENGTH for spelt in spellings))

    assert 1 == len({normal_password(spelt) for spelt in spellings})


@given(st.text(max_size=2 * MAX_LENGTH))
def test_what_may_be_chosen_can_be_hashed(typed: str) -> None:
    assert found(typed) or is_hashable(normal_password(typed))
    assert is_hashable(normal_password(typed)) <= _is_utf8(normal_password(typed))


@pytest.mark.parametrize(
    "typed",
    ["sept chevaux\nsous la pluie", "sept chevaux\0sous", "sept chevaux\ud800sous", "\u202eeiulp al suos"],
)
def test_a_character_that_no_keyboard_has_is_refused(typed: str) -> None:
    assert [Weakness.CONTROL_CHARACTER] == found(typed)


@given(
    st.sampled_from(sorted(COMMON)),
    st.text("0123456789!?.-_ ", max_size=10),
    st.text("0123456789!?.-_ ", min_size=8, max_size=10),
    st.sampled_from([str.lower, str.upper, str.title, str.swapcase]),
)
@example("password", "", "1234", str.title)
def test_a_common_word_stays_common_with_figures_around_it(
    word: str, before: str, after: str, spell: type[str]
) -> None:
    assert Weakness.COMMON in found(before + spell(word) + after)


@pytest.mark.parametrize(
    "typed",
    [
        "P@ssw0rd1234",
        "$unsh1ne 2024",
        "p4ssw0rd!!!!!!",
        "m0tdepa55e2024",
        "passwordpassword",
        "azertyazertyazerty",
        "AzertyAzerty2024",
        "aaaaaaaaaaaaa",
        "abababababababab",
        "abcdabcdabcdabcd",
        "123456789012",
        "210987654321",
        "abcdefghijklm",
        "zyxwvutsrqponm",
        "111122223333",
        "Sécurité2026!",
        "mot de passe…",
        "mot de passe 2026",
        "mot-de-passe mot-de-passe",
        "password password",
        "p4ssw0rd1234p4ssw0rd",
        "P@ssw0rd!P@ssw0rd",
        "admin1234admin",
        "qwerty-azerty",
        "qwertyazerty",
        "2026 azerty password 2026",
        "L1corn3!2026",
        "Let Me In 2026!",
    ],
)
def test_patterns_repetitions_and_disguises_are_guessed_first(typed: str) -> None:
    assert [Weakness.COMMON] == found(typed)


@given(
    st.lists(st.sampled_from(sorted(COMMON | WORDS)), min_size=3, max_size=6, unique=True),
    st.sampled_from(["", " ", "-", ".", " - ", "2026", "!"]),
)
@example(["cheval", "agrafe", "pile", "correcte"], " ")
@example(["azerty", "qwerty", "password"], "-")
def test_several_different_words_are_taken_although_each_of_them_is_common(
    words: list[str], joiner: str
) -> None:
    assert [] == found(joiner.join(words))


@given(st.sampled_from(sorted(COMMON)), st.sampled_from(sorted(WORDS)), st.sampled_from(["", " ", "-", "9"]))
def test_one_word_that_is_not_common_makes_another_password(common: str, other: str, joiner: str) -> None:
    typed = f"{common}{joiner}{other}"
    assume(len(typed) >= MIN_LENGTH)

    assert [] == found(typed)


@given(st.sampled_from(sorted(COMMON)), st.data())
def test_accents_blanks_and_joiners_make_no_other_password(word: str, data: st.DataObject) -> None:
    joiners = st.sampled_from(["", " ", "-", ".", "_", "\N{COMBINING ACUTE ACCENT}"])
    typed = "".join(letter + data.draw(joiners) for letter in word) + "2026!2026!"

    assert Weakness.COMMON in found(typed)


@given(st.text("bgjkqu09!é", min_size=1, max_size=4), st.integers(MIN_LENGTH, MAX_LENGTH))
def test_up_to_four_signs_again_and_again_are_guessed_first(unit: str, length: int) -> None:
    assert [Weakness.COMMON] == found((unit * length)[:length])


@pytest.mark.parametrize(
    "typed",
    [
        "ada.lovelace@acme.example",
        "my lovelace password no 9",
        "HELENE-aime-le-chocolat",
        "hélène-aime-le-chocolat",
        "byron-is-a-poet-I-like",
        "I work at A c m e gladly",
        "ACME-ACME-vive-la-vie",
        "Lovelacebyron99",
    ],
)
def test_ones_own_names_and_those_of_the_company_are_guessed_first(typed: str) -> None:
    assert Weakness.PERSONAL in found(typed)


def test_a_name_of_three_letters_is_inside_too_many_words_to_count() -> None:
    assert [] == found("cascade of adamant barrels")


def test_everything_that_is_wrong_is_told_at_once() -> None:
    assert [Weakness.COMMON, Weakness.PERSONAL] == weaknesses(
        "acmeacmeacme",
        person=ADA,
        company=ACME,
        mailed=[],
        is_common=frozenset({"acme"}).__contains__,
    )


@given(st.binary(min_size=ENTROPY_BYTES, max_size=ENTROPY_BYTES), st.booleans())
def test_the_mailed_password_is_not_to_be_kept(entropy: bytes, is_retyped: bool) -> None:  # noqa: FBT001 (given)
    mailed = spell_password(entropy)
    kept = attrs.evolve(password(ADA, 1), digest=digest_password(mailed, salt=bytes([1]) * 16))
    typed = mailed.upper().replace("-", " ") if is_retyped else mailed

    assert Weakness.TEMPORARY in weaknesses(
        typed, person=ADA, company=ACME, mailed=[kept], is_common=COMMON.__contains__
    )


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
