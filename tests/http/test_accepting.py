"""Which of two forms an `Accept` asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_http.accepting import preferred

JSON, CSV = "application/json", "text/csv"

weights = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
ranges = st.sampled_from([JSON, CSV, "*/*", "text/*", "application/*", "text/html", "Text/CSV", "csv"])
parts = st.one_of(
    st.builds(lambda name, weight: f"{name};q={weight:.3f}", ranges, weights),
    ranges,
    st.sampled_from(["", ";", "text/csv;q=2", "text/csv;q=nan", "text/csv; q = 1", ";q=1", "text/csv;q="]),
    st.text(max_size=9),
)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("text/html, */*;q=0.8", JSON),
        ("text/html", JSON),
        (CSV, CSV),
        ("text/*", CSV),
        ("Text/CSV ; header=present", CSV),
        ("text/csv; q=0.9", CSV),
        ("text/csv;q=0.1, application/json", JSON),
        ("text/csv;q=0.9, */*", JSON),
        ("text/csv, */*", CSV),
        ("*/*, text/csv", CSV),
        ("text/csv, */*;q=0.8", CSV),
        ("text/csv, application/json;q=0.9", CSV),
        ("text/csv, application/json", CSV),
        ("application/json, text/csv", JSON),
        ("text/csv;q=0", JSON),
        ("text/csv;q=0, */*", JSON),
        ("application/json;q=0, */*;q=0.1", CSV),
        ("application/json;q=0", JSON),
        ("application/*;q=0.2, text/*;q=0.3", CSV),
        ("text/csv;q=1.5, application/json;q=0.1", JSON),
    ],
)
def test_the_greater_weight_wins_then_the_more_exact_name_then_the_first(accept: str, expected: str) -> None:
    assert expected == preferred([accept], [JSON, CSV])


@given(
    json=weights, csv=weights, is_csv_first=st.booleans(), between=st.sampled_from(["", "text/html", "*/*"])
)
def test_of_two_that_are_named_the_heavier_is_answered(
    json: float, csv: float, between: str, *, is_csv_first: bool
) -> None:
    named = [f"{JSON};q={json:.3f}", between, f"{CSV};q={csv:.3f}"]
    accept = ", ".join(reversed(named) if is_csv_first else named)
    if json != csv:
        assert (JSON if json > csv else CSV) == preferred([accept], [JSON, CSV])
    else:
        assert (CSV if is_csv_first and csv else JSON) == preferred([accept], [JSON, CSV])


@given(st.lists(st.lists(parts, max_size=4).map(", ".join), max_size=3))
def test_any_header_gets_one_of_what_there_is(accept: list[str]) -> None:
    assert preferred(accept, [JSON, CSV]) in {JSON, CSV}
    assert preferred(accept, [JSON, CSV]) == preferred([",".join(accept)], [JSON, CSV])
