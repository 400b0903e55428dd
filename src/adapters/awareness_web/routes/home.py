"""What somebody who is logged in sees of themselves, and the way out."""

from __future__ import annotations

from collections.abc import Sequence

from litestar import get, post
from litestar.handlers import HTTPRouteHandler

from awareness_core.outcomes import Outcome, OwnOutcome
from awareness_core.sessions import form_token
from awareness_core.use_cases.own_outcomes import read_own_outcomes
from awareness_core.use_cases.visit import Visit, log_out, log_out_everywhere
from awareness_web.answers import Answer, go_to
from awareness_web.cookies import SESSION, drop_cookie
from awareness_web.pages import page
from awareness_web.paths import CHOOSE, HOME, LOG_OUT, LOG_OUT_EVERYWHERE, LOGIN
from awareness_web.routes.entering import LEFT
from awareness_web.visiting import AnyRequest, Desk, form, session_token

SHOWN = 12
"""So many outcomes, the latest."""

_REPORTED = frozenset({Outcome.REPORTED, Outcome.REPORTED_LATE})
_OUT = f"{LOGIN}?{LEFT.decode()}"


def home_routes(desk: Desk) -> list[HTTPRouteHandler]:
    """`/portal`, and the two ways to log out."""

    @get(HOME)
    async def show_home(request: AnyRequest) -> Answer:
        visit = await desk.visit(request)
        if visit is None:
            return go_to(LOGIN)
        if visit.session.must_choose:
            return go_to(CHOOSE)
        return _page(request, visit, await read_own_outcomes(desk.ports, visit.member))

    @post(LOG_OUT)
    async def leave(request: AnyRequest) -> Answer:
        token = session_token(request)
        await form(request, token=token)
        await log_out(desk.ports, token or "")
        return go_to(_OUT, headers=(drop_cookie(SESSION),))

    @post(LOG_OUT_EVERYWHERE)
    async def leave_everywhere(request: AnyRequest) -> Answer:
        await form(request, token=session_token(request))
        visit = await desk.visit(request)
        if visit is not None:
            await log_out_everywhere(desk.ports, visit.member)
        return go_to(_OUT, headers=(drop_cookie(SESSION),))

    return [show_home, leave, leave_everywhere]


def _page(request: AnyRequest, visit: Visit, outcomes: Sequence[OwnOutcome]) -> Answer:
    return page(
        "home",
        visit.company.language,
        form_token=form_token(session_token(request) or ""),
        person=visit.person,
        is_sso=visit.session.is_sso,
        company=visit.company,
        outcomes=outcomes[:SHOWN],
        total=len(outcomes),
        reported=sum(own.outcome in _REPORTED for own in outcomes),
    )
