"""The plain texts of results: kept in normal form and within their limits, or refused by the caller's own names."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.errors import ValidationFailed
from awareness_core.kpis import Step
from awareness_core.results_check import RawEvent, check_event
from awareness_core.texts import normal_text, text_problem
from tests.core.strategies import NOW, hostile_texts

NAMES = {"id": "told_id", "user_agent": "agent"}
LIMITS = {"id": 191, "user_agent": 1000}


@given(told_id=st.none() | hostile_texts(), user_agent=st.none() | hostile_texts())
@example(told_id="i" * 191, user_agent="u" * 1000)
@example(told_id="i" * 192, user_agent="u" * 1001)
@example(told_id="\u212b" * 191, user_agent=None)
@example(told_id=" ", user_agent="a\0b")
def test_texts_of_an_event_are_kept_in_normal_form_or_refused_by_the_callers_names(
    told_id: str | None, user_agent: str | None
) -> None:
    normal = {
        field: normal_text(text)
        for field, text in (("id", told_id), ("user_agent", user_agent))
        if text is not None
    }
    wrong = [
        NAMES[field]
        for field, text in normal.items()
        if len(text) > LIMITS[field] or text_problem(text, max_length=len(text)) is not None
    ]
    raw = RawEvent(
        email="a@x.example", step=Step.CLICKED, at=NOW.isoformat(), id=told_id, user_agent=user_agent
    )

    assert wrong == refused_fields(raw)
    if not wrong:
        assert (normal.get("user_agent") or None) == check_event(raw, names=NAMES).event.user_agent


def refused_fields(raw: RawEvent) -> list[str]:
    """The fields with a fault, by the caller's names; none when it is taken."""
    try:
        check_event(raw, names=NAMES)
    except ValidationFailed as refusal:
        return [fault.field for fault in refusal.faults]
    return []
