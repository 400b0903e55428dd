"""The results of the demo's campaigns: GoPhish's in shape, a story that could be, and what the company shows of it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from awareness_core.campaigns import CampaignState
from awareness_core.interactions import judge_campaign
from awareness_core.kpis import Step, tally
from awareness_core.results_check import EventTelling, RefusedLine
from awareness_gophish import read_export
from awareness_server.demo_campaigns import FictionalCampaign
from awareness_server.demo_data import demo_data
from awareness_server.demo_exports import gophish_export, told_by_tool
from awareness_server.demo_timeline import Happening
from tests.architecture.source_tree import ROOT
from tests.end_to_end.demo_company import KEPT_EXPORT, KEPT_NUMBER, NOW, drawn, found
from tests.end_to_end.installed import Installation

HAND_MADE = ROOT / "tests" / "data" / "gophish" / "campaign-12.json"
DOCUMENTATION = [ip_network(text) for text in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]
GATEWAY = demo_data().gateway

seeds = st.integers(0, 1 << 32)
sizes = st.integers(20, 300)
moments = st.integers(0, 10**6).map(lambda quarters: NOW + timedelta(minutes=15 * quarters))


def by_person(campaign: FictionalCampaign) -> Iterator[list[Happening]]:
    """What people did themselves, each of them by themselves."""
    told: defaultdict[str, list[Happening]] = defaultdict(list)
    for one in campaign.timeline:
        if one.address != GATEWAY.address:
            told[one.person.email].append(one)
    return iter(told.values())


@given(now=moments, seed=seeds)
@example(now=datetime(2026, 1, 7, tzinfo=UTC), seed=1)
@example(now=datetime(2026, 1, 6, 23, 59, 59, tzinfo=UTC), seed=1)
@settings(max_examples=20)
def test_nothing_is_told_that_has_not_happened_yet(now: datetime, seed: int) -> None:
    for campaign in drawn(employees=60, seed=seed, now=now):
        told = [one.at for one in campaign.timeline]
        latest = min(now, campaign.ends_at or now)

        assert all(campaign.created_at < at <= latest for at in told)
        assert sorted(told) == told


@given(now=moments, seed=seeds, employees=sizes)
@example(now=NOW, seed=1, employees=250)
@settings(max_examples=15)
def test_everybody_takes_one_step_after_the_other(now: datetime, seed: int, employees: int) -> None:
    order = [Step.SENT, Step.OPENED, Step.CLICKED, Step.SUBMITTED, Step.REPORTED]
    for campaign in drawn(employees=employees, seed=seed, now=now):
        targets = {recipient.person for recipient in campaign.recipients}
        assert len({recipient.token for recipient in campaign.recipients}) == len(campaign.recipients)
        for own in by_person(campaign):
            steps = [one.step for one in own]
            assert own[0].person in targets
            assert steps == [Step.ERROR] or steps == [step for step in order if step in steps]
            assert steps[0] in {Step.SENT, Step.ERROR}
            assert Step.CLICKED in steps or Step.SUBMITTED not in steps


@given(seed=seeds, employees=sizes)
@example(seed=1, employees=250)
@settings(max_examples=10)
def test_the_gateway_is_taken_for_a_machine_and_nobody_else_is(seed: int, employees: int) -> None:
    for campaign in drawn(employees=employees, seed=seed):
        _assert_only_the_gateway_is_a_machine(campaign)


@pytest.mark.slow
def test_nobody_in_a_large_company_is_taken_for_a_machine() -> None:
    for campaign in drawn(employees=5000)[::4]:
        _assert_only_the_gateway_is_a_machine(campaign)


def test_the_gateway_follows_links_in_most_campaigns_and_hides_in_some() -> None:
    scanned = [[one for one in campaign.timeline if one.address == GATEWAY.address] for campaign in drawn()]

    assert sum(map(bool, scanned)) > len(scanned) / 2
    assert set(GATEWAY.user_agents) == {one.user_agent for told in scanned for one in told}


def test_people_take_minutes_hours_and_some_of_them_days() -> None:
    waits = []
    for campaign in drawn():
        for own in by_person(campaign):
            clicked = [one.at - own[0].at for one in own if one.step is Step.CLICKED]
            waits += clicked
    quick, slow = (
        sum(wait < timedelta(minutes=10) for wait in waits),
        sum(wait > timedelta(days=1) for wait in waits),
    )

    assert min(waits) > timedelta(seconds=30)
    assert timedelta(minutes=15) < sorted(waits)[len(waits) // 2] < timedelta(hours=4)
    assert 0 < slow < quick < len(waits) / 3


def test_everybody_has_one_browser_at_an_address_that_is_nobodys() -> None:
    browsers: defaultdict[str, set[tuple[str, str | None]]] = defaultdict(set)
    for campaign in drawn():
        for own in by_person(campaign):
            browsers[own[0].person.email].update(
                (one.address, one.user_agent) for one in own if one.address is not None
            )
    used = [browser for own in browsers.values() for browser in own]

    assert {1} == {len(own) for own in browsers.values() if own}
    assert all(any(ip_address(address) in network for network in DOCUMENTATION) for address, _ in used)
    assert {agent for _, agent in used} == set(demo_data().user_agents)


@given(seed=seeds, hours=st.integers(0, 7 * 24 - 1))
@example(seed=1, hours=7 * 24 - 1)
@settings(max_examples=10)
def test_the_same_seed_makes_the_same_bytes_all_week_long(seed: int, hours: int) -> None:
    wednesday = datetime(2026, 1, 7, tzinfo=UTC)
    first, again = (
        [gophish_export(campaign) for campaign in drawn(employees=40, seed=seed, now=now)]
        for now in (wednesday, wednesday + timedelta(hours=hours))
    )

    assert first == again


def test_an_export_has_the_shape_of_gophishs() -> None:
    known = _shape(json.loads(HAND_MADE.read_bytes()))

    for campaign in drawn():
        assert _shape(json.loads(gophish_export(campaign))) <= known
    assert _shape(json.loads(KEPT_EXPORT.read_bytes())) == known - {
        "details.payload.username",
        "details.payload.password",
    }


def test_every_line_of_every_export_is_read() -> None:
    for campaign in drawn():
        export = read_export(gophish_export(campaign), name="file")

        assert [] == [line for line in export.lines if isinstance(line, RefusedLine)]
        assert len(campaign.recipients) + len(campaign.timeline) == len(export.lines)
        assert (campaign.plan.name, campaign.created_at) == (export.campaign.name, export.campaign.created_at)
        assert campaign.starts_at == export.campaign.starts_at


def test_a_result_stands_where_gophish_would_see_it() -> None:
    ranks = ["Email Sent", "Email Opened", "Clicked Link", "Submitted Data"]
    for told in (json.loads(gophish_export(campaign)) for campaign in drawn()):
        events = defaultdict(list)
        for event in told["timeline"]:
            events[event["email"]].append(event["message"])
        for result in told["results"]:
            own = events[result["email"]]
            farthest = max(
                (message for message in own if message in ranks), key=ranks.index, default="Scheduled"
            )
            expected = "Error" if "Error Sending Email" in own else farthest

            assert (expected, "Email Reported" in own) == (result["status"], result["reported"])


def test_the_company_shows_what_its_people_did() -> None:
    seen = {campaign.external_id: campaign for campaign in found(now=NOW).campaigns}

    assert set(CampaignState) == {campaign.state for campaign in seen.values()}
    for campaign in drawn():
        steps = {recipient.person.email: set[Step]() for recipient in campaign.recipients}
        for own in by_person(campaign):
            steps[own[0].person.email] |= {one.step for one in own}
        machine = sum(one.address == GATEWAY.address for one in campaign.timeline)
        shown = seen[f"gophish-{campaign.number}"]

        assert tally(steps.values(), machine=machine) == shown.funnel
        assert (campaign.plan.state, campaign.plan.difficulty) == (shown.state, shown.difficulty)
        assert (campaign.starts_at, campaign.ends_at) == (shown.starts_at, shown.ends_at)


def test_the_file_imports_to_the_figures_of_the_demo(tmp_path: Path) -> None:
    here = Installation(tmp_path)
    assert here.run("migrate").code == 0
    here.must("company", "create", "Acme")
    imported = here.must("campaigns", "import", str(KEPT_EXPORT), "--company", "Acme")
    again = here.must("campaigns", "import", str(KEPT_EXPORT), "--company", "Acme")
    (shown,) = [one for one in found(now=NOW).campaigns if one.external_id == f"gophish-{KEPT_NUMBER}"]

    assert _counts(imported) == {name: getattr(shown.funnel, name) for name in _counts(imported)}
    assert min(_counts(imported).values()) > 0
    assert shown.name == imported["campaign"]["name"]
    assert (0, imported["summary"]["new"]) == (again["summary"]["new"], again["summary"]["known"])


def _assert_only_the_gateway_is_a_machine(campaign: FictionalCampaign) -> None:
    told = [line.event for line in told_by_tool(campaign).lines if isinstance(line, EventTelling)]
    for event in judge_campaign(told):
        assert event.is_machine == (event.address == GATEWAY.address)


def _counts(imported: dict[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = imported["campaign"]["counts"]
    return counts


def _shape(told: dict[str, Any]) -> set[str]:
    """All keys by their paths, those inside `details` too."""
    paths = {*told, *(f"results.{key}" for result in told["results"] for key in result)}
    for event in told["timeline"]:
        paths |= {f"timeline.{key}" for key in event}
        details = json.loads(event["details"] or "{}")
        paths |= {f"details.{key}" for key in details}
        for part in ("payload", "browser"):
            paths |= {f"details.{part}.{key}" for key in details.get(part) or ()}
    return paths
