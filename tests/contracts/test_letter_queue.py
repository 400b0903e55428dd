"""Whose turn it is in a call that mails: everybody's once, a retry's when it is due, and nobody's during a pause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from awareness_smtp.letter_queue import LetterQueue

WAITS = (timedelta(seconds=1), timedelta(seconds=3))
LATE = 20.0


def queue(count: int, *, waits: Sequence[timedelta] = WAITS, stop_at: float = LATE) -> LetterQueue:
    return LetterQueue(count, retry_waits=waits, stop_at=stop_at)


def taken(letters: LetterQueue, now: float) -> list[int]:
    """All whose turn it is now."""
    found = []
    while (place := letters.take(now)) is not None:
        found.append(place)
    return found


def test_each_is_tried_once_in_order() -> None:
    letters = queue(3)

    assert letters.has_untried
    assert [0, 1, 2] == taken(letters, 0.0)
    assert not letters.has_untried
    assert letters.next_at() is None


def test_what_was_refused_is_due_after_waits_of_its_own_whatever_became_of_others() -> None:
    letters = queue(3)
    taken(letters, 0.0)
    letters.put_back(1, was_kept_waiting=False, now=0.25)
    letters.put_back(0, was_kept_waiting=False, now=0.5)

    assert (1.25, []) == (letters.next_at(), taken(letters, 1.2))
    assert [1] == taken(letters, 1.25)
    letters.put_back(1, was_kept_waiting=False, now=1.25)
    assert (1.5, [0]) == (letters.next_at(), taken(letters, 1.5))
    assert (4.25, [1]) == (letters.next_at(), taken(letters, 4.25))
    letters.put_back(1, was_kept_waiting=False, now=4.25)
    assert letters.next_at() is None


def test_a_retry_that_is_due_comes_before_what_was_not_tried() -> None:
    letters = queue(3)
    letters.take(0.0)
    letters.put_back(0, was_kept_waiting=False, now=0.0)

    assert [1, 0, 2] == [letters.take(moment) for moment in (0.5, 1.0, 1.0)]


def test_what_kept_us_waiting_comes_last_of_all() -> None:
    letters = queue(3)
    letters.take(0.0)
    letters.put_back(0, was_kept_waiting=True, now=0.0)
    letters.take(5.0)
    letters.put_back(1, was_kept_waiting=False, now=5.0)

    assert [2] == taken(letters, 5.5)
    assert (6.0, [1, 0]) == (letters.next_at(), taken(letters, 6.0))


def test_a_retry_that_would_come_too_late_is_none() -> None:
    letters = queue(2, stop_at=10.0)
    taken(letters, 0.0)
    letters.put_back(0, was_kept_waiting=False, now=8.9)
    letters.put_back(1, was_kept_waiting=False, now=9.0)

    assert (9.9, [0]) == (letters.next_at(), taken(letters, 9.9))


def test_a_pause_holds_everything_back_and_costs_no_letter_a_retry() -> None:
    letters = queue(2)
    letters.put_back(letters.take(0.0) or 0, was_kept_waiting=False, now=0.0)

    assert letters.pause(0.5)
    assert (1.5, []) == (letters.next_at(), taken(letters, 1.4))
    letters.put_first(letters.take(1.5) or 0)
    assert [0, 1] == taken(letters, 1.5)
    letters.put_back(0, was_kept_waiting=False, now=1.5)
    assert 4.5 == letters.next_at()
    assert letters.pause(2.0)
    assert (5.0, False) == (letters.next_at(), letters.pause(6.0))
    assert not queue(1, stop_at=1.0).pause(0.5)


@given(
    count=st.integers(0, 6),
    waits=st.lists(st.integers(0, 5).map(lambda s: timedelta(seconds=s)), max_size=3),
    outcomes=st.lists(st.sampled_from(["settled", "refused", "kept waiting", "away"]), max_size=60),
)
def test_a_call_ends_after_at_most_so_many_tries_and_each_has_its_turn(
    count: int, waits: list[timedelta], outcomes: list[str]
) -> None:
    letters, tries, now, left = queue(count, waits=waits), Counter[int](), 0.0, iter(outcomes)
    while (at := letters.next_at()) is not None:
        now = max(now, at)
        assert now < LATE
        place = letters.take(now)
        assert place is not None
        match next(left, "refused"):
            case "away":
                if not letters.pause(now):
                    return
                letters.put_first(place)
            case "settled":
                tries[place] += 1
            case outcome:
                tries[place] += 1
                letters.put_back(place, was_kept_waiting=outcome == "kept waiting", now=now)

    assert set(range(count)) == set(tries)
    assert max(tries.values(), default=0) <= 1 + len(waits)
