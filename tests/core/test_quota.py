"""The first requests of a window pass, the others are told when to come back."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.quota import (
    API_KEY_POLICY,
    FAILED_AUTHENTICATION_POLICY,
    QuotaPolicy,
    QuotaUse,
    decide,
)

POLICIES = st.builds(
    QuotaPolicy,
    limit=st.integers(min_value=1, max_value=700),
    window=st.integers(min_value=1, max_value=90_000).map(lambda seconds: timedelta(seconds=seconds)),
)
COUNTS = st.integers(min_value=0, max_value=10**6)
LEFT = st.integers(min_value=-(10**7), max_value=10**12).map(
    lambda microseconds: timedelta(microseconds=microseconds)
)


def test_the_policies_are_the_contracts() -> None:
    assert [(600, 900), (60, 900)] == [
        (policy.limit, policy.window_seconds) for policy in (API_KEY_POLICY, FAILED_AUTHENTICATION_POLICY)
    ]


@given(POLICIES, LEFT)
def test_exactly_the_first_requests_of_a_window_pass(policy: QuotaPolicy, left: timedelta) -> None:
    passed = [
        decide(policy, QuotaUse(count=count, resets_in=left)).allowed for count in range(1, policy.limit + 10)
    ]

    assert [True] * policy.limit + [False] * 9 == passed


@given(POLICIES, COUNTS, LEFT)
def test_what_remains_is_never_negative_and_zero_for_the_last_that_passes(
    policy: QuotaPolicy, count: int, left: timedelta
) -> None:
    decision = decide(policy, QuotaUse(count=count, resets_in=left))

    assert max(policy.limit - count, 0) == decision.remaining
    assert policy is decision.policy


@given(POLICIES, COUNTS, LEFT)
def test_the_reset_is_in_whole_seconds_rounded_up_within_the_window(
    policy: QuotaPolicy, count: int, left: timedelta
) -> None:
    decision = decide(policy, QuotaUse(count=count, resets_in=left))

    exact = -(-left // timedelta(seconds=1))
    assert min(max(exact, 0), policy.window_seconds) == decision.reset_seconds


@pytest.mark.parametrize(
    ("left", "seconds"),
    [
        (-1.0, 0),
        (0.0, 0),
        (0.000001, 1),
        (0.999, 1),
        (1.0, 1),
        (1.000001, 2),
        (899.5, 900),
        (900.0, 900),
        (901.0, 900),
    ],
)
def test_the_reset_at_its_limits(left: float, seconds: int) -> None:
    use = QuotaUse(count=1, resets_in=timedelta(seconds=left))

    assert seconds == decide(API_KEY_POLICY, use).reset_seconds


@given(POLICIES, COUNTS, LEFT)
def test_the_headers_say_the_decision(policy: QuotaPolicy, count: int, left: timedelta) -> None:
    decision = decide(policy, QuotaUse(count=count, resets_in=left))
    seconds = math.floor(policy.window.total_seconds())

    assert {
        "RateLimit-Limit": f"{policy.limit}",
        "RateLimit-Remaining": f"{decision.remaining}",
        "RateLimit-Reset": f"{decision.reset_seconds}",
        "RateLimit-Policy": f"{policy.limit};w={seconds}",
    } == decision.headers()


def test_the_headers_of_the_first_request() -> None:
    decision = decide(API_KEY_POLICY, QuotaUse(count=1, resets_in=timedelta(seconds=900)))

    assert {
        "RateLimit-Limit": "600",
        "RateLimit-Remaining": "599",
        "RateLimit-Reset": "900",
        "RateLimit-Policy": "600;w=900",
    } == decision.headers()


@given(POLICIES, COUNTS, LEFT)
def test_a_refusal_never_says_to_come_back_at_once_nor_after_the_window(
    policy: QuotaPolicy, count: int, left: timedelta
) -> None:
    refusal = decide(policy, QuotaUse(count=count, resets_in=left)).refusal()

    assert 1 <= refusal.retry_after <= policy.window_seconds


@pytest.mark.parametrize(("left", "seconds"), [(0, 1), (1, 1), (2, 2), (900, 900)])
def test_a_refusal_says_to_come_back_when_the_window_ends(left: int, seconds: int) -> None:
    refusal = decide(API_KEY_POLICY, QuotaUse(count=601, resets_in=timedelta(seconds=left))).refusal()

    assert f"More than 600 requests in 900 seconds. Try again in {seconds} seconds." == refusal.message
