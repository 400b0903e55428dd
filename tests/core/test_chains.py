"""Chains and rings of waiting, against the definition: the largest set that can all succeed together."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.chains import follow_chains


@st.composite
def waiting(draw: st.DrawFn) -> tuple[dict[int, int], frozenset[int], frozenset[int]]:
    """Who waits for whom (nobody is waited for by two), who is stuck, who is free."""
    people = list(range(8))
    awaited = draw(st.permutations(people))
    waits_for = {
        person: other
        for person, other in zip(people, awaited, strict=True)
        if person != other and draw(st.booleans())
    }
    idle = [person for person in people if person not in waits_for]
    stuck = draw(st.frozensets(st.sampled_from(idle))) if idle else frozenset()
    free = draw(st.frozensets(st.sampled_from([person for person in people if person not in stuck])))
    return waits_for, stuck, free


@given(waiting())
@example(({0: 1, 1: 0}, frozenset(), frozenset()))
@example(({0: 1, 1: 2}, frozenset({2}), frozenset()))
@example(({0: 1, 1: 2}, frozenset({2}), frozenset({1})))
def test_those_wait_in_vain_who_are_in_no_set_that_succeeds_together(
    case: tuple[dict[int, int], frozenset[int], frozenset[int]],
) -> None:
    waits_for, stuck, free = case
    hopeful = set(waits_for)
    while True:
        disappointed = {
            person
            for person in hopeful
            if (other := waits_for[person]) not in free
            and (other in stuck or (other in waits_for and other not in hopeful))
        }
        if not disappointed:
            break
        hopeful -= disappointed

    assert follow_chains(waits_for, stuck=stuck, free=free) == set(waits_for) - hopeful
