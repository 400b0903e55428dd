"""How many requests a caller has left: the decision and the header values that tell it.

Counting is a port (`ports.QuotaCounter`); here is only what a count means. The window is fixed and begins with the
subject's first request in it; refused requests count too (Choice: decisions/013).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta

import attrs

from awareness_core.errors import RateLimitExceeded


@attrs.frozen(kw_only=True)
class QuotaPolicy:
    """`limit` requests per `window` (whole seconds)."""

    limit: int
    window: timedelta

    @property
    def window_seconds(self) -> int:
        """The window in whole seconds."""
        return int(self.window.total_seconds())


API_KEY_POLICY = QuotaPolicy(limit=600, window=timedelta(seconds=900))
"""Reference 8: 600 requests per 15 minutes, per key."""

FAILED_AUTHENTICATION_POLICY = QuotaPolicy(limit=60, window=timedelta(seconds=900))
"""Failed authentications per client address (Choice: decisions/013)."""

LOGIN_ACCOUNT_POLICY = QuotaPolicy(limit=20, window=timedelta(seconds=900))
"""Attempts to log in per address of a person, good ones too (Choice: decisions/029)."""

LOGIN_ADDRESS_POLICY = QuotaPolicy(limit=300, window=timedelta(seconds=900))
"""Failed attempts to log in per client address, unless told otherwise (Choice: decisions/029)."""


@attrs.frozen(kw_only=True)
class QuotaUse:
    """What a counter says: `count` requests in the present window, this one included, and when the window ends."""

    count: int
    resets_in: timedelta


@attrs.frozen(kw_only=True)
class QuotaDecision:
    """Whether the request may pass, and what the caller is told either way."""

    policy: QuotaPolicy
    allowed: bool
    remaining: int
    reset_seconds: int

    def headers(self) -> Mapping[str, str]:
        """`RateLimit-*` as in draft-ietf-httpapi-ratelimit-headers-06; `RateLimit-Reset` in whole seconds left."""
        return {
            "RateLimit-Limit": str(self.policy.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset_seconds),
            "RateLimit-Policy": f"{self.policy.limit};w={self.policy.window_seconds}",
        }

    def refusal(self) -> RateLimitExceeded:
        """The error to answer with when the request may not pass."""
        return RateLimitExceeded(
            limit=self.policy.limit,
            window_seconds=self.policy.window_seconds,
            retry_after=max(1, self.reset_seconds),
        )


def decide(policy: QuotaPolicy, use: QuotaUse) -> QuotaDecision:
    """The first `policy.limit` requests of a window pass; seconds left are rounded up, within 0..window."""
    left = math.ceil(use.resets_in.total_seconds())
    return QuotaDecision(
        policy=policy,
        allowed=use.count <= policy.limit,
        remaining=max(0, policy.limit - use.count),
        reset_seconds=min(max(0, left), policy.window_seconds),
    )
