"""One campaign over time: its spans tell of everybody whom its counts do, and of nobody whom a machine played."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from awareness_core.errors import AwarenessError, NotFound
from awareness_core.kpis import Step
from awareness_core.results_plan import Line
from awareness_core.timelines import Span
from awareness_core.use_cases.import_results import import_results
from awareness_core.use_cases.read_campaigns import CampaignHistory, get_campaign, get_campaign_history
from awareness_core.verdict_rules import VerdictRules
from tests.core.strategies import NOW
from tests.core.tellings import SPRING, Told, happened, lines
from tests.core.worlds import OURS, THEIRS, keep_rules, refusal_or_answer, run, settled_world

HOUR = timedelta(hours=1)


async def history_of(told: Sequence[Line]) -> CampaignHistory:
    world = await settled_world()
    await keep_rules(world, OURS, VerdictRules(crowd=3, burst=3))
    imported = await import_results(world, OURS, Told(SPRING, [told]))
    history = await get_campaign_history(world, OURS, imported.campaign.id)
    assert history.view == await get_campaign(world, OURS, imported.campaign.id)
    return history


def totals(spans: Sequence[Span]) -> tuple[int, int, int, int]:
    return (
        sum(span.opened for span in spans),
        sum(span.clicked for span in spans),
        sum(span.submitted for span in spans),
        sum(span.reported for span in spans),
    )


@given(told=st.lists(lines, max_size=25))
def test_the_spans_sum_to_the_counts_of_the_campaign(told: list[Line]) -> None:
    history = run(history_of(told))
    funnel = history.view.campaign.funnel

    assert (funnel.opened, funnel.clicked, funnel.submitted, funnel.reported) == totals(
        history.timeline.spans
    )


def test_everybody_of_a_campaign_larger_than_a_part_is_counted() -> None:
    history = run(history_of([happened(number, Step.OPENED, number * HOUR) for number in range(2001)]))

    assert (2001, 0, 0, 0) == totals(history.timeline.spans)


def test_time_runs_from_the_first_mail_and_not_from_the_start() -> None:
    told = [happened("a", Step.SENT, HOUR), happened("a", Step.CLICKED, HOUR + timedelta(minutes=3))]
    spans = run(history_of(told)).timeline.spans

    assert (NOW + HOUR, [0, 0, 1]) == (spans[0].start, [span.clicked for span in spans])


def test_another_companys_campaign_is_not_there() -> None:
    async def story() -> CampaignHistory | AwarenessError:
        world = await settled_world()
        imported = await import_results(world, OURS, Told(SPRING))
        return await refusal_or_answer(get_campaign_history(world, THEIRS, imported.campaign.id))

    assert isinstance(run(story()), NotFound)
