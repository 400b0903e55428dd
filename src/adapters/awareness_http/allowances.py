"""What a caller, or an address without a valid key, has left of its quota, and how answers say so.

Counting is a port and the meaning of a count the core's; here is who is counted when. A request with a known key is
charged to the key. An address is charged for failed authentications only, so that a valid key is never blocked by its
neighbours (Choice: decisions/013).
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import attrs

from awareness_core.api_keys import ApiKeyId
from awareness_core.ports import QuotaCounter
from awareness_core.quota import QuotaDecision, QuotaPolicy, QuotaUse, decide
from awareness_http.addresses import counted_as

Header: TypeAlias = tuple[bytes, bytes]


@attrs.frozen(kw_only=True)
class Allowances:
    """The two counts: of keys, and of addresses that failed to show one."""

    counter: QuotaCounter
    key_policy: QuotaPolicy
    address_policy: QuotaPolicy

    async def charge_key(self, key_id: ApiKeyId) -> QuotaDecision:
        """One more request with that key."""
        return decide(self.key_policy, await self.counter.hit(f"key:{key_id}", self.key_policy))

    async def charge_address(self, address: str) -> QuotaDecision:
        """One more failed authentication from there."""
        return decide(self.address_policy, await self.counter.hit(counted_as(address), self.address_policy))

    async def of_address(self, address: str) -> QuotaDecision:
        """What is left to that address, charging nothing."""
        return decide(self.address_policy, await self.counter.peek(counted_as(address), self.address_policy))

    def untouched(self) -> QuotaDecision:
        """What to say when not even the counter can be asked."""
        return decide(self.address_policy, QuotaUse(count=0, resets_in=self.address_policy.window))


def quota_headers(decision: QuotaDecision) -> list[Header]:
    """The four headers that every response carries."""
    limit, remaining, reset, policy = _names_and_policy(decision.policy)
    return [
        limit,
        (remaining, b"%d" % decision.remaining),
        (reset, b"%d" % decision.reset_seconds),
        policy,
    ]


@cache
def _names_and_policy(policy: QuotaPolicy) -> tuple[Header, bytes, bytes, Header]:
    """The two headers that say nothing but the policy, with the names of the two between them."""
    spelt = decide(policy, QuotaUse(count=0, resets_in=policy.window)).headers()
    limit, remaining, reset, named = (
        (name.lower().encode("ascii"), value.encode("ascii")) for name, value in spelt.items()
    )
    return limit, remaining[0], reset[0], named
