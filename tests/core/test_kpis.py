"""Counts are distinct recipients and prove one another; rates are exact and say how sure they are."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from itertools import combinations, pairwise
from random import Random

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.kpis import IMPLIES, Funnel, Rate, Step, rate, reached, tally

PROVES = """
    sent:
    opened:     sent
    clicked:    sent opened
    submitted:  sent opened clicked
    reported:   sent
    error:
"""
"""A submission implies a click, a click an open, an open implies sent; a report implies sent only."""

Observed = frozenset[Step]
STEPS = st.frozensets(st.sampled_from(Step))
RECIPIENTS = st.lists(STEPS, max_size=8)
COUNTERS = {
    "sent": Step.SENT,
    "opened": Step.OPENED,
    "clicked": Step.CLICKED,
    "submitted": Step.SUBMITTED,
    "reported": Step.REPORTED,
    "errors": Step.ERROR,
}


def shares() -> st.SearchStrategy[tuple[int, int]]:
    """A count and a total that is not 0 and not below it."""
    totals = st.integers(min_value=1, max_value=500) | st.integers(min_value=1, max_value=10**7)
    return totals.flatmap(
        lambda total: st.tuples(
            st.integers(min_value=0, max_value=total) | st.sampled_from((0, 1, total - 1, total)),
            st.just(total),
        )
    )


def test_each_step_proves_what_the_table_says() -> None:
    table = dict(line.split(":") for line in PROVES.strip().splitlines())

    assert {step.strip(): {step.strip(), *proven.split()} for step, proven in table.items()} == {
        step.value: {proven.value for proven in proves} for step, proves in IMPLIES.items()
    }
    assert set(Step) == set(IMPLIES)


@given(STEPS)
def test_what_is_proven_proves_nothing_more(observed: Observed) -> None:
    assert reached(observed) == reached(reached(observed))


@given(STEPS, STEPS)
def test_each_step_proves_by_itself(one: Observed, other: Observed) -> None:
    assert reached(one) | reached(other) == reached(one | other)


@given(STEPS)
def test_what_was_observed_is_reached(observed: Observed) -> None:
    assert observed <= reached(observed)


@given(RECIPIENTS)
def test_a_tally_counts_the_recipients_who_reached_each_step(recipients: list[Observed]) -> None:
    funnel = tally(recipients)

    assert {
        "total": len(recipients),
        "machine": 0,
        **{
            name: sum(1 for observed in recipients if any(step in IMPLIES[seen] for seen in observed))
            for name, step in COUNTERS.items()
        },
    } == attrs.asdict(funnel)


@given(RECIPIENTS, st.randoms(use_true_random=False))
def test_the_order_of_recipients_never_matters(recipients: list[Observed], chance: Random) -> None:
    assert tally(recipients) == tally(chance.sample(recipients, len(recipients)))


@given(STEPS, STEPS)
def test_an_event_that_others_prove_adds_nothing(observed: Observed, late: Observed) -> None:
    assert tally([observed]) == tally([observed | late & reached(observed)])


@given(RECIPIENTS, st.data())
def test_one_more_event_never_lowers_a_count_and_raises_none_by_more_than_one(
    recipients: list[Observed], data: st.DataObject
) -> None:
    place = data.draw(st.integers(min_value=0, max_value=len(recipients)))
    more = data.draw(STEPS)
    known = recipients[place] if place < len(recipients) else frozenset()
    after = [*recipients[:place], known | more, *recipients[place + 1 :]]

    differences = {
        name: getattr(tally(after), name) - getattr(tally(recipients), name) for name in ("total", *COUNTERS)
    }

    assert set(differences.values()) <= {0, 1}


@given(RECIPIENTS)
def test_the_funnel_narrows(recipients: list[Observed]) -> None:
    funnel = tally(recipients)

    assert funnel.total >= funnel.sent >= funnel.opened >= funnel.clicked >= funnel.submitted
    assert funnel.sent >= funnel.reported


def test_a_tally_may_be_taken_from_any_iterable() -> None:
    assert Funnel(total=2, sent=1) == tally(iter([{Step.SENT}, set()]))


@given(RECIPIENTS, st.integers(min_value=0))
def test_machine_interactions_are_told_and_not_counted(recipients: list[Observed], machine: int) -> None:
    assert attrs.evolve(tally(recipients), machine=machine) == tally(recipients, machine=machine)


@given(shares())
@example((1, 800))  # 0.125 %: binary floats and bankers round it down
@example((3, 800))
@example((1, 20_000))  # 0.005 %
@example((1, 3))
@example((2, 3))
def test_a_rate_is_percent_rounded_half_up_to_two_decimals(share: tuple[int, int]) -> None:
    count, total = share
    with localcontext(prec=60):
        expected = (100 * Decimal(count) / Decimal(total)).quantize(Decimal("0.01"), ROUND_HALF_UP)

    assert float(expected) == rate(count, total).percent


@given(shares())
def test_the_interval_is_wilsons(share: tuple[int, int]) -> None:
    count, total = share
    low, high = _wilson(count, total)

    actual = rate(count, total)

    # Two decimals each, and never on the wrong side of the rounded rate.
    assert abs(min(low, Fraction(actual.percent)) - Fraction(actual.low)) <= Fraction(501, 100_000)
    assert abs(max(high, Fraction(actual.percent)) - Fraction(actual.high)) <= Fraction(501, 100_000)


@given(shares())
def test_the_interval_holds_the_rate_and_stays_within_bounds(share: tuple[int, int]) -> None:
    actual = rate(*share)

    assert 0 <= actual.low <= actual.percent <= actual.high <= 100


@given(shares())
def test_the_bounds_have_two_decimals(share: tuple[int, int]) -> None:
    actual = rate(*share)

    assert [actual.low, actual.percent, actual.high] == [
        round(value, 2) for value in (actual.low, actual.percent, actual.high)
    ]


@given(shares())
def test_the_complement_has_the_complementary_interval(share: tuple[int, int]) -> None:
    count, total = share
    actual, complement = rate(count, total), rate(total - count, total)

    assert actual.low == pytest.approx(100 - complement.high, abs=0.0101)
    assert actual.high == pytest.approx(100 - complement.low, abs=0.0101)


@given(shares(), st.integers(min_value=2, max_value=50))
def test_the_same_share_of_more_people_is_surer(share: tuple[int, int], times: int) -> None:
    count, total = share
    few, many = rate(count, total), rate(count * times, total * times)

    assert many.high - many.low <= few.high - few.low + 0.0201
    assert few.percent == many.percent


@given(st.integers(min_value=2, max_value=300))
def test_one_more_success_never_lowers_a_rate_or_its_interval(total: int) -> None:
    rates = [rate(count, total) for count in range(total + 1)]

    assert all(
        one.percent <= other.percent and one.low <= other.low and one.high <= other.high
        for one, other in pairwise(rates)
    )


@pytest.mark.parametrize(
    ("count", "total", "expected"),
    [
        (0, 10, Rate(percent=0.0, low=0.0, high=27.75)),
        (10, 10, Rate(percent=100.0, low=72.25, high=100.0)),
        (1, 10, Rate(percent=10.0, low=1.79, high=40.42)),
        (81, 263, Rate(percent=30.8, low=25.53, high=36.62)),  # Newcombe 1998, table I
        (15, 148, Rate(percent=10.14, low=6.24, high=16.05)),
        (1, 29, Rate(percent=3.45, low=0.61, high=17.18)),
        (0, 20, Rate(percent=0.0, low=0.0, high=16.11)),
    ],
)
def test_published_intervals_come_out(count: int, total: int, expected: Rate) -> None:
    assert expected == rate(count, total)


def test_no_bound_is_a_negative_zero() -> None:
    assert {"0.0"} == {str(rate(0, total).low) for total in range(1000)}


def test_of_nobody_nothing_is_known() -> None:
    assert Rate(percent=0.0, low=0.0, high=100.0) == rate(0, 0)


def test_a_funnel_begins_empty() -> None:
    assert {0} == set(attrs.asdict(Funnel()).values())


def test_no_two_steps_prove_the_same() -> None:
    assert all(IMPLIES[one] != IMPLIES[other] for one, other in combinations(Step, 2))


def _wilson(count: int, total: int) -> tuple[Fraction, Fraction]:
    """The interval as the roots in p of (p̂ − p)² = z² p (1 − p) / n, in percent, to 40 digits."""
    with localcontext(prec=50):
        n, share, z2 = Decimal(total), Decimal(count) / Decimal(total), Decimal("1.959963984540054") ** 2
        a, b, c = 1 + z2 / n, -(2 * share + z2 / n), share * share
        root = max(Decimal(0), b * b - 4 * a * c).sqrt()
        low, high = (-b - root) / (2 * a), (-b + root) / (2 * a)
        return Fraction(100 * low), Fraction(100 * high)
