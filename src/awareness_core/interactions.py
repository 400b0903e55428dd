"""Human or machine? Link scanners and prefetching mail programs open and click before anybody reads.

A verdict is the set of signs that an interaction shows; with any, it is kept and not counted. Rules are a company's
data. That many people share an address proves nothing, as a whole office does; that many of them act from it within
seconds does (Choice: decisions/023). Reports are never judged: no machine presses that button.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import attrs

from awareness_core.campaign_events import HUMAN, Event, EventKey, Sign, places_around
from awareness_core.kpis import Step
from awareness_core.verdict_rules import DEFAULT_RULES, VerdictRules

JUDGED_STEPS = frozenset({Step.OPENED, Step.CLICKED, Step.SUBMITTED})


def judge_campaign(events: Iterable[Event], rules: VerdictRules = DEFAULT_RULES) -> list[Event]:
    """All events of a campaign with their signs, in the order given, which never matters otherwise."""
    listed = list(events)
    in_crowd = crowded(listed, rules)
    signs = personal_signs(listed, rules)
    return [
        attrs.evolve(event, signs=signs[event.key] | (Sign.CROWD if event.key in in_crowd else HUMAN))
        for event in listed
    ]


def places_that_matter(fresh: Iterable[Event], rules: VerdictRules = DEFAULT_RULES) -> frozenset[str]:
    """Where all happened that `judge_anew` must know beside the events of the recipients of `fresh`.

    A crowd around one of them reaches one window away, and whoever is there may be in a crowd that reaches another.
    """
    judged = (event for event in fresh if event.step in JUDGED_STEPS)
    return places_around(judged, 2 * rules.crowd_window)


def judge_anew(
    events: Sequence[Event], fresh: Sequence[Event], rules: VerdictRules = DEFAULT_RULES
) -> list[Event]:
    """Those of `events` whose signs are others since `fresh` came, with the signs that they have now.

    `events` must hold `fresh`, every event of their recipients and every event in `places_that_matter`. Of whatever
    else they hold the stored signs are right. What `fresh` holds of an event as it was before counts as a place to look
    at.
    """
    touched = {event.recipient for event in fresh}
    personal = personal_signs((event for event in events if event.recipient in touched), rules)
    near = _near(events, fresh, rules.crowd_window)
    in_crowd = crowded(events, rules) if near else frozenset()
    changed = []
    for event in events:
        before = event.signs
        shown = personal.get(event.key)
        if shown is None:
            shown = before & ~Sign.CROWD if before != HUMAN else HUMAN
        in_a_crowd = event.key in in_crowd if event.key in near else before != HUMAN and Sign.CROWD in before
        after = shown | Sign.CROWD if in_a_crowd else shown
        if after != before:
            changed.append(attrs.evolve(event, signs=after))
    return changed


def personal_signs(events: Iterable[Event], rules: VerdictRules) -> dict[EventKey, Sign]:
    """What each event shows by itself and beside the others of its recipient, all of whose events are given."""
    by_recipient: defaultdict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_recipient[event.recipient].append(event)
    signs: dict[EventKey, Sign] = {}
    for told in by_recipient.values():
        judged = [event for event in told if event.step in JUDGED_STEPS]
        signs.update((event.key, HUMAN) for event in told)
        if judged:
            sendings = [event.at for event in told if event.step is Step.SENT]
            signs.update((event.key, _own_signs(event, sendings, rules)) for event in judged)
            for key in _in_bursts(judged, rules):
                signs[key] |= Sign.BURST
    return signs


def crowded(events: Iterable[Event], rules: VerdictRules) -> frozenset[EventKey]:
    """The interactions among many recipients whom one address touched within seconds."""
    by_address: defaultdict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event.address is not None and event.step in JUDGED_STEPS:
            by_address[event.address].append(event)
    found: set[EventKey] = set()
    for told in by_address.values():
        if len(told) >= rules.crowd:
            found.update(_in_crowds(sorted(told, key=_moment), rules))
    return frozenset(found)


def _near(events: Iterable[Event], fresh: Iterable[Event], window: timedelta) -> frozenset[EventKey]:
    """The interactions that one of `fresh` may have drawn into a crowd, or let out of it."""
    moments: defaultdict[str, list[datetime]] = defaultdict(list)
    for event in fresh:
        if event.address is not None and event.step in JUDGED_STEPS:
            moments[event.address].append(event.at)
    for told in moments.values():
        told.sort()
    found = []
    for event in events:
        if event.address is not None and event.address in moments and event.step in JUDGED_STEPS:
            told = moments[event.address]
            next_one = bisect_left(told, event.at - window)
            if next_one < len(told) and told[next_one] <= event.at + window:
                found.append(event.key)
    return frozenset(found)


def _own_signs(event: Event, sendings: Sequence[datetime], rules: VerdictRules) -> Sign:
    signs = HUMAN
    if any(abs(event.at - sent) <= rules.soon for sent in sendings):
        signs |= Sign.TOO_SOON
    if event.method == "HEAD":
        signs |= Sign.HEAD_REQUEST
    if event.user_agent is not None and _is_scanner(event.user_agent, rules.scanner_agents):
        signs |= Sign.SCANNER_AGENT
    return signs


@functools.lru_cache(maxsize=1024)
def _is_scanner(user_agent: str, parts: Sequence[str]) -> bool:
    # Few browsers do most of what happens.
    agent = user_agent.lower()
    return any(part in agent for part in parts)


def _in_bursts(judged: Sequence[Event], rules: VerdictRules) -> Iterable[EventKey]:
    ordered = sorted(judged, key=_moment)
    for first in range(len(ordered) - rules.burst + 1):
        group = ordered[first : first + rules.burst]
        if group[-1].at - group[0].at <= rules.burst_window:
            yield from (event.key for event in group)


def _in_crowds(ordered: Sequence[Event], rules: VerdictRules) -> Iterable[EventKey]:
    present: Counter[str] = Counter()
    first = unmarked = 0
    for last, event in enumerate(ordered):
        present[event.recipient] += 1
        while event.at - ordered[first].at > rules.crowd_window:
            gone = ordered[first].recipient
            present[gone] -= 1
            if not present[gone]:
                del present[gone]
            first += 1
        if len(present) >= rules.crowd:
            yield from (marked.key for marked in ordered[max(first, unmarked) : last + 1])
            unmarked = last + 1


def _moment(event: Event) -> datetime:
    return event.at
