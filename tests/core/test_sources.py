"""The address of a source: what can be asked over HTTP, and nothing that only looks so."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.campaigns import Campaign, CampaignId, CampaignState, CampaignTelling
from awareness_core.errors import ValidationFailed
from awareness_core.sources import (
    UNREADABLE,
    CampaignGlance,
    CampaignReading,
    Source,
    SourceId,
    SourceKind,
    check_source,
    is_another,
    is_due,
    is_kept_as_told,
    unread,
)
from awareness_core.tenants import CompanyId
from tests.core.strategies import NOW

SOURCE = Source(
    id=SourceId("source"),
    company_id=CompanyId("acme"),
    kind=SourceKind.GOPHISH,
    name="GoPhish",
    url="https://gophish.example",
    api_key_file="/run/key",
    salt=b"salt",
    created_at=NOW,
)
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


_READINGS = st.dictionaries(
    st.sampled_from("abcd"),
    st.builds(CampaignReading, digest=st.sampled_from([UNREADABLE, "old", "same"]), read_at=moments),
)


@given(readings=_READINGS, everything=st.booleans())
def test_what_could_not_be_read_comes_after_all_else_and_whoever_waits_longest_first(
    readings: dict[str, CampaignReading], *, everything: bool
) -> None:
    telling = CampaignTelling(external_id="c", name="n", state=CampaignState.RUNNING)
    glances = [
        CampaignGlance(told_id=told_id, digest="same", is_over=True, telling=telling) for told_id in "abcd"
    ]
    found = [one.told_id for one in unread(glances, readings, now=NOW, everything=everything)]
    failed = [
        (readings[one].read_at, one)
        for one in found
        if one in readings and readings[one].digest == UNREADABLE
    ]
    others = found[: len(found) - len(failed)]

    same = {told_id for told_id, known in readings.items() if known.digest == "same"}
    assert set("abcd") - (set() if everything else same) == set(found)
    assert sorted(others) == others
    assert [one for _, one in sorted(failed)] == found[len(others) :]


@given(polled=st.none() | moments, wanted=st.none() | moments, minutes=st.integers(0, 10))
def test_with_intervals_of_zero_a_source_is_due_when_asked_for_and_at_no_other_time(
    polled: datetime | None, wanted: datetime | None, minutes: int
) -> None:
    known = attrs.evolve(SOURCE, polled_at=polled, wanted_at=wanted)
    is_wanted = wanted is not None and (polled is None or wanted >= polled)
    now = NOW + timedelta(minutes=minutes + 1)

    assert is_wanted == is_due(known, now=now, every=timedelta(0))


@given(made=moments, ended=st.none() | moments, told=st.none() | moments)
@example(made=NOW, ended=NOW, told=NOW + timedelta(milliseconds=1))
def test_a_campaign_that_was_made_after_its_end_is_another(
    made: datetime, ended: datetime | None, told: datetime | None
) -> None:
    known = Campaign(
        id=CampaignId("c"), name="n", state=CampaignState.COMPLETED, created_at=made, ends_at=ended
    )
    telling = CampaignTelling(external_id="c", name="n", state=CampaignState.RUNNING, created_at=told)

    if told is None or told == made:
        assert not is_another(known, telling)
    else:
        assert (ended is not None and made <= ended < told) == is_another(known, telling)


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
