"""A key reads back as it was spelt, any other text opens nothing, and no refusal says why."""

from __future__ import annotations

import hashlib
import hmac
import zlib
from datetime import datetime, timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core import api_keys
from awareness_core.api_keys import (
    LAST_USED_RESOLUTION,
    ApiKey,
    ApiKeyId,
    ApiKeyState,
    Caller,
    PresentedKey,
    Scope,
    authenticate,
    authorise,
    base62,
    digest_secret,
    mint_key,
    parse_key,
    public_id_from,
    spell_key,
)
from awareness_core.errors import ApiKeyInvalid, InsufficientScope
from awareness_core.tenants import CompanyId
from tests.core.strategies import NOW, hostile_texts, moments

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SAMPLE = mint_key(public_id=public_id_from(bytes(range(8))), secret=bytes(range(32)))
TICK = timedelta(milliseconds=1)


def minted() -> st.SearchStrategy[PresentedKey]:
    return st.builds(
        lambda name, secret: mint_key(public_id=public_id_from(name), secret=secret),
        st.binary(min_size=8, max_size=8),
        st.binary(min_size=32, max_size=32),
    )


def stored(
    key: PresentedKey,
    *,
    expires_at: datetime | None = None,
    revoked_at: datetime | None = None,
    last_used_at: datetime | None = None,
) -> ApiKey:
    return ApiKey(
        id=ApiKeyId("k"),
        company_id=CompanyId("c"),
        public_id=key.public_id,
        secret_digest=digest_secret(key.secret),
        name="n",
        scopes=frozenset({Scope.READ_RESULTS}),
        created_at=NOW,
        expires_at=expires_at,
        revoked_at=revoked_at,
        last_used_at=last_used_at,
    )


def stored_keys() -> st.SearchStrategy[ApiKey]:
    dates = st.none() | moments()
    return st.builds(stored, minted(), expires_at=dates, revoked_at=dates, last_used_at=dates)


@given(minted())
def test_a_key_reads_back_as_it_was_spelt(key: PresentedKey) -> None:
    assert key == parse_key(spell_key(key))


@given(minted())
def test_a_key_is_spelt_as_the_module_promises(key: PresentedKey) -> None:
    text = spell_key(key)
    body, checksum = text[:-6], text[-6:]

    assert f"awk_{key.public_id}_{key.secret}" == body
    assert (11, 43) == (len(key.public_id), len(key.secret))
    assert set(key.public_id + key.secret + checksum) <= set(DIGITS)
    assert zlib.crc32(body.encode()) == _number(checksum)


@given(st.binary(min_size=32, max_size=32))
def test_no_bit_of_the_secret_is_lost(secret: bytes) -> None:
    assert int.from_bytes(secret, "big") == _number(
        mint_key(public_id=SAMPLE.public_id, secret=secret).secret
    )


@given(st.binary(min_size=8, max_size=8))
def test_no_bit_of_the_public_id_is_lost(randomness: bytes) -> None:
    assert int.from_bytes(randomness, "big") == _number(public_id_from(randomness))


def test_the_largest_numbers_fit() -> None:
    key = mint_key(public_id=public_id_from(b"\xff" * 8), secret=b"\xff" * 32)

    assert (11, 43) == (len(key.public_id), len(key.secret))


@pytest.mark.parametrize("count", [0, 31, 33])
def test_a_secret_of_any_other_size_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=rf"^an API key's secret has 32 bytes, not {count}$"):
        mint_key(public_id=SAMPLE.public_id, secret=bytes(count))


@pytest.mark.parametrize("count", [0, 7, 9])
def test_a_public_id_of_any_other_size_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=rf"^a public id takes 8 random bytes, not {count}$"):
        public_id_from(bytes(count))


@given(minted(), st.data())
def test_a_key_with_one_character_changed_opens_nothing(key: PresentedKey, data: st.DataObject) -> None:
    text = spell_key(key)
    position = data.draw(st.integers(min_value=0, max_value=len(text) - 1))
    other = data.draw(st.sampled_from([digit for digit in DIGITS + "_-é" if digit != text[position]]))
    mistyped = text[:position] + other + text[position + 1 :]

    assert parse_key(mistyped) is None


@given(minted(), st.data())
def test_a_key_with_a_character_too_many_or_too_few_opens_nothing(
    key: PresentedKey, data: st.DataObject
) -> None:
    text = spell_key(key)
    position = data.draw(st.integers(min_value=0, max_value=len(text) - 1))
    digit = data.draw(st.sampled_from(DIGITS))

    assert parse_key(text[:position] + text[position + 1 :]) is None
    assert parse_key(text[:position] + digit + text[position:]) is None
    assert parse_key(text + digit) is None


@given(minted(), minted())
def test_a_secret_under_another_public_id_fails_the_checksum(one: PresentedKey, other: PresentedKey) -> None:
    text = spell_key(one)
    grafted = text.replace(f"_{one.public_id}_", f"_{other.public_id}_")

    assert (parse_key(grafted) is None) == (one.public_id != other.public_id)


@given(hostile_texts() | st.from_regex(r"awk_[0-9A-Za-z]{11}_[0-9A-Za-z]{49}", fullmatch=True))
def test_any_other_text_is_no_key(text: str) -> None:
    assert parse_key(text) is None


@pytest.mark.parametrize("around", [" {}", "{} ", "{}\n", "Bearer {}", "\ufeff{}"])
def test_a_key_is_not_searched_for_in_other_text(around: str) -> None:
    assert parse_key(around.format(spell_key(SAMPLE))) is None


@given(minted())
def test_a_store_keeps_the_sha_256_of_the_secret(key: PresentedKey) -> None:
    assert hashlib.sha256(key.secret.encode()).digest() == digest_secret(key.secret)


@given(stored_keys(), moments())
def test_a_state_follows_from_the_dates(key: ApiKey, now: datetime) -> None:
    if key.revoked_at is not None:
        expected = ApiKeyState.REVOKED
    elif key.expires_at is not None and key.expires_at <= now:
        expected = ApiKeyState.EXPIRED
    else:
        expected = ApiKeyState.ACTIVE

    assert expected == key.state(now)


@given(moments())
def test_a_key_expires_at_its_very_expiry_date(expiry: datetime) -> None:
    key = stored(SAMPLE, expires_at=expiry)

    assert [ApiKeyState.ACTIVE, ApiKeyState.EXPIRED, ApiKeyState.EXPIRED] == [
        key.state(expiry - TICK),
        key.state(expiry),
        key.state(expiry + TICK),
    ]


@given(moments())
def test_a_use_is_recorded_at_most_once_a_minute(used_at: datetime) -> None:
    key = stored(SAMPLE, last_used_at=used_at)

    assert timedelta(minutes=1) == LAST_USED_RESOLUTION
    assert not key.use_is_worth_recording(used_at)
    assert not key.use_is_worth_recording(used_at + timedelta(minutes=1) - TICK)
    assert key.use_is_worth_recording(used_at + timedelta(minutes=1))


def test_the_first_use_is_recorded() -> None:
    assert stored(SAMPLE).use_is_worth_recording(NOW)


@given(stored_keys(), minted(), moments())
def test_exactly_an_active_key_with_its_own_secret_lets_its_caller_in(
    key: ApiKey, presented: PresentedKey, now: datetime
) -> None:
    own = stored(presented, expires_at=key.expires_at, revoked_at=key.revoked_at)
    expected = Caller(company_id=own.company_id, api_key_id=own.id, scopes=own.scopes)

    assert (expected if own.state(now) is ApiKeyState.ACTIVE else None) == _caller(presented, own, now)
    assert _caller(presented, key, now) is None or digest_secret(presented.secret) == key.secret_digest


def test_unknown_wrong_expired_and_revoked_keys_are_refused_alike() -> None:
    wrong = attrs.evolve(stored(SAMPLE), secret_digest=digest_secret("another"))
    cases = [None, wrong, stored(SAMPLE, expires_at=NOW), stored(SAMPLE, revoked_at=NOW)]

    refusals = {(type(refusal), str(refusal)) for refusal in (_refusal(case) for case in cases)}

    assert {(ApiKeyInvalid, str(ApiKeyInvalid()))} == refusals


def test_every_key_costs_one_hash_and_one_comparison_known_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    costs: list[str] = []

    def counted_digest(secret: str) -> bytes:
        costs.append("hash")
        return hashlib.sha256(secret.encode()).digest()

    def counted_comparison(one: bytes, other: bytes) -> bool:
        costs.append(f"compare {len(one)} with {len(other)} bytes")
        return hmac.compare_digest(one, other)

    monkeypatch.setattr(api_keys, "digest_secret", counted_digest)
    monkeypatch.setattr(api_keys, "hmac", _Namespace(counted_comparison))
    for case in (None, stored(SAMPLE), stored(SAMPLE, expires_at=NOW), stored(SAMPLE, revoked_at=NOW)):
        costs.clear()
        _caller(SAMPLE, case, NOW)

        assert ["hash", "compare 32 with 32 bytes"] == costs


def test_no_secret_opens_an_unknown_key() -> None:
    assert (
        _caller(PresentedKey(public_id=SAMPLE.public_id, secret="no key has this secret"), None, NOW) is None
    )


@given(st.frozensets(st.sampled_from(Scope)), st.sampled_from(Scope))
def test_a_caller_may_do_exactly_what_the_scopes_name(held: frozenset[Scope], needed: Scope) -> None:
    caller = Caller(company_id=CompanyId("c"), api_key_id=ApiKeyId("k"), scopes=held)

    if needed in held:
        authorise(caller, needed)
    else:
        with pytest.raises(InsufficientScope) as refusal:
            authorise(caller, needed)
        assert needed.value == refusal.value.required


def test_the_scopes_of_the_reference_and_the_contract_exist() -> None:
    assert [
        "write:employees",
        "read:results",
        "read:scores",
        "read:trainings",
        "read:employees",
        "erase:employees",
        "write:results",
        "write:trainings",
        "read:events",
    ] == [scope.value for scope in Scope]


@given(minted())
def test_neither_the_secret_nor_its_digest_is_shown(key: PresentedKey) -> None:
    shown = repr(key) + repr(stored(key)) + str(key)

    assert key.secret not in shown
    assert repr(digest_secret(key.secret)) not in shown
    assert "digest" not in shown


@given(st.integers(min_value=0, max_value=62**6 - 1))
def test_base_62_reads_back(number: int) -> None:
    text = base62(number, length=6)

    assert 6 == len(text)
    assert number == _number(text)


@given(st.integers(min_value=62**3))
def test_a_number_that_does_not_fit_is_refused_rather_than_cut(number: int) -> None:
    with pytest.raises(ValueError, match=r"^the number does not fit in 3 base-62 digits$"):
        base62(number, length=3)


@attrs.frozen
class _Namespace:
    compare_digest: object


def _caller(presented: PresentedKey, key: ApiKey | None, now: datetime) -> Caller | None:
    try:
        return authenticate(presented, key, now=now)
    except ApiKeyInvalid:
        return None


def _refusal(key: ApiKey | None) -> ApiKeyInvalid:
    with pytest.raises(ApiKeyInvalid) as refusal:
        authenticate(SAMPLE, key, now=NOW)
    return refusal.value


def _number(text: str) -> int:
    number = 0
    for digit in text:
        number = number * 62 + DIGITS.index(digit)
    return number
