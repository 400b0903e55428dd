"""What a repetition means: carried out, answered as before, or refused; never two of them, and never begun twice."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from awareness_core.errors import Conflict, IdempotencyKeyReused, StillRunning
from awareness_core.receipts import (
    LEASE,
    LIFETIME,
    MAILING_LEASE,
    Receipt,
    ReceiptId,
    Stage,
    claim,
    forgotten,
    is_answered,
)
from tests.core.strategies import NOW

MILLISECOND = timedelta(milliseconds=1)
fingerprints = st.binary(min_size=1, max_size=3)
moments = st.timedeltas(timedelta(0), 2 * LIFETIME).map(
    lambda after: NOW + timedelta(milliseconds=after // MILLISECOND)
)


def _claimed(fingerprint: bytes = b"asked") -> Receipt:
    return claim(ReceiptId("one"), fingerprint=fingerprint, holder="first", now=NOW)


@st.composite
def receipts(draw: st.DrawFn) -> Receipt:
    stage = draw(st.sampled_from(Stage))
    lease_until = NOW + (MAILING_LEASE if stage is Stage.UNDER_WAY else LEASE)
    return attrs.evolve(_claimed(draw(fingerprints)), stage=stage, lease_until=lease_until)


def _verdict(kept: Receipt | None, fingerprint: bytes, now: object) -> object:
    try:
        return is_answered(kept, fingerprint=fingerprint, now=now)  # type: ignore[arg-type]
    except Conflict as refusal:
        return type(refusal)
    except IdempotencyKeyReused as refusal:
        return type(refusal)


@given(fingerprints, moments)
def test_what_nothing_is_remembered_of_is_carried_out(fingerprint: bytes, now: object) -> None:
    assert False is _verdict(None, fingerprint, now)


@given(receipts(), fingerprints)
def test_after_a_day_nothing_is_remembered(kept: Receipt, fingerprint: bytes) -> None:
    assert False is _verdict(kept, fingerprint, NOW + LIFETIME)
    if kept.stage is not Stage.CLAIMED:
        assert False is not _verdict(kept, fingerprint, NOW + LIFETIME - MILLISECOND)


@given(receipts(), moments)
def test_an_answer_is_given_again_for_a_day_to_the_same_request(kept: Receipt, now: object) -> None:
    answered = attrs.evolve(kept, stage=Stage.ANSWERED)

    assert (now < NOW + LIFETIME) == _verdict(answered, kept.fingerprint, now)  # type: ignore[operator]


@given(receipts(), fingerprints, moments)
def test_another_request_under_the_same_key_is_never_answered_with_the_first_ones_answer(
    kept: Receipt, other: bytes, now: object
) -> None:
    assume(other != kept.fingerprint)
    # What the first one asked is not known any more once somebody was erased.
    refusal = Conflict if kept.stage is Stage.FORGOTTEN else IdempotencyKeyReused

    assert _verdict(kept, other, now) in {False, refusal}


@given(receipts(), moments)
def test_what_may_have_been_written_is_never_begun_again_within_the_day(kept: Receipt, now: object) -> None:
    assume(kept.stage is not Stage.CLAIMED)
    assume(now < kept.expires_at)  # type: ignore[operator]

    assert False is not _verdict(kept, kept.fingerprint, now)


@given(receipts(), fingerprints, moments)
def test_what_was_asked_before_somebody_was_erased_is_neither_answered_nor_begun_again_within_the_day(
    kept: Receipt, asked: bytes, now: object
) -> None:
    left = forgotten(kept)

    assert b"" == left.fingerprint
    assert (Conflict if now < NOW + LIFETIME else False) == _verdict(left, asked, now)  # type: ignore[operator]


def test_what_somebody_carries_out_is_refused_until_their_lease_ends_and_then_free() -> None:
    kept = _claimed()

    assert StillRunning is _verdict(kept, b"asked", NOW + LEASE - MILLISECOND)
    assert False is _verdict(kept, b"asked", NOW + LEASE)
    assert False is _verdict(kept, b"another", NOW + LEASE)
    with pytest.raises(StillRunning) as refused:
        is_answered(kept, fingerprint=b"asked", now=NOW + LEASE - timedelta(seconds=2.4))
    assert 3 == refused.value.retry_after


def test_what_was_interrupted_half_way_is_told_and_not_begun_again() -> None:
    kept = attrs.evolve(_claimed(), stage=Stage.UNDER_WAY, lease_until=NOW + MAILING_LEASE)

    assert StillRunning is _verdict(kept, b"asked", NOW + MAILING_LEASE - MILLISECOND)
    assert Conflict is _verdict(kept, b"asked", NOW + MAILING_LEASE)
