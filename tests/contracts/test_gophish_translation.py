"""GoPhish's words and ours: every recorded trap, and that no form field gets through."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.campaign_events import Event
from awareness_core.campaigns import CampaignState, CampaignTelling
from awareness_core.errors import ValidationFailed
from awareness_core.kpis import Step
from awareness_core.recipients import Recipient
from awareness_core.results_check import EventTelling, RefusedLine
from awareness_core.results_plan import Line
from awareness_core.source_ports import ToldCampaign
from awareness_gophish import GophishTool
from awareness_gophish.dates import believed
from awareness_gophish.shapes import Results, Summary, TimelineEvent
from awareness_gophish.timeline import STEPS
from awareness_gophish.translation import glance_of, lines_of, told_campaign
from tests.contracts.gophish_server import recorded
from tests.contracts.test_sources import source

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36"


def results(number: int = 7) -> Results:
    return msgspec.convert(recorded(f"results-{number}.json"), Results)


def events(lines: list[Line] | Any) -> list[Event]:  # noqa: ANN401 (any sequence of lines)
    return [line.event for line in lines if isinstance(line, EventTelling)]


def told(event: dict[str, object]) -> Line | None:
    return GophishTool().read_notice(json.dumps(event).encode()).line


def clicked(**changes: object) -> dict[str, object]:
    return {
        "campaign_id": 7,
        "email": "bob@acme.example",
        "time": "2026-03-02T10:00:30.2Z",
        "message": "Clicked Link",
        "details": json.dumps({"browser": {"address": "203.0.113.8", "user-agent": AGENT}}),
        **changes,
    }


def browser(address: object, agent: object = AGENT) -> str:
    return json.dumps({"payload": {"rid": ["x"]}, "browser": {"address": address, "user-agent": agent}})


def test_recipients_are_everyone_in_the_results() -> None:
    recipients = [line.email.text for line in lines_of(results()) if isinstance(line, Recipient)]

    assert [
        "ada@acme.example",
        "Bob@acme.example",
        "cleo@acme.example",
        "dan@acme.example",
        "gone@nowhere.example",
        "+eve@acme.example",
    ] == recipients


def test_what_a_late_sending_hid_in_the_status_is_in_the_events() -> None:
    adas = [event.step for event in events(lines_of(results())) if event.recipient == "ada@acme.example"]

    assert "Email Sent" == recorded("results-7.json")["results"][0]["status"]
    assert [Step.CLICKED, Step.SENT, Step.REPORTED] == adas


def test_the_timeline_is_told_whole_but_for_the_creation() -> None:
    lines = lines_of(results())

    assert [] == [line for line in lines if isinstance(line, RefusedLine)]
    assert len(recorded("results-7.json")["timeline"]) - 1 == len(events(lines))


def test_a_browser_is_taken_up_and_a_form_is_not() -> None:
    (submission,) = (event for event in events(lines_of(results())) if event.step is Step.SUBMITTED)

    assert ("203.0.113.8", AGENT) == (submission.address, submission.user_agent)
    assert datetime(2026, 3, 2, 10, 1, 5, 987_000, tzinfo=UTC) == submission.at
    assert None is submission.method


def test_nothing_that_was_typed_is_in_any_value() -> None:
    found = results()
    spelt = repr([attrs.asdict(line) for line in lines_of(found)])

    assert "SECRET" in recorded("results-7.json")["timeline"][7]["details"]
    assert "SECRET" not in spelt
    assert "password" not in spelt


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("Created", CampaignState.DRAFT),
        ("Queued", CampaignState.SCHEDULED),
        ("In progress", CampaignState.RUNNING),
        ("Emails Sent", CampaignState.RUNNING),
        ("Completed", CampaignState.COMPLETED),
        ("Some later word", CampaignState.RUNNING),
    ],
)
def test_a_status_is_a_state(status: str, state: CampaignState) -> None:
    glance = glance_of(source(1), Summary(id=3, name="n", status=status))

    assert state is glance.telling.state
    assert (state is CampaignState.COMPLETED) == glance.is_over


def test_dates_that_are_unset_are_not_told() -> None:
    spring, summer, winter, called_off = (
        glance_of(source(1), msgspec.convert(one, Summary)).telling
        for one in recorded("summary.json")["campaigns"]
    )

    assert "gophish:source-1:7" == spring.external_id
    assert datetime(2026, 3, 2, 8, 0, 1, 123_000, tzinfo=UTC) == spring.created_at
    assert datetime(2026, 3, 9, 17, 0, tzinfo=UTC) == spring.ends_at
    assert None is summer.ends_at
    assert datetime(2026, 12, 1, 9, 0, tzinfo=UTC) == winter.starts_at
    assert None is winter.ends_at
    assert datetime(2026, 3, 11, 10, 5, tzinfo=UTC) == called_off.ends_at


def told_of(number: int, **changes: str) -> ToldCampaign:
    """A campaign as recorded, but for what of its summary is changed."""
    (summary,) = (one for one in recorded("summary.json")["campaigns"] if one["id"] == number)
    return told_campaign(glance_of(source(1), msgspec.convert(summary | changes, Summary)), results(number))


def refused(told: ToldCampaign) -> list[tuple[str, str]]:
    lines = [line for line in told.lines if isinstance(line, RefusedLine)]
    return [(fault.field, fault.code) for line in lines for fault in line.faults]


def test_a_campaign_that_is_called_off_while_it_is_queued_began_when_it_ended() -> None:
    told = told_of(10)

    assert datetime(2026, 3, 11, 10, 5, tzinfo=UTC) == told.campaign.starts_at == told.campaign.ends_at
    assert [] == refused(told)


@pytest.mark.parametrize(
    "ended",
    [
        # An hour before the launch, before the first sending, and before somebody clicked.
        "2026-03-02T07:00:00Z",
        "2026-03-02T08:00:01.5Z",
        "2026-03-03T06:59:59Z",
    ],
)
def test_an_end_before_what_happened_is_told_as_none_and_moves_no_start(ended: str) -> None:
    told = told_of(7, completed_date=ended)

    assert (datetime(2026, 3, 2, 8, 0, tzinfo=UTC), None) == (told.campaign.starts_at, told.campaign.ends_at)
    assert [("completed_date", "reversed_period")] == refused(told)


def test_a_sending_or_a_report_may_come_after_the_end() -> None:
    late = [
        TimelineEvent(message=message, email="ada@acme.example", time="2026-03-20T10:00:00Z")
        for message in ("Email Sent", "Email Reported", "Error Sending Email")
    ]
    whole = results()
    (summary,) = (one for one in recorded("summary.json")["campaigns"] if one["id"] == 7)
    glance = glance_of(source(1), msgspec.convert(summary, Summary))
    told = told_campaign(glance, msgspec.structs.replace(whole, timeline=[*(whole.timeline or ()), *late]))

    assert datetime(2026, 3, 9, 17, 0, tzinfo=UTC) == told.campaign.ends_at
    assert [] == refused(told)


def test_a_campaign_ends_after_it_was_made() -> None:
    told = told_of(10, completed_date="2026-03-11T10:00:00.74Z")

    assert datetime(2026, 12, 24, 9, 0, tzinfo=UTC) == told.campaign.starts_at
    assert None is told.campaign.ends_at
    assert [("completed_date", "reversed_period")] == refused(told)


@pytest.mark.parametrize("name", ["created_date", "launch_date", "completed_date"])
@pytest.mark.parametrize(
    ("date", "code"),
    [
        ("1999-12-31T23:59:59Z", "out_of_range"),
        ("2100-01-01T00:00:00Z", "out_of_range"),
        ("yesterday", "invalid_moment"),
    ],
)
def test_a_date_that_cannot_be_is_not_told_but_said(name: str, date: str, code: str) -> None:
    told = told_of(7, **{name: date})
    ours = {"created_date": "created_at", "launch_date": "starts_at", "completed_date": "ends_at"}[name]

    assert None is getattr(told.campaign, ours)
    assert [(name, code)] == refused(told)


_HAPPENED = st.tuples(st.sampled_from(sorted(STEPS)), st.integers(-5, 30))


@given(st.lists(_HAPPENED, max_size=6), st.integers(-40, 40), st.integers(-5, 30))
@example([("Email Sent", 1), ("Clicked Link", 3)], 2, 0)
def test_no_end_takes_away_all_that_happened(
    happened: list[tuple[str, int]], ended: int, launched: int
) -> None:
    at = [f"{NOON + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}" for _, minutes in happened]
    timeline = [
        TimelineEvent(message=message, email="ada@acme.example", time=time)
        for (message, _), time in zip(happened, at, strict=True)
    ]
    telling = CampaignTelling(
        external_id="x",
        name="x",
        state=CampaignState.COMPLETED,
        starts_at=NOON + timedelta(minutes=launched),
        ends_at=NOON + timedelta(minutes=ended),
    )
    lines = lines_of(Results(id=7, results=[], timeline=timeline))
    told, fault = believed(telling, lines)

    assert (fault is None) == (told.ends_at is not None)
    assert told.starts_at is not None
    if told.ends_at is not None:
        assert told.starts_at <= told.ends_at
        assert all(event.at <= told.ends_at for event in events(lines) if event.step is Step.CLICKED)
        assert any(event.at <= told.ends_at for event in events(lines)) or not happened
    if happened:
        assert telling.starts_at == told.starts_at


def test_a_name_is_cut_to_what_fits() -> None:
    glance = glance_of(source(1), Summary(id=3, name="é\0" * 300, status="Queued"))

    assert 200 >= len(glance.telling.name) > 190
    assert "\0" not in glance.telling.name


def test_every_difference_in_a_summary_is_another_digest() -> None:
    spring = msgspec.convert(recorded("summary.json")["campaigns"][0], Summary)
    digests = {
        glance_of(source(1), msgspec.structs.replace(spring, **change)).digest
        for change in ({}, {"name": "x"}, {"status": "x"}, {"completed_date": None}, {"stats": None})
    }

    assert 5 == len(digests)


@pytest.mark.parametrize(
    ("sent", "address"),
    [
        ("203.0.113.8", "203.0.113.8"),
        ("203.0.113.8:52100", "203.0.113.8"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("203.0.113.8, 10.0.0.1", "203.0.113.8"),
        ("unknown", None),
        ("", None),
        (None, None),
    ],
)
def test_an_address_is_found_in_what_a_proxy_made_of_it(sent: object, address: str | None) -> None:
    line = told(clicked(details=browser(sent)))

    assert isinstance(line, EventTelling)
    assert address == line.event.address


@pytest.mark.parametrize(
    "details",
    [
        "",
        None,
        "no JSON",
        "[]",
        "{}",
        '{"browser": null, "payload": null}',
        '{"browser": 3}',
        '{"error": "451"}',
        "[" * 9999,
    ],
)
def test_an_event_counts_whatever_surrounds_it(details: str | None) -> None:
    line = told(clicked(details=details))

    assert isinstance(line, EventTelling)
    assert (None, None) == (line.event.address, line.event.user_agent)


@given(st.text(max_size=1500), st.text(max_size=60))
@example("a" * 5000, "::ffff:192.0.2.1")
@example("\x00\u202e" * 600, "\x00")
def test_whoever_clicks_cannot_make_their_click_unreadable(agent: str, address: str) -> None:
    line = told(clicked(details=browser(address, agent)))

    assert isinstance(line, EventTelling)


def test_a_message_of_a_later_version_is_told_as_unknown() -> None:
    line = told(clicked(message="Email Bounced"))

    assert isinstance(line, RefusedLine)
    assert [("message", "unknown_value")] == [(fault.field, fault.code) for fault in line.faults]


@pytest.mark.parametrize(
    ("change", "field"),
    [({"email": "nobody"}, "email"), ({"time": "0001-01-01"}, "time"), ({"time": ""}, "time")],
)
def test_an_event_that_cannot_be_is_refused_by_the_name_that_gophish_uses(
    change: dict[str, object], field: str
) -> None:
    line = told(clicked(**change))

    assert isinstance(line, RefusedLine)
    assert [field] == [fault.field for fault in line.faults]


@pytest.mark.parametrize("number", [7, 8])
def test_a_notice_says_what_the_poll_says_of_the_same_event(number: int) -> None:
    told_events = recorded(f"results-{number}.json")["timeline"]
    lines = [line for line in map(told, told_events) if line is not None]

    assert events(lines_of(results(number))) == events(lines)
    assert set(STEPS.values()) >= {event.step for event in events(lines)}


def test_a_notice_names_its_campaign_but_not_in_old_versions() -> None:
    old = clicked()
    del old["campaign_id"]
    tool = GophishTool()

    assert "7" == tool.read_notice(json.dumps(clicked()).encode()).told_id
    assert None is tool.read_notice(json.dumps(old).encode()).told_id
    assert tool.read_notice(b'{"success": true}').is_test


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"null",
        b"[]",
        b"\xff",
        b'{"message": 3}',
        b'{"success": "yes"}',
        b"{" * 99_999,
        b'{"message": "x"',
    ],
)
def test_what_is_no_notice_is_refused(body: bytes) -> None:
    with pytest.raises(ValidationFailed, match="not an event of GoPhish"):
        GophishTool().read_notice(body)


def test_a_refused_notice_quotes_nothing() -> None:
    with pytest.raises(ValidationFailed) as refusal:
        GophishTool().read_notice(json.dumps(clicked(details={"payload": {"password": "hunter2"}})).encode())

    assert "hunter2" not in str(refusal.value)


def test_an_odd_line_keeps_out_no_other() -> None:
    told = {
        "id": 1,
        "results": [{"email": None}, {"email": "a@acme.example"}],
        "timeline": [
            {"message": None, "email": "a@acme.example", "time": "2026-03-03T08:00:00Z"},
            {"message": "Email Opened", "email": None, "time": "2026-03-03T08:00:00Z"},
            {"message": "Email Opened", "email": "a@acme.example", "time": None},
            {"message": "Email Opened", "email": "a@acme.example", "time": "0001-01-01T00:00:00Z"},
            {"message": "Email Opened", "email": "a@acme.example", "time": "2026-03-03T08:00:00Z"},
        ],
    }

    lines = lines_of(msgspec.json.decode(json.dumps(told), type=Results))

    refused = [isinstance(line, RefusedLine) for line in lines]
    assert [True, False, True, True, True, True, False] == refused
