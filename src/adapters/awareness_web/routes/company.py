"""The way in through a company's identity provider: the page that asks for an address, the way there, and the way back.

The way there is a page of its own, since browsers that follow a form elsewhere are stopped by our own policy
(`form-action`). It sends them on at once, by the header `Refresh`, and has a link for those that do not go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import structlog
from litestar import get, post
from litestar.handlers import HTTPRouteHandler

from awareness_core.errors import ProviderUnavailable, RateLimitExceeded, SignInUnproven
from awareness_core.identity_providers import IdentityProvider, SignInRefusal
from awareness_core.sign_ins import ERRAND as ERRAND_LIFETIME
from awareness_core.sign_ins import Ticket, is_own_ticket, read_ticket, spell_ticket
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.sign_in import arrive, find_provider_for, set_out
from awareness_core.use_cases.visit import log_out
from awareness_web.answers import Answer, go_to
from awareness_web.cookies import ERRAND, SESSION, VISITOR, drop_cookie, read_cookie, set_cookie
from awareness_web.metrics import LoginOutcome
from awareness_web.pages import page
from awareness_web.paths import COMPANY_LOGIN, HOME, LOGIN, RETURN
from awareness_web.refusals import ErrandOver, NotAdmitted, NotConfirmed, NotFromHere, ProviderAway, Refused
from awareness_web.visiting import AnyRequest, Desk, asked_language, form, session_token, visitor_token
from awareness_web.waiting import waiting_room

_MAX_FIELDS: Final = 10
_LONGEST_SHOWN: Final = 254
# RFC 6749 §4.1.2.1 and OpenID Connect Core §3.1.2.6; what else a query says of itself is anybody's.
_TOLD: Final = frozenset(
    {
        "access_denied",
        "invalid_request",
        "invalid_scope",
        "server_error",
        "temporarily_unavailable",
        "unauthorized_client",
        "unsupported_response_type",
        "interaction_required",
        "login_required",
        "consent_required",
    }
)

_log = structlog.get_logger("awareness_web")


def company_routes(desk: Desk) -> list[HTTPRouteHandler]:
    """`/login/company`, and `/login/oidc`, where providers send people back."""

    @get(COMPANY_LOGIN)
    async def show(request: AnyRequest) -> Answer:
        if await desk.visit(request) is not None:
            return go_to(HOME)
        if not await offers_company_login(desk):
            return go_to(LOGIN)
        return _page(desk, request)

    @post(COMPANY_LOGIN)
    async def leave(request: AnyRequest) -> Answer:
        try:
            fields = await form(request, token=visitor_token(request))
        except NotFromHere:
            return await _beside_a_stale_form(desk, request)
        email = fields.get("email", "").strip()
        if not email:
            return _page(desk, request, status=422, fault="missing")
        provider = await provider_for(desk, email)
        if provider is None:
            return _page(desk, request, status=422, fault="elsewhere", email=email)
        try:
            return await leave_for(desk, request, provider, email=email)
        except RateLimitExceeded as refusal:
            desk.metrics.count_login(LoginOutcome.THROTTLED)
            return _page(desk, request, status=429, fault="throttled", email=email, refusal=refusal)

    @get(RETURN)
    async def come_back(request: AnyRequest) -> Answer:
        return await _come_back(desk, request)

    return [show, leave, come_back]


async def offers_company_login(desk: Desk) -> bool:
    """Whether there is anybody who can log in so."""
    return desk.return_address is not None and await desk.ports.identity_providers.is_any_provider()


async def provider_for(desk: Desk, email: str) -> IdentityProvider | None:
    """Where somebody with that address logs in, if they do so through a provider."""
    return None if desk.return_address is None else await find_provider_for(desk.ports, email)


async def leave_for(desk: Desk, request: AnyRequest, provider: IdentityProvider, *, email: str) -> Answer:
    """The page that sends the browser to that provider. Raises `RateLimitExceeded`, `ProviderAway`."""
    try:
        departure = await set_out(
            desk.ports,
            provider,
            email=email,
            redirect_uri=desk.return_address or "",
            subject=desk.subject(request),
            failures=desk.failures,
        )
    except ProviderUnavailable as error:
        raise _away(desk, error, provider.company_id) from error
    return page(
        "leaving",
        asked_language(request),
        headers=(
            set_cookie(ERRAND, spell_ticket(departure.ticket), lifetime=ERRAND_LIFETIME),
            (b"refresh", b"0; url=" + departure.address.encode("ascii")),
        ),
        address=departure.address,
        host=urlsplit(departure.address).netloc,
    )


async def _beside_a_stale_form(desk: Desk, request: AnyRequest) -> Answer:
    """The way in for whoever has logged in from another tab meanwhile, else the form anew."""
    if await desk.visit(request) is not None:
        return go_to(HOME)
    return _page(desk, request, status=403, fault="stale")


async def _come_back(desk: Desk, request: AnyRequest) -> Answer:
    told = _query(request)
    ticket = read_ticket(read_cookie(request.scope["headers"], ERRAND) or "")
    if desk.return_address is None or ticket is None:
        raise _refused(desk, ErrandOver(), "no_ticket")
    if not is_own_ticket(ticket, told.get("state", ""), now=desk.ports.clock.now()):
        raise _refused(desk, ErrandOver(), "state", ticket)
    if "code" not in told:
        error = told.get("error", "")
        raise _refused(desk, NotAdmitted(), error if error in _TOLD else "no_code", ticket)
    try:
        outcome = await arrive(
            desk.ports,
            ticket,
            code=told["code"],
            issuer=told.get("iss"),
            redirect_uri=desk.return_address,
            subject=desk.subject(request),
            policy=desk.policy,
            failures=desk.failures,
        )
    except ProviderUnavailable as error:
        raise _away(desk, error, ticket.company_id) from error
    except RateLimitExceeded:
        desk.metrics.count_login(LoginOutcome.THROTTLED)
        raise
    if isinstance(outcome, SignInRefusal):
        raise _refused(desk, NotAdmitted(), outcome.value, ticket)
    desk.metrics.count_login(LoginOutcome.COMPANY_ACCOUNT)
    earlier = session_token(request)
    if earlier is not None:
        await log_out(desk.ports, earlier)
    return go_to(
        HOME, headers=(set_cookie(SESSION, outcome.token), drop_cookie(ERRAND), drop_cookie(VISITOR))
    )


def _query(request: AnyRequest) -> Mapping[str, str]:
    """What the provider sent along; of each name one."""
    try:
        pairs = parse_qsl(
            request.scope["query_string"].decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:
        raise Refused from None
    told = dict(pairs)
    if len(told) != len(pairs):
        raise Refused
    return told


def _refused(desk: Desk, refusal: Refused, reason: str, ticket: Ticket | None = None) -> Refused:
    desk.metrics.count_login(LoginOutcome.COMPANY_REFUSED)
    _log.info("sso_refused", reason=reason, company_id=None if ticket is None else ticket.company_id)
    return refusal


def _away(desk: Desk, error: ProviderUnavailable, company_id: CompanyId) -> Refused:
    desk.metrics.count_login(LoginOutcome.COMPANY_FAILED)
    _log.warning("sso_failed", reason=error.reason, company_id=company_id, error=error.message)
    return NotConfirmed() if isinstance(error, SignInUnproven) else ProviderAway()


def _page(
    desk: Desk,
    request: AnyRequest,
    *,
    status: int = 200,
    fault: str | None = None,
    email: str = "",
    refusal: RateLimitExceeded | None = None,
) -> Answer:
    room = waiting_room(desk, request, refusal)
    return page(
        "company",
        asked_language(request),
        status=status,
        headers=room.headers,
        form_token=room.form_token,
        minutes=room.minutes,
        fault=fault,
        email=email[:_LONGEST_SHOWN],
    )
