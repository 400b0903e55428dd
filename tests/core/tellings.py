"""What tools tell of campaigns, for the tests of the use cases: a campaign, its lines, payloads of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta

import attrs
from hypothesis import strategies as st

from awareness_core.campaigns import CampaignState, CampaignTelling
from awareness_core.emails import parse_email
from awareness_core.kpis import Step
from awareness_core.recipients import Recipient
from awareness_core.results_check import EventTelling, RawEvent, check_event
from awareness_core.results_plan import Line
from tests.core.strategies import NOW

SPRING = CampaignTelling(external_id="spring", name="Spring", state=CampaignState.RUNNING, starts_at=NOW)


@attrs.frozen
class Told:
    """A `ResultsPayload` of lines in batches."""

    campaign: CampaignTelling
    parts: Sequence[Sequence[Line]] = ()

    async def batches(self) -> AsyncIterator[Sequence[Line]]:
        for part in self.parts:
            yield part


def targeted(who: int | str, external_id: str | None = None) -> Recipient:
    return Recipient(email=parse_email(f"{who}@acme.example"), external_id=external_id)


def happened(
    who: int | str,
    step: Step,
    after: timedelta = timedelta(0),
    *,
    told_id: str | None = None,
    address: str | None = None,
    user_agent: str | None = None,
    method: str | None = None,
) -> EventTelling:
    raw = RawEvent(
        email=f"{who}@acme.example",
        step=step,
        at=(NOW + after).isoformat(),
        id=told_id,
        address=address,
        user_agent=user_agent,
        method=method,
    )
    return check_event(raw, names={})


def moment(after: timedelta) -> datetime:
    return NOW + after


lines: st.SearchStrategy[Line] = st.one_of(
    st.builds(targeted, st.integers(0, 4), st.sampled_from([None, "e1", "e2"])),
    # Few people, moments and addresses, so that they meet.
    *[
        st.builds(
            happened,
            st.integers(0, 4),
            st.sampled_from([Step.OPENED, Step.CLICKED, *Step]),
            st.sampled_from([30, 31, 32, 0, 3600]).map(lambda seconds: timedelta(seconds=seconds)),
            address=st.sampled_from(["192.0.2.1", "192.0.2.2", None]),
            user_agent=st.sampled_from([None, None, None, "curl/8"]),
        )
    ]
    * 3,
)
