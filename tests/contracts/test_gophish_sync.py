"""Polls and notices together, on every store, against a GoPhish on a real socket: however it comes, one state."""

from __future__ import annotations

import asyncio
import hmac
import itertools
import json
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from awareness_core.campaigns import Campaign, CampaignTelling
from awareness_core.errors import Conflict, SignatureInvalid, SourceUnavailable, ValidationFailed
from awareness_core.kpis import Funnel
from awareness_core.pages import PageRequest
from awareness_core.periods import parse_moment
from awareness_core.ports import Ports
from awareness_core.recipients import Recipient
from awareness_core.results_plan import Line
from awareness_core.sources import (
    LEASE,
    MAX_DOUBTFUL,
    READ_AGAIN_AFTER,
    SourceId,
    SourceKind,
    SourceState,
    is_due,
)
from awareness_core.use_cases.add_source import AddedSource, add_source, renew_webhook_secret
from awareness_core.use_cases.import_results import import_results
from awareness_core.use_cases.receive_notice import NoticeOutcome, receive_notice
from awareness_core.use_cases.sync_source import MAX_LEFT_OUT, SyncProgress, sync_source
from awareness_gophish import GophishTool
from awareness_memory import ManualClock, SeededEntropy, memory_ports
from tests.contracts.gophish_server import API_KEY, FakeGophish, bytes_of, fake_gophish, raw, recorded
from tests.contracts.storages import ACME, GLOBEX, NOW, Storage, memory_storage

pytestmark = pytest.mark.anyio

NEW_CLICK = {
    "campaign_id": 8,
    "email": "ada@acme.example",
    "time": "2026-03-10T10:00:00.5Z",
    "message": "Clicked Link",
    "details": '{"payload": {"rid": ["gH9jK1l"]}, "browser": {"address": "203.0.113.7", "user-agent": "Firefox"}}',
}


@attrs.frozen
class Only:
    """A campaign without its results."""

    campaign: CampaignTelling

    async def batches(self) -> AsyncIterator[Sequence[Line]]:
        yield []


@attrs.define
class Site:
    """A company that has connected a GoPhish."""

    ports: Ports
    clock: ManualClock
    gophish: FakeGophish
    added: AddedSource

    async def poll(self, **options: Any) -> tuple[int, int, list[str]]:  # noqa: ANN401 (as sync_source)
        """How many campaigns were read, how many events were new, and what went wrong."""
        outcome = await sync_source(self.ports, self.added.source, **options)
        return outcome.read, outcome.new_events, list(outcome.errors)

    async def tell(self, event: object, *, secret: str | None = None) -> NoticeOutcome:
        body = json.dumps(event).encode()
        digest = hmac.new((secret or self.added.webhook_secret).encode(), body, "sha256").hexdigest()
        return await self.tell_raw(body, f"sha256={digest}")

    async def tell_raw(self, body: bytes, signature: str | None) -> NoticeOutcome:
        return await receive_notice(
            self.ports, SourceKind.GOPHISH, self.added.source.id, body=body, signature=signature
        )

    def forget_key(self) -> None:
        Path(self.added.source.api_key_file).unlink()

    async def state(self) -> tuple[SourceState, str | None]:
        (known,) = await self.ports.sources.list_sources()
        return known.state_at(self.clock.now()), known.error

    async def campaign(self, number: int) -> Campaign | None:
        async with self.ports.store.reading(ACME.id) as reading:
            return await reading.campaign_by_external_id(f"gophish:{self.added.source.id}:{number}")

    async def everything(self) -> Mapping[int, tuple[Campaign, list[Recipient]] | None]:
        """All that the campaigns and their recipients came to, but for ids, which are random."""
        found: dict[int, tuple[Campaign, list[Recipient]] | None] = {}
        async with self.ports.store.reading(ACME.id) as reading:
            for number in self.gophish.results:
                campaign = await self.campaign(number)
                if campaign is not None:
                    page = await reading.list_recipients(campaign.id, PageRequest(limit=100))
                    nameless = attrs.evolve(campaign, id="", external_id="")  # type: ignore[arg-type]  # no id
                    found[number] = (nameless, list(page.items))
        return found


async def site_on(storage: Storage, gophish: FakeGophish, folder: Path) -> Site:
    file = folder / "key"
    file.write_text(API_KEY)
    clock = ManualClock(NOW)
    memory = memory_ports(clock=clock, entropy=SeededEntropy(1))
    ports = Ports(
        clock=clock,
        entropy=memory.entropy,
        companies=storage.companies,
        api_keys=storage.api_keys,
        store=storage.store,
        mailer=memory.mailer,
        quota=memory.quota,
        sources=storage.sources,
        tools={SourceKind.GOPHISH: GophishTool()},
    )
    added = await add_source(
        ports, ACME.id, kind=SourceKind.GOPHISH, name="GoPhish", url=gophish.url, api_key_file=str(file)
    )
    return Site(ports, clock, gophish, added)


@pytest.fixture
async def gophish() -> AsyncIterator[FakeGophish]:
    async with fake_gophish() as fake:
        yield fake


@pytest.fixture
async def site(storage: Storage, gophish: FakeGophish, tmp_path: Path) -> Site:
    return await site_on(storage, gophish, tmp_path)


@pytest.fixture
async def light(gophish: FakeGophish, tmp_path: Path) -> Site:
    """One in memory, for what no store decides."""
    storage = memory_storage()
    await storage.companies.add_company(ACME)
    await storage.companies.add_company(GLOBEX)
    return await site_on(storage, gophish, tmp_path)


async def test_a_poll_brings_what_gophish_knows(site: Site) -> None:
    assert (4, 17, []) == await site.poll()

    spring = await site.campaign(7)
    assert spring is not None
    # Ada's click was a scanner's, while her mail was being handed over; GoPhish itself shows none of it any more.
    # Of two mails that failed one went out later.
    assert (
        Funnel(
            total=6,
            sent=5,
            opened=3,
            clicked=2,
            submitted=1,
            reported=2,
            errors=1,
            machine=1,
        )
        == spring.funnel
    )
    assert (SourceState.OK, None) == await site.state()


async def test_a_second_poll_reads_nothing_and_a_full_one_changes_nothing(site: Site) -> None:
    await site.poll()
    before = await site.everything()
    asked = len(site.gophish.asked)

    assert (0, 0, []) == await site.poll()
    assert asked + 1 == len(site.gophish.asked)
    assert (4, 0, []) == await site.poll(everything=True)
    assert before == await site.everything()


async def test_a_changed_summary_and_an_hour_bring_a_campaign_back(light: Site) -> None:
    await light.poll()
    light.gophish.counts(8, clicked=1)
    light.gophish.happens(8, NEW_CLICK)

    assert (1, 1, []) == await light.poll()
    # A second click of the same person is in no summary.
    light.gophish.happens(8, {**NEW_CLICK, "time": "2026-03-10T11:00:00Z"})
    assert (0, 0, []) == await light.poll()
    light.clock.advance(READ_AGAIN_AFTER)
    assert (2, 1, []) == await light.poll()


async def test_polling_is_followed_campaign_by_campaign(light: Site) -> None:
    seen: list[SyncProgress] = []
    await light.poll(on_progress=seen.append)

    assert [(done, 4) for done in range(5)] == [(one.done, one.total) for one in seen]


async def test_notices_and_polls_lead_to_one_state(site: Site, gophish: FakeGophish, tmp_path: Path) -> None:
    """Any mixture: told before or after, twice, in any order."""
    whole = {number: recorded(f"results-{number}.json") for number in (7, 8, 9, 10)}
    every = list(itertools.chain.from_iterable(one["timeline"] for one in whole.values()))
    storage = memory_storage()
    await storage.companies.add_company(ACME)
    polled = await site_on(storage, gophish, tmp_path)
    await polled.poll()
    chance = random.Random(7)

    gophish.results = {number: {**one, "timeline": one["timeline"][:2]} for number, one in whole.items()}
    await site.poll()
    told = [*every, *chance.sample(every, 8)]
    chance.shuffle(told)
    outcomes = [await site.tell(event) for event in told]
    after_notices = await site.everything()
    gophish.results = whole
    assert (4, 0, []) == await site.poll(everything=True)

    assert {NoticeOutcome.STORED, NoticeOutcome.KNOWN} == set(outcomes)
    assert await polled.everything() == after_notices
    assert await polled.everything() == await site.everything()


def cut_off(time: str) -> str:
    """As MariaDB keeps it."""
    return f"{time.partition('.')[0].rstrip('Z')}Z"


def rounded(time: str) -> str:
    """As MySQL keeps it."""
    at = parse_moment(time) + timedelta(milliseconds=500)
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


@pytest.mark.parametrize("kept", [cut_off, rounded])
async def test_a_gophish_that_keeps_whole_seconds_tells_of_no_event_twice(
    site: Site, gophish: FakeGophish, tmp_path: Path, kept: Callable[[str], str]
) -> None:
    whole = {number: recorded(f"results-{number}.json") for number in (7, 8, 9, 10)}
    every = list(itertools.chain.from_iterable(one["timeline"] for one in whole.values()))
    for one in gophish.summary["campaigns"]:
        one["created_date"] = kept(one["created_date"])
    in_database = {
        number: {**one, "timeline": [{**event, "time": kept(event["time"])} for event in one["timeline"]]}
        for number, one in whole.items()
    }
    gophish.results = in_database
    storage = memory_storage()
    await storage.companies.add_company(ACME)
    polled = await site_on(storage, gophish, tmp_path)
    await polled.poll()

    gophish.results = {number: {**one, "timeline": []} for number, one in whole.items()}
    await site.poll()
    outcomes = {await site.tell(event) for event in every}
    gophish.results = in_database
    await site.poll(everything=True)

    assert {NoticeOutcome.AWAITED, NoticeOutcome.STORED, NoticeOutcome.KNOWN} == outcomes
    assert await polled.everything() == await site.everything()
    assert 0 == (await site.poll(everything=True))[1]
    assert {NoticeOutcome.AWAITED, NoticeOutcome.KNOWN} == {await site.tell(event) for event in every}
    assert await polled.everything() == await site.everything()


async def test_a_notice_of_a_campaign_that_no_poll_showed_makes_none_but_asks_for_a_poll(site: Site) -> None:
    """Hooks get every user's events: this one may be another company's."""
    site.clock.advance(timedelta(minutes=1))
    assert NoticeOutcome.AWAITED is await site.tell(NEW_CLICK)
    assert {} == await site.everything()

    await site.poll()
    site.clock.advance(timedelta(minutes=1))
    stranger = {**NEW_CLICK, "campaign_id": 99}
    assert NoticeOutcome.AWAITED is await site.tell(stranger)
    assert None is await site.campaign(99)
    known = await site.ports.sources.find_source(site.added.source.id)
    assert known is not None
    assert is_due(known, now=site.clock.now(), every=timedelta(hours=1))


async def test_a_notice_of_an_old_version_asks_for_a_poll(light: Site) -> None:
    await light.poll()
    nameless = {name: value for name, value in NEW_CLICK.items() if name != "campaign_id"}
    light.gophish.happens(8, NEW_CLICK)
    light.gophish.counts(8, clicked=1)

    assert NoticeOutcome.AWAITED is await light.tell(nameless)
    assert (1, 1, []) == await light.poll()


async def test_a_notice_keeps_what_is_known_of_its_campaign(site: Site) -> None:
    await site.poll()
    before = await site.campaign(8)
    assert NoticeOutcome.STORED is await site.tell(NEW_CLICK)
    assert NoticeOutcome.KNOWN is await site.tell(NEW_CLICK)
    after = await site.campaign(8)

    assert before is not None
    assert after is not None
    assert attrs.evolve(before, funnel=after.funnel) == after
    assert before.funnel.clicked + 1 == after.funnel.clicked


async def test_what_tells_of_nobody_is_ignored_and_a_test_is_one(light: Site) -> None:
    await light.poll()

    assert NoticeOutcome.TEST is await light.tell({"success": True})
    assert NoticeOutcome.IGNORED is await light.tell({**NEW_CLICK, "message": "Email Bounced"})
    assert NoticeOutcome.IGNORED is await light.tell({**NEW_CLICK, "email": "nobody"})


MESSAGES = {
    "Campaign Created": (NoticeOutcome.KNOWN, NoticeOutcome.KNOWN),
    **dict.fromkeys(
        (
            "Email Sent",
            "Error Sending Email",
            "Email Opened",
            "Clicked Link",
            "Submitted Data",
            "Email Reported",
        ),
        (NoticeOutcome.STORED, NoticeOutcome.KNOWN),
    ),
    "Proxied request": (NoticeOutcome.IGNORED, NoticeOutcome.IGNORED),
}


@pytest.mark.parametrize("message", MESSAGES)
async def test_each_notice_of_gophish_is_answered_for_what_it_is(light: Site, message: str) -> None:
    """GoPhish passes the answer over; people read it in logs."""
    await light.poll()
    told = {**NEW_CLICK, "message": message}
    if message in {"Campaign Created", "Email Sent"}:
        told |= {"details": ""}
    if message == "Campaign Created":
        told |= {"email": ""}
    is_nobodys = message == "Proxied request"

    assert MESSAGES[message] == (await light.tell(told), await light.tell(told))
    assert (NoticeOutcome.IGNORED if is_nobodys else NoticeOutcome.AWAITED) is await light.tell(
        {**told, "campaign_id": 99}
    )


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63, 2**80, 10**4000])
async def test_a_campaign_is_notified_of_under_any_number(site: Site, number: int) -> None:
    await site.poll()
    before = await site.everything()

    assert NoticeOutcome.AWAITED is await site.tell({**NEW_CLICK, "campaign_id": number})
    assert before == await site.everything()


async def test_a_forged_notice_is_refused_and_counted_and_writes_nothing(site: Site) -> None:
    await site.poll()
    before = await site.everything()
    body = json.dumps(NEW_CLICK).encode()
    good = "sha256=" + hmac.new(site.added.webhook_secret.encode(), body, "sha256").hexdigest()
    for sent, signature in (
        (body, None),
        (body, ""),
        (body, "sha256=" + "0" * 64),
        (body, good.removeprefix("sha256=")),
        (body, good.replace("sha256", "sha512")),
        (body, good + "00"),
        (body[:-5], good),
        (body + b" ", good),
    ):
        with pytest.raises(SignatureInvalid):
            await site.tell_raw(sent, signature)

    (known,) = await site.ports.sources.list_sources()
    assert 8 == known.forged
    assert before == await site.everything()
    assert NoticeOutcome.STORED is await site.tell_raw(body, good.upper().replace("SHA256", "sha256"))


async def test_a_notice_for_nobody_is_refused_alike(light: Site) -> None:
    with pytest.raises(SignatureInvalid):
        await receive_notice(
            light.ports,
            SourceKind.GOPHISH,
            SourceId("nobody"),
            body=b"{}",
            signature=None,
        )


async def test_a_genuine_notice_that_is_none_is_told_why(light: Site) -> None:
    with pytest.raises(ValidationFailed):
        await light.tell({"message": 3})


async def test_another_secret_ends_the_old_one(site: Site) -> None:
    await site.poll()
    renewed = await renew_webhook_secret(site.ports, site.added.source)

    assert renewed.webhook_secret != site.added.webhook_secret
    with pytest.raises(SignatureInvalid):
        await site.tell(NEW_CLICK)
    assert NoticeOutcome.STORED is await site.tell(NEW_CLICK, secret=renewed.webhook_secret)


async def test_without_its_key_file_no_notice_can_be_checked(light: Site) -> None:
    light.forget_key()

    with pytest.raises(SourceUnavailable):
        await light.tell(NEW_CLICK)


async def test_what_goes_wrong_is_on_record_and_caught_up_with(site: Site) -> None:
    site.gophish.replies["*"] = raw(bytes_of(200, b"<html>"))
    read, new, errors = await site.poll()
    assert (0, 0, 1) == (read, new, len(errors))
    state, error = await site.state()
    assert SourceState.FAILING is state
    assert "a web page instead of JSON" in str(error)

    site.gophish.replies.clear()
    assert (4, 17, []) == await site.poll()
    assert (SourceState.OK, None) == await site.state()


async def test_one_campaign_that_cannot_be_read_keeps_none_from_the_others(light: Site) -> None:
    light.gophish.replies["/api/campaigns/8/results"] = raw(bytes_of(500, b""))
    read, new, errors = await light.poll()

    assert (3, 15, 1) == (read, new, len(errors))
    assert SourceState.FAILING is (await light.state())[0]
    light.gophish.replies.clear()
    assert (1, 2, []) == await light.poll()


async def test_the_results_of_another_campaign_are_not_taken_for_this_ones(light: Site) -> None:
    light.gophish.results[8] = recorded("results-7.json")
    read, new, errors = await light.poll()

    assert (3, 15) == (read, new)
    (told,) = errors
    assert "/api/campaigns/8/results with the results of another campaign" in told
    assert SourceState.FAILING is (await light.state())[0]
    light.gophish.results[8] = recorded("results-8.json")
    assert (1, 2, []) == await light.poll()


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**80, 10**4000])
async def test_a_campaign_of_any_number_keeps_none_from_the_others(site: Site, number: int) -> None:
    (called_off,) = (one for one in site.gophish.summary["campaigns"] if one["id"] == 10)
    called_off["id"] = number
    called_off["stats"] = dict.fromkeys(called_off["stats"], number)
    read, _, errors = await site.poll()

    assert (3, 1) == (read, len(errors))
    assert SourceState.FAILING is (await site.state())[0]
    assert ["7", "8", "9"] == [path.split("/")[3] for path in site.gophish.paths[1:4]]


def dated(gophish: FakeGophish, number: int, **dates: str) -> None:
    (campaign,) = (one for one in gophish.summary["campaigns"] if one["id"] == number)
    campaign |= dates


@pytest.mark.parametrize("ended", ["1999-12-31T00:00:00Z", "2026-03-02T07:00:00Z"])
async def test_an_end_that_cannot_be_changes_no_figure_and_a_right_one_is_taken(
    site: Site, ended: str
) -> None:
    await site.poll()
    right = await site.everything()
    dated(site.gophish, 7, completed_date=ended)
    outcome = await sync_source(site.ports, site.added.source)
    wrong = await site.campaign(7)

    assert (True, 1, 1) == (outcome.is_ok, outcome.read, outcome.failed_lines)
    assert ["completed_date"] == [one.fault.field for one in outcome.left_out]
    assert right[7] is not None
    assert wrong is not None
    assert (right[7][0].funnel, right[7][0].starts_at, None) == (wrong.funnel, wrong.starts_at, wrong.ends_at)

    dated(site.gophish, 7, completed_date="2026-03-09T17:00:00Z")
    assert (1, 0, []) == await site.poll()
    assert right == await site.everything()


async def test_an_end_that_goes_away_is_no_end_any_more(site: Site) -> None:
    await site.poll()
    before = await site.campaign(7)
    site.gophish.happens(7, {**NEW_CLICK, "campaign_id": 7, "email": "cleo@acme.example"})
    dated(site.gophish, 7, completed_date="0001-01-01T00:00:00Z")
    await site.poll()
    after = await site.campaign(7)

    assert before is not None
    assert after is not None
    assert None is not before.ends_at
    assert None is after.ends_at


@pytest.mark.parametrize("end", ["1999-12-31T00:00:00Z", "2026-03-02T07:00:00Z"])
async def test_a_campaign_that_was_kept_with_an_end_before_everything_recovers(site: Site, end: str) -> None:
    """As earlier versions kept it."""
    await site.poll()
    right = await site.everything()
    spring = await site.campaign(7)
    assert spring is not None
    broken = CampaignTelling(
        external_id=str(spring.external_id),
        name=spring.name,
        state=spring.state,
        starts_at=parse_moment(end),
        ends_at=parse_moment(end),
    )
    await import_results(site.ports, ACME.id, Only(broken))
    emptied = await site.campaign(7)
    assert emptied is not None
    assert 0 == emptied.funnel.sent

    assert (4, 0, []) == await site.poll(everything=True)
    assert right == await site.everything()


async def test_a_campaign_made_after_the_one_of_its_number_ended_is_another(site: Site) -> None:
    await site.poll()
    before = await site.everything()
    dated(
        site.gophish,
        7,
        created_date="2026-05-01T08:00:00.1Z",
        launch_date="2026-05-01T08:00:00.1Z",
        completed_date="0001-01-01T00:00:00Z",
    )
    read, _, errors = await site.poll()

    assert (0, 1) == (read, len(errors))
    assert "has the tool been set up anew" in errors[0]
    assert before == await site.everything()


def spoil(gophish: FakeGophish, *, lines: int) -> None:
    """Give a campaign a target and so many events that cannot be read."""
    spoilt = recorded("results-8.json")
    spoilt["results"].append({**spoilt["results"][0], "email": "nobody"})
    spoilt["timeline"] += [{**NEW_CLICK, "time": "yesterday"}] * lines
    gophish.results[8] = spoilt


async def test_lines_that_are_left_out_are_told_by_campaign_and_place(site: Site) -> None:
    whole = recorded("results-8.json")
    spoil(site.gophish, lines=2)
    outcome = await sync_source(site.ports, site.added.source)

    targets, events = len(whole["results"]), len(whole["timeline"])
    assert (True, 3, 17) == (outcome.is_ok, outcome.failed_lines, outcome.new_events)
    assert [
        ("8", "Été", f"results[{targets}].email", "invalid_email"),
        ("8", "Été", f"timeline[{events}].time", "invalid_moment"),
        ("8", "Été", f"timeline[{events + 1}].time", "invalid_moment"),
    ] == [(one.told_id, one.campaign, one.fault.field, one.fault.code) for one in outcome.left_out]
    readings = await site.ports.sources.campaign_readings(site.added.source.id)
    assert {"7": 0, "8": 3, "9": 0, "10": 0} == {number: one.left_out for number, one in readings.items()}


async def test_not_every_line_that_is_left_out_is_told_but_all_are_counted(light: Site) -> None:
    spoil(light.gophish, lines=MAX_LEFT_OUT + 5)
    outcome = await sync_source(light.ports, light.added.source)

    assert (MAX_LEFT_OUT + 6, MAX_LEFT_OUT) == (outcome.failed_lines, len(outcome.left_out))


def results_of(number: int) -> str:
    return f"/api/campaigns/{number}/results"


async def test_what_was_read_before_gophish_went_away_stays(light: Site) -> None:
    light.gophish.replies[results_of(8)] = raw(bytes_of(401, b""))
    read, _, errors = await light.poll()

    assert (1, 1) == (read, len(errors))
    light.gophish.replies.clear()
    assert (3, 2, []) == await light.poll()


async def test_a_campaign_whose_results_break_off_keeps_none_from_the_others(site: Site) -> None:
    site.gophish.replies[results_of(7)] = raw(b"")
    read, new, errors = await site.poll()

    assert (3, 1) == (read, len(errors))
    assert "broke off in the middle of /api/campaigns/7/results" in errors[0]
    assert SourceState.FAILING is (await site.state())[0]
    site.gophish.replies.clear()
    assert (1, 17 - new, []) == await site.poll()


@pytest.mark.parametrize("everything", [False, True])
async def test_a_poll_of_many_that_break_off_ends_soon_and_the_next_begins_elsewhere(
    site: Site, *, everything: bool
) -> None:
    broken = [results_of(number) for number in (7, 8, 9)]
    site.gophish.replies = dict.fromkeys(broken, raw(b""))
    first = await site.poll(everything=everything)
    asked_first, site.gophish.asked = site.gophish.paths[1:], []
    site.clock.advance(timedelta(seconds=1))
    second = await site.poll(everything=everything)
    asked_second, site.gophish.asked = site.gophish.paths[1:], []
    site.clock.advance(timedelta(seconds=1))
    await site.poll(everything=everything)

    assert broken[:MAX_DOUBTFUL] == asked_first
    assert (0, MAX_DOUBTFUL) == (first[0], len(first[2]))
    assert [broken[2], results_of(10), broken[0]] == asked_second
    assert (1, MAX_DOUBTFUL) == (second[0], len(second[2]))
    assert [*([results_of(10)] if everything else []), broken[1], broken[0]] == site.gophish.paths[1:]

    site.gophish.replies.clear()
    assert (4 if everything else 3, 17, []) == await site.poll(everything=everything)


async def test_a_failed_reading_keeps_how_many_lines_were_left_out(site: Site) -> None:
    spoil(site.gophish, lines=2)
    await site.poll()
    site.gophish.replies[results_of(8)] = raw(b"")
    await site.poll(everything=True)

    readings = await site.ports.sources.campaign_readings(site.added.source.id)
    assert 3 == readings["8"].left_out


async def test_a_lease_lasts_from_one_answer_to_the_next(light: Site) -> None:
    """Each answer may take nearly as long as the lease, the summary's too."""
    polls = 0

    async def slowly(writer: asyncio.StreamWriter) -> None:
        light.clock.advance(LEASE - timedelta(seconds=1))
        nonlocal polls
        with pytest.raises(Conflict):
            await light.poll()
        polls += 1
        path = light.gophish.paths[-1]
        number = 0 if path.endswith("summary") else int(path.split("/")[3])
        told = light.gophish.results.get(number, light.gophish.summary)
        await raw(bytes_of(200, json.dumps(told).encode()))(writer)

    light.gophish.replies["*"] = slowly

    assert (4, 17, []) == await light.poll()
    assert 5 == polls


async def test_one_process_polls_at_a_time(site: Site) -> None:
    held, let_go = asyncio.Event(), asyncio.Event()

    async def wait(_writer: asyncio.StreamWriter) -> None:
        held.set()
        await let_go.wait()

    site.gophish.replies["*"] = wait
    polling = asyncio.create_task(site.poll())
    await held.wait()
    with pytest.raises(Conflict, match="polled by another process"):
        await site.poll()
    let_go.set()
    await polling

    site.gophish.replies.clear()
    assert (4, 17, []) == await site.poll()


async def test_a_poll_that_was_killed_is_taken_over_when_its_lease_ends(light: Site) -> None:
    until = light.clock.now() + LEASE
    await light.ports.sources.claim_source(
        light.added.source.id, holder="dead", at=light.clock.now(), until=until
    )
    with pytest.raises(Conflict):
        await light.poll()
    assert (SourceState.POLLING, None) == await light.state()
    light.clock.set(until)
    assert (SourceState.NEW, None) == await light.state()

    assert (4, 17, []) == await light.poll()


async def test_a_poll_that_is_cancelled_lets_go(light: Site) -> None:
    held = asyncio.Event()

    async def wait(_writer: asyncio.StreamWriter) -> None:
        held.set()
        await asyncio.Event().wait()

    light.gophish.replies["*"] = wait
    polling = asyncio.create_task(light.poll())
    await held.wait()
    polling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await polling

    assert (SourceState.FAILING, "the poll was interrupted") == await light.state()
    light.gophish.replies.clear()
    assert (4, 17, []) == await light.poll()


async def test_nothing_secret_is_kept_of_a_source(light: Site) -> None:
    (known,) = await light.ports.sources.list_sources()

    assert API_KEY not in repr(attrs.asdict(known))
    assert light.added.webhook_secret not in repr(attrs.asdict(known))
    assert light.added.webhook_secret not in repr(light.added)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "gophish"}, "name"),
        ({"url": "gophish.example"}, "url"),
        ({"url": "https://user:pass@gophish.example"}, "url"),
        ({"url": "https://gophish.example/?key=1"}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"api_key_file": "/nowhere/key"}, "api_key_file"),
    ],
)
async def test_a_source_that_cannot_be_is_refused_by_field(
    light: Site, changes: dict[str, str], field: str
) -> None:
    fields = {
        "name": "Second",
        "url": "https://gophish.example",
        "api_key_file": light.added.source.api_key_file,
    }
    with pytest.raises(ValidationFailed) as refusal:
        await add_source(light.ports, ACME.id, kind=SourceKind.GOPHISH, **(fields | changes))

    assert field in {fault.field for fault in refusal.value.faults}


async def test_an_address_is_one_source_of_a_company(light: Site) -> None:
    known = light.added.source
    with pytest.raises(ValidationFailed, match="polled by the source") as refusal:
        await add_source(
            light.ports,
            ACME.id,
            kind=SourceKind.GOPHISH,
            name="Second",
            url=f"{known.url.upper().replace('HTTP', 'http')}/",
            api_key_file=known.api_key_file,
        )

    assert ["url"] == [fault.field for fault in refusal.value.faults]
