"""Choosing a password: the first one, which is asked for before anything else, and another one later."""

from __future__ import annotations

from collections.abc import Sequence

from litestar import get, post
from litestar.handlers import HTTPRouteHandler

from awareness_core.chosen_passwords import MAX_LENGTH, MIN_LENGTH, Weakness, is_too_short, normal_password
from awareness_core.errors import RateLimitExceeded
from awareness_core.sessions import form_token
from awareness_core.use_cases.choose_password import (
    PasswordRefused,
    choose_password,
    is_own_password,
)
from awareness_core.use_cases.visit import Visit
from awareness_web.answers import Answer, go_to
from awareness_web.cookies import SESSION, set_cookie
from awareness_web.forms import Fields
from awareness_web.metrics import ChoiceOutcome
from awareness_web.pages import page
from awareness_web.paths import CHOOSE, HOME, LOGIN, PASSWORD
from awareness_web.visiting import AnyRequest, Desk, form, session_token

MISMATCH = "mismatch"
WRONG_CURRENT = "wrong_current"
UNCHANGED = "unchanged"
THROTTLED = "throttled"


def choosing_routes(desk: Desk) -> list[HTTPRouteHandler]:
    """The page of the first password, and that of later ones."""

    @get([CHOOSE, PASSWORD])
    async def show(request: AnyRequest) -> Answer:
        visit = await desk.visit(request)
        elsewhere = _belongs_elsewhere(request, visit)
        if visit is None or elsewhere is not None:
            return elsewhere or go_to(LOGIN)
        return _page(request, visit)

    @post([CHOOSE, PASSWORD])
    async def choose(request: AnyRequest) -> Answer:
        fields = await form(request, token=session_token(request))
        visit = await desk.visit(request)
        elsewhere = _belongs_elsewhere(request, visit)
        if visit is None or elsewhere is not None:
            return elsewhere or go_to(LOGIN)
        try:
            faults = await _faults_before(desk, visit, fields)
        except RateLimitExceeded as refusal:
            desk.metrics.count_choice(ChoiceOutcome.THROTTLED)
            return _page(request, visit, faults=[THROTTLED], refusal=refusal)
        if faults:
            desk.metrics.count_choice(ChoiceOutcome.REFUSED)
            return _page(request, visit, faults=faults)
        outcome = await choose_password(
            desk.ports,
            visit.member,
            visit.session.digest,
            password=fields.get("new", ""),
            policy=desk.policy,
        )
        if outcome is None:
            return go_to(LOGIN)
        if isinstance(outcome, PasswordRefused):
            desk.metrics.count_choice(ChoiceOutcome.REFUSED)
            return _page(request, visit, faults=[weakness.value for weakness in outcome.weaknesses])
        desk.metrics.count_choice(ChoiceOutcome.FIRST if visit.session.must_choose else ChoiceOutcome.CHANGED)
        return go_to(HOME, headers=(set_cookie(SESSION, outcome.token),))

    return [show, choose]


def _belongs_elsewhere(request: AnyRequest, visit: Visit | None) -> Answer | None:
    if visit is None:
        return go_to(LOGIN)
    if visit.session.is_sso:
        return go_to(HOME)
    own = CHOOSE if visit.session.must_choose else PASSWORD
    return None if request.scope["path"] == own else go_to(CHOOSE if visit.session.must_choose else HOME)


async def _faults_before(desk: Desk, visit: Visit, fields: Fields) -> Sequence[str]:
    """What is wrong with what was typed, before the password itself is looked at. Raises `RateLimitExceeded`."""
    if not visit.session.must_choose:
        if not await is_own_password(desk.ports, visit.member, visit.person.email, fields.get("current", "")):
            return [WRONG_CURRENT]
        if normal_password(fields.get("new", "")) == normal_password(fields.get("current", "")):
            return [UNCHANGED]
    if fields.get("new", "") == fields.get("again", ""):
        return []
    is_short = is_too_short(normal_password(fields.get("new", "")))
    return [*([Weakness.TOO_SHORT.value] if is_short else []), MISMATCH]


def _page(
    request: AnyRequest,
    visit: Visit,
    *,
    faults: Sequence[str] = (),
    refusal: RateLimitExceeded | None = None,
) -> Answer:
    return page(
        "choose",
        visit.company.language,
        status=200 if not faults else 422 if refusal is None else 429,
        headers=() if refusal is None else ((b"retry-after", b"%d" % refusal.retry_after),),
        form_token=form_token(session_token(request) or ""),
        faults=faults,
        fields_of={MISMATCH: "again", WRONG_CURRENT: "current", THROTTLED: "current"},
        is_first=visit.session.must_choose,
        email=visit.person.email.text,
        company=visit.company,
        least=MIN_LENGTH,
        most=MAX_LENGTH,
    )
