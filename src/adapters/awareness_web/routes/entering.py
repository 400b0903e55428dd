"""The way in: the login form, which says one thing only to whoever may not come in."""

from __future__ import annotations

from litestar import get, post
from litestar.handlers import HTTPRouteHandler

from awareness_core.errors import RateLimitExceeded
from awareness_core.sessions import TOKEN_BYTES, form_token, spell_token
from awareness_core.use_cases.log_in import log_in
from awareness_core.use_cases.visit import log_out
from awareness_web.answers import Answer, go_to
from awareness_web.cookies import SESSION, VISITOR, drop_cookie, set_cookie
from awareness_web.metrics import LoginOutcome
from awareness_web.pages import page
from awareness_web.paths import CHOOSE, HOME, LOGIN, ROOT
from awareness_web.refusals import NotFromHere
from awareness_web.visiting import AnyRequest, Desk, asked_language, form, session_token, visitor_token

LEFT = b"left"
"""The query with which the login page says that one has logged out."""


def entering_routes(desk: Desk) -> list[HTTPRouteHandler]:
    """`/`, and `/login`."""

    @get(ROOT, sync_to_thread=False)
    def show_root() -> Answer:
        return go_to(HOME)

    @get(LOGIN)
    async def show_login(request: AnyRequest) -> Answer:
        visit = await desk.visit(request)
        if visit is not None:
            return go_to(CHOOSE if visit.session.must_choose else HOME)
        notice = "left" if request.scope["query_string"] == LEFT else None
        return _login_page(desk, request, notice=notice)

    @post(LOGIN)
    async def enter(request: AnyRequest) -> Answer:
        try:
            fields = await form(request, token=visitor_token(request))
        except NotFromHere:
            # Open for days, or a browser that keeps no cookies: nothing is lost by trying again.
            return _login_page(desk, request, status=403, fault="stale")
        email, password = fields.get("email", "").strip(), fields.get("password", "")
        if not email or not password:
            return _login_page(desk, request, status=422, fault="missing", email=email)
        try:
            admission = await log_in(
                desk.ports,
                email=email,
                password=password,
                subject=desk.subject(request),
                policy=desk.policy,
            )
        except RateLimitExceeded as refusal:
            desk.metrics.count_login(LoginOutcome.THROTTLED)
            return _login_page(desk, request, status=429, fault="throttled", email=email, refusal=refusal)
        if admission is None:
            desk.metrics.count_login(LoginOutcome.REFUSED)
            return _login_page(desk, request, status=422, fault="wrong", email=email)
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

    return [show_root, show_login, enter]


def _login_page(
    desk: Desk,
    request: AnyRequest,
    *,
    status: int = 200,
    fault: str | None = None,
    notice: str | None = None,
    email: str = "",
    refusal: RateLimitExceeded | None = None,
) -> Answer:
    token = visitor_token(request)
    fresh = token or spell_token(desk.ports.entropy.take(TOKEN_BYTES))
    wait = 0 if refusal is None else refusal.retry_after
    return page(
        "login",
        asked_language(request),
        status=status,
        headers=(
            *(() if token else (set_cookie(VISITOR, fresh),)),
            *(() if refusal is None else ((b"retry-after", b"%d" % wait),)),
        ),
        form_token=form_token(fresh),
        fault=fault,
        notice=notice,
        email=email[:_LONGEST_SHOWN],
        minutes=-(-wait // 60),
    )


_LONGEST_SHOWN = 254
