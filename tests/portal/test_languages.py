"""In which language somebody is spoken to who is not known yet: the one that their browser asks for most."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.tenants import Language
from awareness_web.languages import FALLBACK, preferred_language

FRENCH, ENGLISH = Language.FRENCH, Language.ENGLISH

weights = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("fr", FRENCH),
        ("fr-FR,fr;q=0.9,en-US;q=0.8,en;q=0.7", FRENCH),
        ("en-GB,en;q=0.9,fr;q=0.8", ENGLISH),
        ("en;q=0.5, fr;q=0.8", FRENCH),
        ("de-DE, de;q=0.9, fr;q=0.2, en;q=0.1", FRENCH),
        ("fr-CA;q=0.3, en;q=0.2, fr;q=0.1", FRENCH),
        ("FR ; Q=0.4 , EN ; q = 0.3", FRENCH),
        ("en;q=0, *", FRENCH),
        ("fr;q=0.5, *;q=0.1", FRENCH),
        ("fr;q=0.1, *;q=0.5", ENGLISH),
        ("*", FALLBACK),
        ("*;q=0", FALLBACK),
        ("fr;q=0", FALLBACK),
        ("fr;q=2, en;q=0.1", ENGLISH),
        ("fr;q=nan, en;q=0.1", ENGLISH),
        ("de, it", FALLBACK),
        ("french, frfr", FALLBACK),
        ("", FALLBACK),
        (None, FALLBACK),
    ],
)
def test_the_language_that_is_wanted_most_is_taken(header: str | None, language: Language) -> None:
    assert language is preferred_language(header)


@given(french=weights, english=weights)
def test_the_heavier_one_wins_in_whatever_order(french: float, english: float) -> None:
    wants = [f"fr;q={french}", f"en;q={english}"]
    found = {preferred_language(", ".join(order)) for order in (wants, wants[::-1])}

    if french != english:
        assert {FRENCH if french > english else ENGLISH} == found


@given(header=st.text())
def test_a_header_may_hold_anything(header: str) -> None:
    assert preferred_language(header) in Language
