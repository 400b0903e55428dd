"""Who a client is behind proxies: only what our own proxies wrote is believed."""

from __future__ import annotations

import pytest

from awareness_http.addresses import client_address, counted_as, parse_networks

PROXIES = parse_networks(["10.0.0.0/8", "192.0.2.5", "2001:db8:ffff::/48"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.9", [], "203.0.113.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1, 10.0.0.2"], "198.51.100.1"),
        ("10.0.0.1", ["6.6.6.6, 198.51.100.1, 192.0.2.5"], "198.51.100.1"),
        ("10.0.0.1", ["6.6.6.6", "198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1", "10.9.9.9"], "198.51.100.1"),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["unknown"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1, nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1, nonsense, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("10.0.0.1", ["[2001:db8::1]:443"], "2001:db8::1"),
        ("2001:db8:ffff::1", ["198.51.100.1"], "198.51.100.1"),
        ("::ffff:10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", [" 198.51.100.1 "], "198.51.100.1"),
        ("10.0.0.1", ["\xff\xfe"], "10.0.0.1"),
        ("unknown", ["198.51.100.1"], "unknown"),
    ],
)
def test_the_rightmost_address_that_is_no_proxy_of_ours_is_the_client(
    peer: str, forwarded: list[str], client: str
) -> None:
    sent = [value.encode("latin-1") for value in forwarded]

    assert client == client_address(peer, sent, proxies=PROXIES)


def test_without_proxies_nothing_that_is_sent_is_believed() -> None:
    assert "203.0.113.9" == client_address("203.0.113.9", [b"198.51.100.1"], proxies=())


@pytest.mark.parametrize(
    ("address", "subject"),
    [
        ("192.0.2.1", "address:192.0.2.1"),
        ("::ffff:192.0.2.1", "address:192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "address:2001:db8:1:2::/64"),
        ("2001:DB8:1:2::", "address:2001:db8:1:2::/64"),
        ("fe80::1%eth0", "address:fe80::/64"),
        ("unknown", "address:unknown"),
    ],
)
def test_an_address_is_counted_as_what_one_customer_gets(address: str, subject: str) -> None:
    assert subject == counted_as(address)


@pytest.mark.parametrize("text", ["proxy.example", "10.0.0.0/33", ""])
def test_a_network_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_networks([text])
