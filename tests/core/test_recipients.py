"""How far a recipient came, of whom a mail may have failed at first."""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.campaign_events import Event, Sign
from awareness_core.kpis import Step
from awareness_core.recipients import progress_of
from tests.core.strategies import NOW
from tests.core.tellings import happened

minutes = st.integers(0, 4)


def an_event(step: Step, minute: int, *, is_machine: bool = False) -> Event:
    event = happened("a", step, timedelta(minutes=minute)).event
    return attrs.evolve(event, signs=Sign.TOO_SOON) if is_machine else event


events = st.lists(
    st.builds(
        an_event, st.sampled_from([Step.ERROR, Step.ERROR, *Step]), minutes, is_machine=st.just(value=False)
    )
    | st.builds(
        an_event,
        st.sampled_from([Step.OPENED, Step.CLICKED, Step.SUBMITTED]),
        minutes,
        is_machine=st.just(value=True),
    ),
    max_size=8,
)


@given(told=events, end=st.none() | minutes, data=st.data())
@example(told=[an_event(Step.ERROR, 1), an_event(Step.SENT, 2)], end=None, data=None)
@example(told=[an_event(Step.ERROR, 1), an_event(Step.SENT, 2)], end=1, data=None)
@example(told=[an_event(Step.SENT, 1), an_event(Step.ERROR, 2)], end=None, data=None)
@example(told=[an_event(Step.ERROR, 1), an_event(Step.OPENED, 2, is_machine=True)], end=None, data=None)
def test_an_error_counts_unless_something_after_it_proves_the_mail(
    told: list[Event], end: int | None, data: st.DataObject | None
) -> None:
    ends_at = None if end is None else NOW + timedelta(minutes=end)
    progress = progress_of(told, ends_at=ends_at)
    counted = [event for event in told if ends_at is None or event.at <= ends_at]
    errors = [event.at for event in counted if event.step is Step.ERROR]
    proofs = [event.at for event in counted if event.step is not Step.ERROR and not event.is_machine]
    is_failed = bool(errors) and not any(proof >= max(errors) for proof in proofs)

    assert (min(errors) if is_failed else None) == progress.error_at
    assert is_failed == (Step.ERROR in progress.reached) == (Step.ERROR in progress.with_machine)
    if data is not None:
        again = data.draw(st.permutations([*told, *told[:3]]))
        assert attrs.evolve(progress, machine=0) == attrs.evolve(
            progress_of(again, ends_at=ends_at), machine=0
        )


@given(retries=st.lists(minutes, min_size=1, max_size=4), after=st.integers(0, 3))
def test_a_mail_that_was_sent_at_last_is_no_error(retries: list[int], after: int) -> None:
    failed = [an_event(Step.ERROR, minute) for minute in retries]
    sent_at: datetime = NOW + timedelta(minutes=max(retries) + after)
    progress = progress_of([*failed, an_event(Step.SENT, max(retries) + after)], ends_at=None)

    assert (None, sent_at) == (progress.error_at, progress.sent_at)
