"""A temporary password holds enough chance, opens however it is typed, until it expires, and is never shown."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from awareness_core.passwords import (
    ENTROPY_BYTES,
    SALT_BYTES,
    TemporaryPassword,
    digest_password,
    opens,
    spell_password,
)
from tests.core.strategies import NOW, hostile_texts, moments, numbered_id

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
RANDOMNESS = st.binary(min_size=ENTROPY_BYTES, max_size=ENTROPY_BYTES)
SALTS = st.binary(min_size=SALT_BYTES, max_size=SALT_BYTES)
SALT = bytes(range(16))
TICK = timedelta(milliseconds=1)


def kept(
    password: str, *, salt: bytes = SALT, expires_at: datetime = NOW + timedelta(days=7)
) -> TemporaryPassword:
    return TemporaryPassword(
        employee_id=numbered_id(1),
        salt=salt,
        digest=digest_password(password, salt=salt),
        created_at=NOW,
        expires_at=expires_at,
    )


@given(RANDOMNESS)
def test_at_least_96_random_bits_go_into_the_password(entropy: bytes) -> None:
    bits = "".join(f"{CROCKFORD.index(symbol):05b}" for symbol in reversed(_symbols(spell_password(entropy))))

    assert 96 <= len(bits)
    assert int.from_bytes(entropy, "big") % 2**100 == int(bits, 2)


@given(RANDOMNESS, st.integers(min_value=0, max_value=99))
def test_every_bit_counts(entropy: bytes, position: int) -> None:
    flipped = (int.from_bytes(entropy, "big") ^ 1 << position).to_bytes(ENTROPY_BYTES, "big")

    assert spell_password(entropy) != spell_password(flipped)


@given(RANDOMNESS)
def test_a_password_is_four_groups_of_five_letters_that_look_like_no_others(entropy: bytes) -> None:
    groups = spell_password(entropy).split("-")

    assert [5, 5, 5, 5] == [len(group) for group in groups]
    assert set("".join(groups)) <= set(CROCKFORD)


@pytest.mark.parametrize("count", [0, 12, 14])
def test_any_other_amount_of_chance_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=rf"^a temporary password takes 13 random bytes, not {count}$"):
        spell_password(bytes(count))


@given(RANDOMNESS, SALTS, st.data())
def test_a_password_opens_however_it_is_typed(entropy: bytes, salt: bytes, data: st.DataObject) -> None:
    password = spell_password(entropy)
    between = data.draw(st.sampled_from(("", "-", " ", "\N{EN DASH}", "\N{NO-BREAK SPACE}", " - ")))
    around = data.draw(st.sampled_from(("", " ", "\t", "\r\n", "-")))
    typed = "".join(
        data.draw(st.sampled_from(_readings(symbol))) for symbol in password.replace("-", between)
    )

    assert opens(around + typed + around, kept(password, salt=salt), now=NOW)


@given(RANDOMNESS, st.data())
def test_a_password_with_one_symbol_wrong_opens_nothing(entropy: bytes, data: st.DataObject) -> None:
    password = spell_password(entropy)
    position = data.draw(st.sampled_from([place for place, symbol in enumerate(password) if symbol != "-"]))
    other = data.draw(st.sampled_from(CROCKFORD.replace(password[position], "")))
    typed = password[:position] + other + password[position + 1 :]

    assert not opens(typed, kept(password), now=NOW)


@given(RANDOMNESS, hostile_texts())
def test_any_other_text_opens_nothing(entropy: bytes, typed: str) -> None:
    assert not opens(typed, kept(spell_password(entropy)), now=NOW)


@given(RANDOMNESS, SALTS, SALTS)
def test_one_password_kept_twice_does_not_show_that_it_is_one(
    entropy: bytes, salt: bytes, other: bytes
) -> None:
    assume(salt != other)
    password = spell_password(entropy)

    assert digest_password(password, salt=salt) != digest_password(password, salt=other)


def test_the_digest_is_blake2b_of_the_bare_symbols_keyed_with_the_salt() -> None:
    expected = hashlib.blake2b(b"01abc", key=SALT, digest_size=32).digest()

    assert expected == digest_password(" 0L-aBc\n", salt=SALT)


@given(RANDOMNESS, moments())
def test_a_password_stops_working_at_its_expiry(entropy: bytes, expiry: datetime) -> None:
    password = spell_password(entropy)
    secret = kept(password, expires_at=expiry)

    assert [True, False, False] == [
        opens(password, secret, now=expiry - TICK),
        opens(password, secret, now=expiry),
        opens(password, secret, now=expiry + TICK),
    ]


def test_a_wrong_password_does_not_open_before_the_expiry_either() -> None:
    assert not opens("00000-00000-00000-00001", kept("00000-00000-00000-00000"), now=NOW)


@given(RANDOMNESS, SALTS)
def test_neither_salt_nor_digest_is_shown(entropy: bytes, salt: bytes) -> None:
    shown = repr(kept(spell_password(entropy), salt=salt))

    assert "salt" not in shown
    assert "digest" not in shown


def _symbols(password: str) -> str:
    return password.replace("-", "")


def _readings(symbol: str) -> str:
    """How people write one symbol: in capitals, or as the letter it was mistaken for."""
    return {"0": "0oO", "1": "1iIlL"}.get(symbol, symbol + symbol.upper())
