"""The address of a source: what can be asked over HTTP, and nothing that only looks so."""

from __future__ import annotations

import pytest

from awareness_core.errors import ValidationFailed
from awareness_core.sources import check_source


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
