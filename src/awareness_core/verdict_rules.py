"""A company's own rules on what a machine did, and their change as an operator words it.

Data, not code: which signs count is the company's to decide. How they are applied is `interactions`' business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import attrs

from awareness_core.campaign_events import PLACE_SPAN
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.texts import normal_text, text_problem

SCANNER_AGENTS = (
    "barracuda",
    "bingpreview",
    "bot/",
    "curl/",
    "existence discovery",
    "facebookexternalhit",
    "go-http-client",
    "headlesschrome",
    "mimecast",
    "proofpoint",
    "python-requests",
    "python-urllib",
    "skypeuripreview",
    "slackbot",
    "symantec",
    "wget/",
)
"""Parts of user agents, in lower case, that no browser of a person has."""

EVERYDAY_AGENTS = (
    "mozilla/5.0 (windows nt 10.0; win64; x64) applewebkit/537.36 (khtml, like gecko) chrome/ safari/537.36 edg/",
    "mozilla/5.0 (windows nt 10.0; win64; x64; rv:) gecko/20100101 firefox/",
    "mozilla/5.0 (macintosh; intel mac os x 10_15_7) applewebkit/605.1.15 (khtml, like gecko) version/ safari/605.1.15",
    "mozilla/5.0 (iphone; cpu iphone os like mac os x) applewebkit/605.1.15 (khtml, like gecko) mobile/ safari/",
    "mozilla/5.0 (linux; android 10; k) applewebkit/537.36 (khtml, like gecko) chrome/ mobile safari/537.36",
)
"""What people read their mail with, in lower case, without the versions that go by: a scanner may be known by one."""

MAX_AGENTS = 200
MIN_AGENT_LENGTH = 3
MAX_AGENT_LENGTH = 100
_LARGEST_CROWD_WINDOW = PLACE_SPAN
_LONGEST_SOON = timedelta(days=1)
_LONGEST_BURST = timedelta(hours=1)
_LARGEST_COUNT = 1_000_000


@attrs.frozen(kw_only=True)
class VerdictRules:
    """When an interaction is a machine's.

    Within `soon` of a sending to the same recipient, before it or after; among at least `crowd` recipients whom one
    address touches within `crowd_window`; among at least `burst` interactions of one recipient within `burst_window`;
    with one of `scanner_agents` in its user agent; or by a HEAD request.
    """

    soon: timedelta = timedelta(seconds=10)
    crowd: int = attrs.field(default=10, validator=attrs.validators.ge(2))
    crowd_window: timedelta = attrs.field(
        default=timedelta(seconds=5), validator=attrs.validators.le(_LARGEST_CROWD_WINDOW)
    )
    burst: int = attrs.field(default=5, validator=attrs.validators.ge(2))
    burst_window: timedelta = timedelta(seconds=2)
    scanner_agents: tuple[str, ...] = SCANNER_AGENTS


DEFAULT_RULES = VerdictRules()


@attrs.frozen(kw_only=True)
class RulesChange:
    """What an operator wants otherwise; what is None stays. `agents` are added, `no_agents` taken away."""

    soon: timedelta | None = None
    crowd: int | None = None
    crowd_window: timedelta | None = None
    burst: int | None = None
    burst_window: timedelta | None = None
    agents: Sequence[str] = ()
    no_agents: Sequence[str] = ()


def changed_rules(rules: VerdictRules, change: RulesChange) -> VerdictRules:
    """`rules` with the change, agents in lower case and in order. Raises `ValidationFailed` with every fault."""
    faults: list[Fault] = []

    def note(field: str, code: str, message: str) -> None:
        faults.append(Fault(field=field, code=code, message=message))

    _check_span("soon", change.soon, _LONGEST_SOON, note)
    _check_span("crowd_window", change.crowd_window, _LARGEST_CROWD_WINDOW, note)
    _check_span("burst_window", change.burst_window, _LONGEST_BURST, note)
    _check_count("crowd", change.crowd, note)
    _check_count("burst", change.burst, note)
    added = [_agent(text, note) for text in change.agents]
    removed = {normal_text(text).lower() for text in change.no_agents}
    for agent in sorted(removed - {*rules.scanner_agents}):
        note("no_agent", "unknown", f"'{agent}' is not among the user agents")
    agents = {*rules.scanner_agents, *added} - removed
    if len(agents) > MAX_AGENTS:
        note("agent", "too_many", f"{len(agents)} user agents; at most {MAX_AGENTS} are allowed")
    if faults:
        raise ValidationFailed(faults)
    return VerdictRules(
        soon=rules.soon if change.soon is None else change.soon,
        crowd=rules.crowd if change.crowd is None else change.crowd,
        crowd_window=rules.crowd_window if change.crowd_window is None else change.crowd_window,
        burst=rules.burst if change.burst is None else change.burst,
        burst_window=rules.burst_window if change.burst_window is None else change.burst_window,
        scanner_agents=tuple(sorted(agents)),
    )


_Note = Callable[[str, str, str], None]


def _check_span(field: str, span: timedelta | None, longest: timedelta, note: _Note) -> None:
    if span is not None and not timedelta(0) <= span <= longest:
        note(field, "out_of_range", f"must be between 0 and {longest.total_seconds():.0f} seconds")


def _check_count(field: str, count: int | None, note: _Note) -> None:
    if count is not None and not 2 <= count <= _LARGEST_COUNT:  # noqa: PLR2004 (one alone is no crowd and no burst)
        note(field, "out_of_range", f"must be between 2 and {_LARGEST_COUNT}")


def _agent(text: str, note: _Note) -> str:
    agent = normal_text(text).lower()
    problem = text_problem(agent, min_length=MIN_AGENT_LENGTH, max_length=MAX_AGENT_LENGTH)
    if problem is not None:
        note("agent", problem.code, problem.message)
    elif any(agent in everyday for everyday in EVERYDAY_AGENTS):
        note("agent", "everyday_agent", f"'{agent}' is in the user agents of people's browsers, too")
    return agent
