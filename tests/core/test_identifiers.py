"""UUIDs of version 7: laid out as RFC 9562 §5.7 says, and sorting by the time they were made."""

from __future__ import annotations

import itertools
import uuid
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.identifiers import UUID7_ENTROPY_BYTES, uuid7, uuid7_series
from tests.core.strategies import NOW, moments

ENTROPY = st.binary(min_size=UUID7_ENTROPY_BYTES, max_size=UUID7_ENTROPY_BYTES)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def test_the_example_of_the_rfc_comes_out() -> None:
    # RFC 9562, appendix A.6.
    at = datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC)

    assert "017f22e2-79b0-7cc3-98c4-dc0c0c07398f" == uuid7(
        at=at, entropy=bytes.fromhex("0cc318c4dc0c0c07398f")
    )


@given(moments(), ENTROPY)
def test_version_and_variant_are_those_of_version_7(at: datetime, entropy: bytes) -> None:
    parsed = uuid.UUID(uuid7(at=at, entropy=entropy))

    assert (7, uuid.RFC_4122) == (parsed.version, parsed.variant)


@given(st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC)), ENTROPY)  # noqa: DTZ001
def test_the_first_48_bits_are_the_milliseconds_since_1970(at: datetime, entropy: bytes) -> None:
    milliseconds = uuid.UUID(uuid7(at=at, entropy=entropy)).int >> 80

    assert (at - EPOCH) // timedelta(milliseconds=1) == milliseconds


@given(moments(), ENTROPY)
def test_74_bits_of_chance_are_kept_where_they_were(at: datetime, entropy: bytes) -> None:
    number = uuid.UUID(uuid7(at=at, entropy=entropy)).int
    chance = int.from_bytes(entropy, "big")
    # All of the 80 bits but the 4 of the version and the 2 of the variant.
    kept = (1 << 80) - 1 ^ 0xF << 76 ^ 0x3 << 62

    assert chance & kept == number & kept
    assert 74 == kept.bit_count()


@given(moments(), moments(), ENTROPY, ENTROPY)
def test_text_sorts_by_the_millisecond_whatever_the_chance(
    one: datetime, other: datetime, first: bytes, second: bytes
) -> None:
    earlier, later = sorted((one, other))

    if later > earlier:
        assert uuid7(at=earlier, entropy=first) < uuid7(at=later, entropy=second)
    assert uuid7(at=earlier, entropy=first) < uuid7(at=later + timedelta(milliseconds=1), entropy=second)


@given(ENTROPY)
def test_the_text_is_the_canonical_one(entropy: bytes) -> None:
    text = uuid7(at=NOW, entropy=entropy)

    assert str(uuid.UUID(text)) == text


@given(ENTROPY, st.timedeltas(min_value=timedelta(hours=-23), max_value=timedelta(hours=23)))
def test_one_moment_is_one_time_in_every_zone(entropy: bytes, offset: timedelta) -> None:
    elsewhere = NOW.astimezone(timezone(offset))

    assert uuid7(at=NOW, entropy=entropy) == uuid7(at=elsewhere, entropy=entropy)


def test_a_moment_before_1970_is_refused_rather_than_wrapped() -> None:
    assert uuid7(at=EPOCH, entropy=bytes(10)).startswith("00000000-0000-7000-")
    with pytest.raises(ValueError, match=r"since 1970; 1969-12-31T23:59:59\.999000\+00:00 is earlier$"):
        uuid7(at=EPOCH - timedelta(milliseconds=1), entropy=bytes(10))


@pytest.mark.parametrize("count", [0, 9, 11, 16])
def test_any_other_amount_of_chance_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=rf"^a UUIDv7 takes 10 random bytes, not {count}$"):
        uuid7(at=NOW, entropy=bytes(count))


@given(st.binary(min_size=64, max_size=64), st.integers(min_value=2, max_value=12))
# More than one draught of chance suffices for.
@example(randomness=bytes(64), count=200)
def test_those_of_one_moment_sort_by_the_order_in_which_they_were_made(randomness: bytes, count: int) -> None:
    left = iter(randomness)
    series = uuid7_series(at=NOW, take=lambda size: bytes(next(left, 0xFF) for _ in range(size)))
    made = list(itertools.islice(series, count))

    assert count == len(made)
    assert sorted(set(made)) == made
    assert {uuid.UUID(text).version for text in made} == {7}
    assert {uuid.UUID(text).variant for text in made} == {uuid.RFC_4122}
    assert {text[:13] for text in made} == {uuid7(at=NOW, entropy=bytes(10))[:13]}
