"""What a tool tells of simulated campaigns: everyone is sent a mail, some open, click, submit, report; always the same.

Events come in the order of their moments, as they happen. An office shares an address, and a few mails are opened by a
scanner first, so that verdicts have something to say.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final, TypedDict

import attrs

from awareness_core.campaigns import CampaignState, CampaignTelling
from awareness_core.periods import spell_moment
from awareness_core.results_check import EventTelling, RawEvent, check_event
from awareness_core.results_plan import Line
from awareness_http.wire.result_imports import STEPS, EventType

STARTED: Final = datetime(2026, 1, 5, 8, tzinfo=UTC)
BATCH: Final = 1000

_LATER = ("ouvert",) * 9 + ("clique",) * 4 + ("soumis", "signale")
_OFFICES = 40
_BROWSERS = tuple(
    f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}.0 Safari/537.36"
    for version in range(130, 140)
)
_SCANNER = "Mozilla/5.0 (compatible; BingPreview/1.0b)"
_SCANNED_ONE_IN = 20


class Telling(TypedDict, total=False):
    """An event, under the names that the API reads."""

    email: str
    type: str
    survenu_at: str
    id: str
    ip: str
    user_agent: str
    methode: str


@attrs.frozen(kw_only=True)
class ToldCampaign:
    """A campaign as `import_results` takes it, `BATCH` events at a time."""

    campaign: CampaignTelling
    tellings: Sequence[EventTelling]

    async def batches(self) -> AsyncIterator[Sequence[Line]]:
        """See `ResultsPayload`."""
        for start in range(0, len(self.tellings), BATCH):
            yield self.tellings[start : start + BATCH]


def told_events(addresses: Sequence[str], count: int) -> list[Telling]:
    """So many events of one campaign with these recipients, each of whom is sent a mail first."""
    chance = Random(len(addresses))
    moments = [
        (STARTED + timedelta(milliseconds=50 * number), number, "envoye") for number in range(len(addresses))
    ]
    moments += (
        (
            STARTED + timedelta(milliseconds=chance.randrange(60_000, 5 * 86_400_000)),
            chance.randrange(len(addresses)),
            chance.choice(_LATER),
        )
        for _ in range(count - len(addresses))
    )
    tellings = []
    for number, (at, person, step) in enumerate(sorted(moments)):
        telling = Telling(
            email=addresses[person], type=step, survenu_at=spell_moment(at), id=f"evt-{number:08}"
        )
        if step != "envoye":
            telling["ip"] = f"192.0.2.{person % _OFFICES}"
            telling["user_agent"] = (
                chance.choice(_BROWSERS) if chance.randrange(_SCANNED_ONE_IN) else _SCANNER
            )
            telling["methode"] = "GET"
        tellings.append(telling)
    return tellings


def told_campaign(number: int, tellings: Sequence[Telling]) -> ToldCampaign:
    """Campaign `number` with these events."""
    return ToldCampaign(
        campaign=CampaignTelling(
            external_id=f"campaign-{number}",
            name=f"Campaign {number}",
            state=CampaignState.COMPLETED,
            created_at=STARTED,
            starts_at=STARTED,
            ends_at=STARTED + timedelta(days=14),
        ),
        tellings=list(map(_checked, tellings)),
    )


def _checked(told: Telling) -> EventTelling:
    raw = RawEvent(
        email=told["email"],
        step=STEPS[EventType(told["type"])],
        at=told["survenu_at"],
        id=told["id"],
        address=told.get("ip"),
        user_agent=told.get("user_agent"),
        method=told.get("methode"),
    )
    return check_event(raw, names={})
