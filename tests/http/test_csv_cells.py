"""No cell of a CSV is one that a spreadsheet would run, and ordinary ones stay as they are."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_http.csv_cells import guarded_cell

STARTS = "=+-@\t\r\n＝＋－＠"
UNSEEN = [" ", "\u00a0", "\u3000", "\u200b", "\ufeff", "\u2060", "\x00"]


@given(
    unseen=st.lists(st.sampled_from(UNSEEN), max_size=3).map("".join),
    start=st.sampled_from(STARTS),
    rest=st.text(max_size=9),
)
def test_a_formula_is_a_text_however_it_is_hidden(unseen: str, start: str, rest: str) -> None:
    text = unseen + start + rest

    assert f"'{text}" == guarded_cell(text)


@given(st.text(max_size=9))
@example(" '=1")
@example("\t")
def test_no_cell_begins_with_what_a_spreadsheet_runs(text: str) -> None:
    cell = guarded_cell(text)
    seen = cell.lstrip("".join(UNSEEN))

    assert not seen.startswith(tuple(STARTS))
    assert cell.removeprefix("'") == text.removeprefix("'")


@given(st.characters(categories=["L", "N"]), st.text(max_size=9))
def test_what_begins_with_a_letter_or_a_figure_stays(first: str, rest: str) -> None:
    assert first + rest == guarded_cell(first + rest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Müller-Lüdenscheidt",
        "o'brien@acme.example",
        "'t Hooft",
        "0033 1 23",
        "(+33)",
        "#7",
        "1+1",
        "ＡＢ",
    ],
)
def test_ordinary_texts_stay(text: str) -> None:
    assert text == guarded_cell(text)
