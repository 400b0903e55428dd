"""The address of a source: what can be asked over HTTP, and nothing that only looks so."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.errors import ValidationFailed
from awareness_core.sources import check_source, is_kept_as_told
from tests.core.strategies import NOW

moments = st.integers(0, 5000).map(lambda milliseconds: NOW + timedelta(milliseconds=milliseconds))


def exactly(at: datetime) -> datetime:
    return at


def cut_off(at: datetime) -> datetime:
    return at.replace(microsecond=0)


def rounded(at: datetime) -> datetime:
    return (at + timedelta(milliseconds=500)).replace(microsecond=0)


@given(at=moments, made=moments, keep=st.sampled_from([exactly, cut_off, rounded]))
@example(at=NOW, made=NOW, keep=exactly)
@example(at=NOW + timedelta(milliseconds=600), made=NOW + timedelta(milliseconds=100), keep=rounded)
def test_what_is_taken_at_its_word_is_polled_at_that_moment(
    at: datetime, made: datetime, keep: Callable[[datetime], datetime]
) -> None:
    if is_kept_as_told(at, created_at=keep(made)):
        assert keep(at) == at
    if keep is exactly and made != cut_off(made):
        assert is_kept_as_told(at, created_at=keep(made))


@pytest.mark.parametrize(
    "url",
    [
        "https://gophish.example:3333",
        "http://localhost",
        "HTTPS://Gophish.example/admin",
        "http://192.0.2.1:65535",
        "http://[2001:db8::1]:3333",
    ],
)
def test_an_address_is_kept_as_it_is(url: str) -> None:
    assert ("Name", url) == check_source(name=" Name ", url=f"{url}/", api_key_file="/run/key")


@pytest.mark.parametrize(
    "url",
    [
        "gophish.example",
        "ftp://gophish.example",
        "http://[::1",
        "http://::1",
        "http://[gophish]",
        "http://[192.0.2.1]",
        "http://gophish.example:0",
        "http://gophish.example:65536",
        "http://gophish.example:",
        "http://user@gophish.example",
        "http://gophish.example?x",
        "http://gophish.example#x",
    ],
)
def test_what_cannot_be_asked_is_refused(url: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        check_source(name="Name", url=url, api_key_file="/run/key")

    assert ["url"] == [fault.field for fault in refusal.value.faults]
