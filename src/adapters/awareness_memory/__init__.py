"""The whole outside world in memory: for demos, for tests, for programs that embed the core, and as the reference that
other stores are compared with.

`memory_ports()` is all that a program needs to call the use cases.
"""

from __future__ import annotations

import attrs

from awareness_core.clock_ports import Clock, Entropy
from awareness_core.ports import PortalPorts
from awareness_memory.identity import MemoryIdentityProviders, MemorySingleSignOn
from awareness_memory.mailbox import MemoryMailer
from awareness_memory.passwords import FewPasswords, ScryptHasher
from awareness_memory.portal import MemoryVisitors
from awareness_memory.quota import MemoryQuotaCounter
from awareness_memory.sources import MemorySources
from awareness_memory.store import MemoryStore
from awareness_memory.world import ManualClock, SeededEntropy, SystemClock, SystemEntropy

__all__ = [
    "FewPasswords",
    "ManualClock",
    "MemoryIdentityProviders",
    "MemoryMailer",
    "MemoryPorts",
    "MemoryQuotaCounter",
    "MemorySingleSignOn",
    "MemorySources",
    "MemoryStore",
    "MemoryVisitors",
    "ScryptHasher",
    "SeededEntropy",
    "SystemClock",
    "SystemEntropy",
    "memory_ports",
]


@attrs.frozen(kw_only=True)
class MemoryPorts(PortalPorts):
    """`Ports` that show what only memory has: letters of `mailer`, addresses it shall refuse, who is vouched for."""

    companies: MemoryStore
    api_keys: MemoryStore
    store: MemoryStore
    sources: MemorySources
    mailer: MemoryMailer
    quota: MemoryQuotaCounter
    visitors: MemoryVisitors
    identity_providers: MemoryIdentityProviders
    single_sign_on: MemorySingleSignOn


def memory_ports(*, clock: Clock | None = None, entropy: Entropy | None = None) -> MemoryPorts:
    """A new, empty world. By default time is the computer's and secrets are the operating system's."""
    clock = clock or SystemClock()
    store = MemoryStore()
    return MemoryPorts(
        clock=clock,
        entropy=entropy or SystemEntropy(),
        companies=store,
        api_keys=store,
        store=store,
        sources=MemorySources(store),
        mailer=MemoryMailer(),
        quota=MemoryQuotaCounter(clock),
        visitors=store.visitors,
        hasher=ScryptHasher(),
        frequent_passwords=FewPasswords(),
        identity_providers=store.identity_providers,
        single_sign_on=MemorySingleSignOn(),
    )
