"""What the event files in tests/data come to, line by line. Changed on purpose only, with `--update`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from awareness_core.campaigns import CampaignState
from awareness_core.periods import spell_moment
from awareness_core.recipients import Recipient
from awareness_core.results_check import EventTelling, RawCampaign
from awareness_core.results_plan import Line
from awareness_server.event_csv import EventFile, read_event_csv
from tests.architecture.source_tree import ROOT

FILES = sorted((ROOT / "tests" / "data" / "events").glob("*.csv"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_an_event_file_reads_as_it_did(golden: Callable[[str, str], str], file: Path) -> None:
    campaign = RawCampaign(external_id=file.stem, name=file.stem, state=CampaignState.RUNNING)
    actual = told(read_event_csv(file.read_bytes(), campaign, names={}))

    assert golden(f"events/{file.stem}.txt", actual) == actual


def told(read: EventFile) -> str:
    begin = read.campaign.starts_at
    lines = [
        f"{read.encoding}, {read.rows} rows, begins {begin and spell_moment(begin)}",
        *(f"{column} = {field.value}" for column, field in read.columns),
        f"unread: {', '.join(read.unread)}",
        *(f"{place}: {_spelt(line)}" for line, place in zip(read.lines, read.places, strict=True)),
    ]
    return "".join(f"{line}\n" for line in lines)


def _spelt(line: Line) -> str:
    if isinstance(line, Recipient):
        return f"recipient {line.email} {line.external_id or ''}".rstrip()
    if isinstance(line, EventTelling):
        event = line.event
        parts = (event.address, event.method, event.user_agent)
        return " ".join(
            [line.email.text, event.step.value, spell_moment(event.at), *(part for part in parts if part)]
        )
    return "refused: " + "; ".join(f"{fault.field}: {fault.message}" for fault in line.faults)
