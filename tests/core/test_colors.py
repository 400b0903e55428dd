"""Colours of companies: one spelling each, and a text on it that everybody can read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.colors import BLACK, WHITE, InvalidColor, contrast, parse_color, readable_on, stands_out

colors = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


@given(color=colors)
def test_a_colour_has_one_spelling(color: str) -> None:
    assert color == parse_color(color) == parse_color(f" {color[1:].upper()} ")


@given(digits=st.text("0123456789abcdef", min_size=3, max_size=3))
def test_each_digit_of_the_short_form_stands_for_two(digits: str) -> None:
    assert parse_color(f"#{digits}") == parse_color("#" + "".join(digit * 2 for digit in digits))


@pytest.mark.parametrize(
    "text", ["", "#", "red", "#12345", "#1234567", "#12345g", "##123456", "#１２３４５６", "#123;"]
)
def test_what_is_no_colour_is_refused(text: str) -> None:
    with pytest.raises(InvalidColor, match="#1a5a9c"):
        parse_color(text)


@given(color=colors)
def test_what_stands_on_a_colour_can_be_read(color: str) -> None:
    # WCAG 2.2, success criterion 1.4.3.
    assert contrast(readable_on(color), color) >= 4.5


def test_a_surface_stands_out_from_three_to_one_on() -> None:
    assert [True, True, False] == [stands_out(color, WHITE) for color in ("#1a5a9c", "#949494", "#959595")]


@given(color=colors)
def test_whatever_does_not_stand_out_on_white_does_on_black(color: str) -> None:
    assert stands_out(color, WHITE) or stands_out(color, BLACK)


def test_contrast_is_that_of_the_standard() -> None:
    assert [21.0, 1.0] == [contrast(BLACK, WHITE), contrast("#777777", "#777777")]
    # The well-known pair: the grey of 767676 just passes on white, 777777 does not.
    assert contrast("#767676", WHITE) > 4.5 > contrast("#777777", WHITE)
