"""The URL of the counter store: what is understood, and that a refusal helps without telling a secret."""

from __future__ import annotations

import pytest

from awareness_limits import InvalidStoreUrl, counter_from_url, parse_store_url


@pytest.mark.parametrize(
    ("url", "text", "shown"),
    [
        ("redis://cache", "redis://cache:6379", "redis://cache:6379/0"),
        ("redis://cache:6380/2", "redis://cache:6380/2", "redis://cache:6380/2"),
        ("valkey://cache", "redis://cache:6379", "valkey://cache:6379/0"),
        ("valkeys://cache/1", "rediss://cache:6379/1", "valkeys://cache:6379/1"),
        ("rediss://u:p%40ss@cache", "rediss://u:p%40ss@cache:6379", "rediss://cache:6379/0"),
        ("redis://:secret@[::1]:7000", "redis://:secret@[::1]:7000", "redis://[::1]:7000/0"),
        ("rediss://c?ssl_cert_reqs=none", "rediss://c:6379?ssl_cert_reqs=none", "rediss://c:6379/0"),
        (
            "redis+unix:///run/redis.sock?db=1",
            "redis+unix:///run/redis.sock?db=1",
            "redis+unix:///run/redis.sock",
        ),
        ("valkey+unix:///run/v.sock", "redis+unix:///run/v.sock", "valkey+unix:///run/v.sock"),
        ("  redis://cache\n", "redis://cache:6379", "redis://cache:6379/0"),
    ],
)
def test_store_url_gets_its_defaults_and_loses_its_secrets_when_shown(
    url: str, text: str, shown: str
) -> None:
    parsed = parse_store_url(url)

    assert (text, shown) == (parsed.text, parsed.shown)
    assert "secret" not in repr(parsed)
    assert "ss@" not in repr(parsed)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("cache:6379", "scheme must be one of redis"),
        ("http://:s3cret@cache", "scheme must be one of redis"),
        ("redis://", "host is missing"),
        ("redis://:s3cret@", "host is missing"),
        ("redis://:s3cret@cache:port", "host or port cannot be read"),
        ("redis://:s3cret@cache:99999", "host or port cannot be read"),
        ("redis://:s3cret/slash@cache", "host or port cannot be read"),
        ("redis://[::1", "host or port cannot be read"),
        ("redis://:s3cret@cache/zero", "number of a database"),
        ("redis+unix://", "path of the socket is missing"),
        ("redis://:s3cret@cache?misspelt=1", "option after ?"),
        ("redis://:s3cret@cache?db=s3cret", "option after ?"),
    ],
)
def test_refused_store_url_is_told_what_would_be_right(url: str, told: str) -> None:
    with pytest.raises(InvalidStoreUrl) as raised:
        counter_from_url(url)

    assert told in str(raised.value)
    assert "s3cret" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__ or raised.value.__context__ is None
