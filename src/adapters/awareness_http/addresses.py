"""Which address a request came from, and as whose it is counted.

`X-Forwarded-For` is believed only as far as configured proxies wrote it: read from the right, the first address that is
none of theirs is the client's. An IPv6 client is counted as its /64, which is what one customer gets (Choice:
decisions/013).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_IPV6_PREFIX = 64


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Networks from texts such as `10.0.0.0/8` or `10.0.0.5`. Raises `ValueError` naming the text."""
    return tuple(ip_network(text, strict=False) for text in texts)


def client_address(peer: str, forwarded: Sequence[bytes], *, proxies: Sequence[Network]) -> str:
    """The address of the client, in text.

    `peer` is who opened the connection, `forwarded` every `X-Forwarded-For` value in the order sent. What is no address
    ends the walk: whatever stands to the left of it was not written by a proxy.
    """
    if not proxies or not forwarded:
        return peer
    address = peer
    hops = b",".join(forwarded).decode("latin-1").split(",")
    for hop in reversed(hops):
        if not _is_any_of(address, proxies):
            break
        found = _parse(_without_port(hop.strip()))
        if found is None:
            break
        address = str(found)
    return address


@lru_cache(maxsize=4096)
def counted_as(address: str) -> str:
    """The subject under which a counter knows that address."""
    parsed = _parse(address)
    if isinstance(parsed, IPv6Address):
        network = IPv6Network((int(parsed) >> _IPV6_PREFIX << _IPV6_PREFIX, _IPV6_PREFIX))
        return f"address:{network}"
    return f"address:{parsed if parsed is not None else address}"


def _is_any_of(address: str, networks: Sequence[Network]) -> bool:
    parsed = _parse(address)
    return parsed is not None and any(parsed in network for network in networks)


def _parse(text: str) -> Address | None:
    try:
        parsed = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    # A socket that takes both families shows IPv4 peers as ::ffff:192.0.2.1.
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
