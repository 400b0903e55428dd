"""What GoPhish tells of a campaign, read as the core speaks of it."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.campaigns import CampaignState
from awareness_core.errors import ValidationFailed
from awareness_core.kpis import Step
from awareness_core.recipients import Recipient
from awareness_core.results_check import EventTelling, RefusedLine
from awareness_gophish import Export, ExportUnusable, is_export, read_export
from awareness_gophish.timeline import read_event
from tests.architecture.source_tree import ROOT

FOLDER = ROOT / "tests" / "data" / "gophish"
JSON = FOLDER / "campaign-12.json"
CSV = FOLDER / "campaign-12-events.csv"


def events_of(export: Export) -> list[EventTelling]:
    return [line for line in export.lines if isinstance(line, EventTelling)]


def told(**fields: object) -> dict[str, Any]:
    return {"id": 1, "name": "n", "status": "Completed", "results": [], "timeline": [], **fields}


def read(campaign: object) -> Export:
    return read_export(json.dumps(campaign).encode(), name="file")


def happened(message: str = "Email Opened", **fields: object) -> dict[str, Any]:
    return {
        "email": "a@acme.example",
        "time": "2026-03-03T08:00:00Z",
        "message": message,
        "details": "",
        **fields,
    }


def test_a_campaign_is_read_with_its_dates_recipients_and_events() -> None:
    export = read_export(JSON.read_bytes(), name="file")
    campaign = export.campaign

    assert ("gophish-12", "Facture en attente", CampaignState.RUNNING) == (
        campaign.external_id,
        campaign.name,
        campaign.state,
    )
    assert (datetime(2026, 3, 3, 8, tzinfo=UTC), None) == (campaign.starts_at, campaign.ends_at)
    assert datetime(2026, 3, 2, 15, 4, 5, 123_000, tzinfo=UTC) == campaign.created_at
    assert ["ada@acme.example", "bob@acme.example", "+dev@acme.example"] == [
        line.email.text for line in export.lines if isinstance(line, Recipient)
    ]
    assert [
        Step.CLICKED,
        Step.SENT,
        Step.ERROR,
        Step.SENT,
        Step.SENT,
        Step.OPENED,
        Step.CLICKED,
        Step.SUBMITTED,
        Step.REPORTED,
    ] == [one.event.step for one in events_of(export)]


def test_raw_events_as_csv_are_the_same_events() -> None:
    from_json = read_export(JSON.read_bytes(), name="file")
    from_csv = read_export(CSV.read_bytes(), name="Facture")

    assert events_of(from_json) == events_of(from_csv)
    assert (from_json.campaign.external_id, "Facture") == (
        from_csv.campaign.external_id,
        from_csv.campaign.name,
    )


@given(
    delimiter=st.sampled_from(",;\t"), start=st.sampled_from(["", "\ufeff", "\n"]), quotes_all=st.booleans()
)
def test_a_copy_that_a_spreadsheet_saved_is_the_same_export(
    delimiter: str, start: str, *, quotes_all: bool
) -> None:
    copy = io.StringIO()
    writer = csv.writer(copy, delimiter=delimiter, quoting=csv.QUOTE_ALL if quotes_all else csv.QUOTE_MINIMAL)
    writer.writerows(csv.reader(CSV.read_text(encoding="utf-8").splitlines()))
    data = (start + copy.getvalue()).encode()

    assert is_export(data)
    assert read_export(CSV.read_bytes(), name="file") == read_export(data, name="file")


@pytest.mark.parametrize("path", [JSON, CSV])
def test_nothing_of_a_submitted_form_is_kept(path: Path) -> None:
    data = path.read_bytes()

    assert b"correct horse" in data
    assert "correct horse" not in repr(read_export(data, name="file"))


def test_the_browser_is_kept_and_one_that_is_no_address_is_not() -> None:
    def browser(address: object, agent: object) -> str:
        return json.dumps({"payload": {}, "browser": {"address": address, "user-agent": agent}})

    def kept(details: object) -> tuple[str | None, str | None]:
        read = read_event(happened(details=details))
        assert isinstance(read, EventTelling)
        return read.event.address, read.event.user_agent

    assert ("192.0.2.1", "Firefox") == kept(browser("192.0.2.1", "Firefox"))
    assert (None, "ab") == kept(browser("unknown", "a\0\nb"))
    assert (None, "x" * 1000) == kept(browser(1, "x" * 5000))
    assert (None, None) == kept(browser(None, None))
    # An address of a zone whose name is longer than anything real.
    assert (None, "x") == kept(browser("fe80::1%" + "z" * 100, " x "))
    assert [(None, None)] * 6 == [
        kept(details) for details in ("", None, "{broken", '"text"', '{"browser": 1}', "[" * 100_000)
    ]


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (1, "wrong_type"),
        ({}, "unknown_value"),
        (happened("Danced"), "unknown_value"),
        (happened(email=None), "wrong_type"),
        (happened(email="nobody"), "invalid_email"),
        (happened(time="yesterday"), "invalid_moment"),
        (happened(time="2026-03-03"), "invalid_moment"),
    ],
)
def test_an_event_that_cannot_be_read_is_told_in_its_place(event: object, code: str) -> None:
    export = read(told(timeline=[happened("Campaign Created", email=""), happened(), event]))
    (refused,) = [
        (line, place)
        for line, place in zip(export.lines, export.places, strict=True)
        if isinstance(line, RefusedLine)
    ]

    assert ([code], "timeline[2]") == ([fault.code for fault in refused[0].faults], refused[1])


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("Created", CampaignState.DRAFT),
        ("Queued", CampaignState.SCHEDULED),
        ("In progress", CampaignState.RUNNING),
        ("Emails Sent", CampaignState.RUNNING),
        ("Completed", CampaignState.COMPLETED),
    ],
)
def test_states_are_told_in_our_words(status: str, expected: CampaignState) -> None:
    assert expected is read(told(status=status)).campaign.state


def test_without_dates_a_campaign_starts_with_the_first_mail() -> None:
    sent = [happened("Email Sent", time=f"2026-03-0{day}T08:00:00+02:00") for day in (4, 3, 5)]
    campaign = read(
        told(timeline=[happened("Campaign Created", time="2026-03-01T00:00:00Z"), *sent])
    ).campaign

    assert datetime(2026, 3, 3, 6, tzinfo=UTC) == campaign.starts_at
    assert datetime(2026, 3, 1, tzinfo=UTC) == campaign.created_at


@pytest.mark.parametrize(
    ("data", "told_why"),
    [
        (b"", "no raw events"),
        (b"\xff\xfe", "not UTF-8"),
        (b"{", "not JSON"),
        (b"{" * 100_000, "not JSON"),
        (b"{}", "no results of GoPhish"),
        (json.dumps(told(status="Sending")).encode(), "none of GoPhish's"),
        (json.dumps(told(id="12")).encode(), "'id' is no number"),
        (b"email,name\r\n", "no raw events"),
        (b"id,email,send_date,status\r\n", "raw events instead"),
        (b"campaign_id,email,time,message,details\r\n1,,,,\r\n2,,,,\r\n", "several campaigns"),
        (b'email,time,message,details\r\n"a', "not CSV"),
    ],
)
def test_what_is_no_export_is_refused_with_what_would_be(data: bytes, told_why: str) -> None:
    with pytest.raises(ExportUnusable, match=told_why):
        read_export(data, name="file")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (JSON.read_bytes(), True),
        (CSV.read_bytes(), True),
        (b"\xef\xbb\xbf" + CSV.read_bytes(), True),
        (b"id,email,send_date,status\r\n", True),
        (b'"email","time","message","details"', True),
        (b"", False),
        (b"[]", False),
        (b"email;time;message;details\r\n", True),
        (b"email:time:message:details\r\n", False),
        (b"email,type,survenu_at\r\na,b,details\r\n", False),
        (b"\xff\x00" * 100_000, False),
    ],
)
def test_a_file_of_gophish_is_known_by_how_it_begins(data: bytes, *, expected: bool) -> None:
    assert expected is is_export(data)


def test_an_end_before_what_happened_is_left_out_of_a_file_too() -> None:
    export = read(
        told(
            launch_date="2026-03-03T07:00:00Z",
            completed_date="2026-03-03T07:59:59Z",
            timeline=[happened()],
        )
    )

    assert (datetime(2026, 3, 3, 7, tzinfo=UTC), None) == (export.campaign.starts_at, export.campaign.ends_at)
    assert [False, True] == [isinstance(line, RefusedLine) for line in export.lines]
    assert len(export.lines) == len(export.places)


def test_a_campaign_with_impossible_dates_is_refused_by_their_name() -> None:
    with pytest.raises(ValidationFailed) as refused:
        read(told(launch_date="soon"))

    assert ["launch_date"] == [fault.field for fault in refused.value.faults]


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert isinstance(_read_or_refused(data), Export | str)


def _read_or_refused(data: bytes) -> Export | str:
    """The export, or the words in which it is refused."""
    try:
        return read_export(data, name="file")
    except (ExportUnusable, ValidationFailed) as refusal:
        return str(refusal)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    timeline=st.lists(
        values
        | st.fixed_dictionaries(
            {
                "email": values | st.just("a@acme.example"),
                "time": values | st.just("2026-03-03T08:00:00Z"),
                "message": values | st.sampled_from(["Email Sent", "Clicked Link", "Campaign Created"]),
                "details": values | values.map(json.dumps),
            }
        ),
        max_size=4,
    ),
    results=st.lists(values | st.fixed_dictionaries({"email": values}), max_size=3),
)
def test_any_timeline_is_read_or_told_line_by_line(timeline: list[object], results: list[object]) -> None:
    export = _read_or_refused(json.dumps(told(timeline=timeline, results=results)).encode())

    # Only the moment of creation, which is the campaign's own, can spoil the whole.
    assert isinstance(export, Export) or export.startswith("created_date")
    assert isinstance(export, str) or len(export.lines) == len(export.places)
