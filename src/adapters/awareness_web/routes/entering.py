"""The way in: the login form, which says one thing only to whoever may not come in."""

from __future__ import annotations

from litestar import get, post
from litestar.handlers import HTTPRouteHandler

from awareness_core.errors import RateLimitExceeded
from awareness_core.use_cases.log_in import Admission, log_in
from awareness_core.use_cases.visit import log_out
from awareness_web.answers import Answer, go_to
from awareness_web.cookies import SESSION, VISITOR, drop_cookie, set_cookie
from awareness_web.metrics import LoginOutcome
from awareness_web.pages import page
from awareness_web.paths import CHOOSE, HOME, LOGIN, ROOT
from awareness_web.refusals import NotFromHere
from awareness_web.routes.company import leave_for, offers_company_login, provider_for
from awareness_web.visiting import AnyRequest, Desk, asked_language, form, session_token, visitor_token
from awareness_web.waiting import waiting_room

LEFT = b"left"
"""The query with which the login page says that one has logged out."""


def entering_routes(desk: Desk) -> list[HTTPRouteHandler]:
    """`/`, and `/login`."""

    @get(ROOT, sync_to_thread=False)
    def show_root() -> Answer:
        return go_to(HOME)

    @get(LOGIN)
    async def show_login(request: AnyRequest) -> Answer:
        return await _inside(desk, request) or await _login_page(desk, request, notice=_notice(request))

    @post(LOGIN)
    async def enter(request: AnyRequest) -> Answer:
        try:
            fields = await form(request, token=visitor_token(request))
        except NotFromHere:
            # Logged in from another tab, which took the form's cookie; else open for days, or a browser that keeps
            # no cookies: nothing is lost by trying again.
            inside = await _inside(desk, request)
            return inside or await _login_page(desk, request, status=403, fault="stale")
        email, password = fields.get("email", "").strip(), fields.get("password", "")
        provider = await provider_for(desk, email)
        if provider is None and not (email and password):
            return await _login_page(desk, request, status=422, fault="missing", email=email)
        try:
            if provider is not None:
                return await leave_for(desk, request, provider, email=email)
            admission = await log_in(
                desk.ports,
                email=email,
                password=password,
                subject=desk.subject(request),
                policy=desk.policy,
                failures=desk.failures,
            )
        except RateLimitExceeded as refusal:
            desk.metrics.count_login(LoginOutcome.THROTTLED)
            return await _login_page(
                desk, request, status=429, fault="throttled", email=email, refusal=refusal
            )
        if admission is None:
            desk.metrics.count_login(LoginOutcome.REFUSED)
            return await _login_page(desk, request, status=422, fault="wrong", email=email)
        return await _let_in(desk, request, admission)

    return [show_root, show_login, enter]


async def _inside(desk: Desk, request: AnyRequest) -> Answer | None:
    """Where somebody belongs who has a session already."""
    visit = await desk.visit(request)
    return None if visit is None else go_to(CHOOSE if visit.session.must_choose else HOME)


def _notice(request: AnyRequest) -> str | None:
    """What is said to somebody who is not inside any more."""
    if request.scope["query_string"] == LEFT:
        return "left"
    return None if session_token(request) is None else "ended"


async def _let_in(desk: Desk, request: AnyRequest, admission: Admission) -> Answer:
    desk.metrics.count_login(
        LoginOutcome.TEMPORARY_PASSWORD if admission.must_choose else LoginOutcome.OWN_PASSWORD
    )
    earlier = session_token(request)
    if earlier is not None:
        await log_out(desk.ports, earlier)
    return go_to(
        CHOOSE if admission.must_choose else HOME,
        headers=(set_cookie(SESSION, admission.token), drop_cookie(VISITOR)),
    )


async def _login_page(
    desk: Desk,
    request: AnyRequest,
    *,
    status: int = 200,
    fault: str | None = None,
    notice: str | None = None,
    email: str = "",
    refusal: RateLimitExceeded | None = None,
) -> Answer:
    room = waiting_room(desk, request, refusal)
    return page(
        "login",
        asked_language(request),
        status=status,
        # Said once: the next time there is no session that could have ended.
        headers=(*room.headers, drop_cookie(SESSION)) if notice == "ended" else room.headers,
        form_token=room.form_token,
        fault=fault,
        notice=notice,
        email=email[:_LONGEST_SHOWN],
        minutes=room.minutes,
        offers_company_login=await offers_company_login(desk),
    )


_LONGEST_SHOWN = 254
