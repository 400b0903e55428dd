"""Reading a CSV of events: which column means what, what a row tells, and how the file or a row is refused."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.campaigns import CampaignState
from awareness_core.errors import ValidationFailed
from awareness_core.kpis import Step
from awareness_core.recipients import Recipient
from awareness_core.results_check import EventTelling, RawCampaign, RefusedLine
from awareness_server.event_csv import EventFile, read_event_csv
from awareness_server.event_headers import HEADERS, STEP_WORDS, field_of, step_said
from awareness_server.roster_headers import fold
from awareness_server.roster_table import RosterUnusable

CAMPAIGN = RawCampaign(external_id="x", name="X", state=CampaignState.RUNNING)
AT = "2026-03-03T08:00:00Z"
NAMES = {"external_id": "--external-id", "starts_at": "--start"}


def read(*rows: str, campaign: RawCampaign = CAMPAIGN, **options: str) -> EventFile:
    return read_event_csv("\r\n".join(rows).encode(), campaign, names=NAMES, **options)


def refusal(*rows: str) -> RosterUnusable:
    with pytest.raises(RosterUnusable) as refused:
        read(*rows)
    return refused.value


def faults(told: EventFile) -> list[tuple[str, str, str]]:
    return [
        (place, fault.field, fault.code)
        for line, place in zip(told.lines, told.places, strict=True)
        if isinstance(line, RefusedLine)
        for fault in line.faults
    ]


def events(told: EventFile) -> list[EventTelling]:
    return [line for line in told.lines if isinstance(line, EventTelling)]


def people(told: EventFile) -> list[tuple[str, str | None]]:
    return [(str(line.email), line.external_id) for line in told.lines if isinstance(line, Recipient)]


# Columns


@pytest.mark.parametrize("spell", [str, str.upper, str.title, lambda word: f" {word.replace('_', ' ')} "])
def test_known_headers_are_recognised_in_any_spelling(spell: type[str]) -> None:
    for field, headers in HEADERS.items():
        assert [field] * len(headers) == [field_of(spell(header)) for header in headers]


def test_no_header_and_no_word_means_two_things() -> None:
    headers = [fold(header) for said in HEADERS.values() for header in {*map(fold, said)}]

    assert sorted(set(headers)) == sorted(headers)
    assert STEP_WORDS == {word: step_said(word) for word in STEP_WORDS}


def test_the_names_of_the_http_interface_are_read() -> None:
    told = read(
        "email,type,survenu_at,id,ip,user_agent,methode,external_id",
        f"a@acme.example,clique,{AT},e1,192.0.2.1,Firefox,get,E1",
    )
    (event,) = events(told)

    assert (Step.CLICKED, "192.0.2.1", "Firefox", "GET") == (
        event.event.step,
        event.event.address,
        event.event.user_agent,
        event.event.method,
    )
    assert [("a@acme.example", "E1")] == people(told)
    assert [] == told.unread


def test_columns_that_are_lacking_are_all_told_with_what_is_recognised() -> None:
    refused = refusal("E-mail;Durée", "a@acme.example;3")

    assert "as a CSV of events it lacks the columns 'type', 'survenu_at'" == refused.message
    assert "Columns found: 'E-mail', 'Durée'" == refused.hints[0]
    assert any("'Survenu le'" in hint for hint in refused.hints)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("email,type,at,date", "'at' and 'date' could each be the column 'survenu_at'; rename all but one"),
        ("email,type,at,IP,IP", "2 columns are named 'IP'; rename all but one"),
        ("email,type", "as a CSV of events it lacks the column 'survenu_at'"),
    ],
)
def test_a_column_is_never_guessed(header: str, said: str) -> None:
    assert said == refusal(header, "a,b,c").message


def test_a_title_above_the_header_is_pointed_out() -> None:
    refused = refusal("Results of March", "", "email;type;at", f"a@acme.example;sent;{AT}")

    assert "line 3 looks like its header; delete what stands above it" == refused.message


def test_a_header_alone_is_refused() -> None:
    assert "it has a header and nothing below it" == refusal("email,type,at").message


# Rows


@pytest.mark.parametrize("word", [*STEP_WORDS, "Cliqué", "ENVOYÉ", " Opened "])
def test_what_happened_is_read_in_the_words_of_both_languages(word: str) -> None:
    (event,) = events(read("email,type,at", f"a@acme.example,{word},{AT}"))

    assert step_said(word) is event.event.step


def test_a_row_without_a_type_makes_a_recipient_only() -> None:
    told = read("email,type,at,external_id", "a@acme.example,,,", "b@acme.example,,,E2")

    assert [("a@acme.example", None), ("b@acme.example", "E2")] == people(told)
    assert [] == events(told)


def test_an_external_id_is_told_once_beside_the_events_that_carry_it() -> None:
    told = read(
        "email,type,at,external_id",
        f"a@acme.example,sent,{AT},E1",
        f"A@acme.example,opened,{AT},E1",
        f"b@acme.example,sent,{AT},",
    )

    assert [("a@acme.example", "E1")] == people(told)
    assert 3 == len(events(told))


def test_a_bad_row_is_told_by_its_line_with_all_that_is_wrong_and_spoils_no_other() -> None:
    told = read(
        "Mail;Type;Time;IP;Employee ID",
        f"a@acme.example;sent;{AT};;1",
        "nobody;danced;yesterday;1.2.3;2",
        f'"b@acme.example";"sent";"{AT}"x;;',
        f"c@acme.example;sent;{AT}",
        "d@acme.example;sent;2026-03-03;;",
        f"e@acme.example;sent;{AT};;1",
    )

    assert [
        ("line 3", "Mail", "invalid_email"),
        ("line 3", "Type", "unknown_value"),
        ("line 3", "Time", "invalid_moment"),
        ("line 3", "IP", "invalid_address"),
        ("line 4", "", "unreadable"),
        ("line 5", "", "unreadable"),
        ("line 6", "Time", "invalid_moment"),
    ] == sorted(
        faults(told), key=lambda fault: (fault[0], ["Mail", "Type", "Time", "IP", ""].index(fault[1]))
    )
    assert ["a@acme.example", "e@acme.example"] == [str(one.email) for one in events(told)]


@pytest.mark.parametrize("time", ["", "03/03/2026 10:12", "2026-03-03", "2026-03-03T08:00:00"])
def test_a_time_without_its_offset_is_told_what_would_be_right(time: str) -> None:
    (line,) = read("email,type,at", f"a@acme.example,sent,{time}").lines

    assert isinstance(line, RefusedLine)
    assert (
        "must be a date-time with its offset like 2026-03-31T08:00:00Z (RFC 3339)" == line.faults[0].message
    )


# The campaign


def test_without_a_start_it_begins_with_the_first_mail() -> None:
    rows = ["email,type,at", f"a@acme.example,opened,{AT}"]
    sent = [f"{who}@acme.example,sent,2026-03-03T{hour}:00:00+01:00" for who, hour in (("a", 12), ("b", 11))]

    assert datetime(2026, 3, 3, 10, tzinfo=UTC) == read(*rows, *sent).campaign.starts_at
    assert None is read(*rows).campaign.starts_at
    said = RawCampaign(external_id="x", name="X", state=CampaignState.RUNNING, starts_at="2026-03-01")
    assert datetime(2026, 3, 1, tzinfo=UTC) == read(*rows, *sent, campaign=said).campaign.starts_at


def test_a_campaign_that_cannot_be_is_refused_by_the_name_of_its_option() -> None:
    nameless = RawCampaign(external_id="", name="X", state=CampaignState.RUNNING)
    with pytest.raises(ValidationFailed) as refused:
        read("email,type,at", f"a@acme.example,sent,{AT}", campaign=nameless)

    assert ["--external-id"] == [fault.field for fault in refused.value.faults]


cells = st.text("aé@;,\"'\n ", max_size=6) | st.sampled_from(
    ["a@acme.example", AT, "sent", "ouvert", "x", ""]
)


@given(st.lists(st.lists(cells, min_size=4, max_size=4), min_size=1, max_size=5))
def test_no_row_that_says_what_happened_is_dropped_in_silence(rows: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["email", "type", "at", "external_id"], ["a@acme.example", *[""] * 3], *rows])
    told = read(text.getvalue())
    typed = sum(bool(row[1].strip()) for row in rows)

    assert typed + 1 <= len(set(told.places)) <= told.rows <= len(rows) + 1
