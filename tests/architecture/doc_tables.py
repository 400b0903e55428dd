"""The tables and diagrams of the documentation that the core dictates: what it does is asked of it, not copied.

Each public function gives the text of one made part. The words for situations are chosen here; the outcomes are not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import attrs

from awareness_core import (
    EmployeeState,
    Presence,
    QuotaDecision,
    campaigns,
    employees,
    errors,
    kpis,
    quota,
    records,
)
from awareness_core.api_keys import Scope
from awareness_core.emails import parse_email
from awareness_core.employees import Action, Employee, EmployeeId, InvitationHistory
from awareness_core.invitations import PAUSE, Reason, ineligibility, plan_invitations
from awareness_core.tenants import Company, CompanyId
from awareness_http.errors import STATUSES
from awareness_server import event_headers
from awareness_server.roster_headers import fold
from tests.architecture.doc_signatures import declarations

_NOW = datetime(2026, 3, 31, tzinfo=UTC)
_STATES = {None: "nobody known", EmployeeState.ACTIVE: "active", EmployeeState.ARCHIVED: "archived"}
_PRESENCES = {
    Presence.PRESENT: "`active: true`",
    Presence.UNSTATED: "nothing",
    Presence.LEAVING: "`active: false`",
}


def transitions() -> str:
    """Return the table of what a record does to a person."""
    rows = []
    for (state, presence), transition in employees.TRANSITIONS.items():
        action = f"`{transition.action.value}`"
        if transition.action is Action.UPDATED:
            action += ", or `skipped` when nothing differs"
        rows.append((_STATES[state], _PRESENCES[presence], _STATES[transition.next], action))
    return _table(("stored", "the record says", "stored afterwards", "action"), rows)


def state_diagram() -> str:
    """Return the changes of state as a diagram; sayings that lead to the same share an arrow."""
    arrows: dict[tuple[str, str, str], list[str]] = {}
    for (state, presence), transition in employees.TRANSITIONS.items():
        if transition.next is not None and transition.next is not state:
            start = "[*]" if state is None else _STATES[state]
            arrow = (start, _STATES[transition.next], transition.action.value)
            arrows.setdefault(arrow, []).append(presence.value)
    lines = [
        f"    {start} --> {end}: {' or '.join(said)} / {action}"
        for (start, end, action), said in arrows.items()
    ]
    return "\n```mermaid\nstateDiagram-v2\n    direction LR\n" + "\n".join(lines) + "\n```\n\n"


def campaign_states() -> str:
    """Return the table of what a campaign may become."""
    rows = []
    for state, ends in campaigns.TRANSITIONS.items():
        names = [f"`{end.value}`" for end in campaigns.CampaignState if end in ends]
        rows.append((f"`{state.value}`", ", ".join(names) or "nothing more"))
    return _table(("state", "may become"), rows)


def eligibility() -> str:
    """Return the table of who is invited, by asking the core about one person of each kind."""
    attempted = InvitationHistory(last_attempt_at=_NOW - PAUSE)
    situations: Mapping[str, Employee] = {
        "archived": attrs.evolve(_person(), state=EmployeeState.ARCHIVED),
        "logs in through single sign-on": _person(email="ada@sso.example"),
        "has logged in": attrs.evolve(_person(), first_login_at=_NOW, has_password=True),
        "awaiting access, never attempted": _person(),
        "awaiting access, last attempt less than 15 minutes ago, even a failed one": _invited(
            InvitationHistory(last_attempt_at=_NOW - PAUSE + timedelta(milliseconds=1))
        ),
        "awaiting access, a mailed password is still good": _invited(
            attrs.evolve(attempted, last_sent_at=_NOW - PAUSE, live_until=_NOW + timedelta(days=1))
        ),
        "awaiting access, the mailed password has expired": _invited(
            attrs.evolve(attempted, last_sent_at=_NOW - timedelta(days=7), live_until=_NOW)
        ),
        "awaiting access, the last mail was refused": _invited(attempted),
    }
    rows = {
        who: [_outcome(ineligibility(person, _COMPANY, force=force, now=_NOW)) for force in (False, True)]
        for who, person in situations.items()
    }
    unknown, twice = EmployeeId("nobody"), EmployeeId("1")
    plans = [
        plan_invitations([_person()], _COMPANY, selection=[twice, twice, unknown], force=force, now=_NOW)
        for force in (False, True)
    ]
    for position, who in (
        (1, "named twice in one call: the second time"),
        (2, "an id that is not this company's"),
    ):
        rows[who] = [_outcome(getattr(plan.lines[position], "code", None)) for plan in plans]
    return _table(
        ("who", "without `force`", "with `force`"), [(who, *outcomes) for who, outcomes in rows.items()]
    )


def steps() -> str:
    """Return the table of what each step of a recipient proves."""
    order = list(kpis.Step)
    rows = [
        (
            f"`{step.value}`",
            ", ".join(f"`{proof.value}`" for proof in order if proof in proven and proof is not step),
        )
        for step, proven in kpis.IMPLIES.items()
    ]
    return _table(
        ("observed", "also counted as"), [(step, proven or "nothing else") for step, proven in rows]
    )


def rates() -> str:
    """Return examples of rates with their intervals."""
    rows = []
    for count, total in ((0, 0), (0, 20), (1, 20), (3, 20), (150, 1000), (1500, 10_000), (20, 20), (1, 800)):
        rate = kpis.rate(count, total)
        rows.append((str(count), str(total), f"{rate.percent}", f"{rate.low} to {rate.high}"))
    return _table(("count", "total", "rate in percent", "95 % interval"), rows, right=3)


def field_lengths() -> str:
    """Return the table of how long each field of a record may be."""
    return _table(
        ("field of `RawEmployee`", "at most"),
        [(f"`{name}`", str(length)) for name, length in records.MAX_LENGTHS.items()],
    )


def error_codes() -> str:
    """Return the table of refusals: class, code, contract."""
    found = [
        error
        for error in vars(errors).values()
        if isinstance(error, type) and error.__module__ == errors.__name__
    ]
    rows = [
        (f"`{error.__name__}`", f"`{error.code}`")
        for error in found
        if issubclass(error, errors.AwarenessError) and error is not errors.AwarenessError
    ]
    return _table(("class", "`code`"), rows)


def http_refusals() -> str:
    """Return the table of statuses and the codes that go with them."""
    codes: dict[int, list[str]] = {}
    for refusal, status in STATUSES.items():
        names = codes.setdefault(status, [])
        if f"`{refusal.code}`" not in names:
            names.append(f"`{refusal.code}`")
    return _table(("status", "`code`"), [(str(status), ", ".join(names)) for status, names in codes.items()])


def scopes() -> str:
    """Return the list of scopes."""
    return "\n" + ", ".join(f"`{scope.value}`" for scope in Scope) + "\n\n"


def quota_headers() -> str:
    """Return the header lines of a key's first answer and of its refusal."""
    policy = quota.API_KEY_POLICY
    first = quota.decide(policy, quota.QuotaUse(count=1, resets_in=policy.window))
    refused = quota.decide(policy, quota.QuotaUse(count=policy.limit + 1, resets_in=timedelta(seconds=412)))
    return (
        "\n```http\n"
        + _head(first)
        + f"\n{_head(refused)}Retry-After: {refused.refusal().retry_after}\n```\n\n"
    )


def event_columns() -> str:
    """Return the table of what a CSV of events may call its columns."""
    rows = []
    for field, (name, *others) in event_headers.HEADERS.items():
        # Of those that read alike, one is enough.
        spelt = {fold(other): other for other in reversed(others) if fold(other) != fold(name)}
        rows.append(
            (
                f"`{name}`",
                ", ".join(reversed(spelt.values())),
                "required" if field in event_headers.REQUIRED else "",
            )
        )
    return _table(("column", "or what tools call it", ""), rows)


MAKERS: Mapping[str, Callable[[], str]] = {
    maker.__name__: maker
    for maker in (
        transitions,
        state_diagram,
        campaign_states,
        eligibility,
        steps,
        event_columns,
        rates,
        field_lengths,
        error_codes,
        http_refusals,
        scopes,
        quota_headers,
    )
}


def make(kind: str, arguments: tuple[str, ...]) -> str:
    """Return the text of a made part."""
    return declarations(arguments) if kind == "core" else MAKERS[kind]()


_COMPANY = Company(
    id=CompanyId("c"),
    name="Example",
    sso_domains=frozenset({"sso.example"}),
    created_at=_NOW - timedelta(days=400),
)


def _person(email: str = "ada@example.com") -> Employee:
    then = _NOW - timedelta(days=30)
    return Employee(
        id=EmployeeId("1"),
        email=parse_email(email),
        last_name="Lovelace",
        first_name="Ada",
        created_at=then,
        updated_at=then,
    )


def _invited(history: InvitationHistory) -> Employee:
    return attrs.evolve(_person(), invitation=history)


def _outcome(reason: Reason | None) -> str:
    return "invited" if reason is None else f"skipped, `{reason.value}`"


def _head(decision: QuotaDecision) -> str:
    return "".join(f"{name}: {value}\n" for name, value in decision.headers().items())


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: int = 0) -> str:
    rule = ["---:" if position < right else "---" for position in range(len(columns))]
    lines = [" | ".join(cells) for cells in (columns, rule, *rows)]
    return "\n" + "\n".join(f"| {line} |" for line in lines) + "\n\n"
