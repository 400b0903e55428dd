"""What a route knows of one request: who it is, in which language they are spoken to, what their forms carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
from litestar import Request
from litestar.types import HTTPScope

from awareness_core.ports import PortalPorts
from awareness_core.quota import QuotaPolicy
from awareness_core.sessions import SessionPolicy
from awareness_core.tenants import Language
from awareness_core.use_cases.visit import Visit, find_visit
from awareness_web.cookies import SESSION, VISITOR, read_cookie
from awareness_web.forms import Fields, read_form
from awareness_web.head import Head, head_of
from awareness_web.languages import preferred_language
from awareness_web.metrics import PortalMetrics

SubjectOf = Callable[[HTTPScope], str]
"""Whom failed logins of a request are counted for."""

AnyRequest = Request[Any, Any, Any]


@attrs.frozen(kw_only=True)
class Desk:
    """What all routes share: the outside world, when sessions end, who is behind a request, and what is counted.

    `failures` is how often logins may fail for one `subject`.

    `return_address` is where identity providers send people back; None where we do not know our own address.
    """

    ports: PortalPorts
    policy: SessionPolicy
    failures: QuotaPolicy
    subject_of: SubjectOf
    metrics: PortalMetrics
    return_address: str | None

    async def visit(self, request: AnyRequest) -> Visit | None:
        """Who is logged in."""
        token = session_token(request)
        return None if token is None else await find_visit(self.ports, token, policy=self.policy)

    def subject(self, request: AnyRequest) -> str:
        """Whom failures are counted for."""
        return self.subject_of(request.scope)


def head(request: AnyRequest) -> Head:
    """The headers."""
    return head_of(request.scope["headers"])


def session_token(request: AnyRequest) -> str | None:
    """The token that the browser says it has."""
    return read_cookie(request.scope["headers"], SESSION)


def visitor_token(request: AnyRequest) -> str | None:
    """What the browser's login form is tied to."""
    return read_cookie(request.scope["headers"], VISITOR)


def asked_language(request: AnyRequest) -> Language:
    """For somebody who is not known yet."""
    return language_of(head(request))


def language_of(sent: Head) -> Language:
    """The same of a head."""
    header = sent.one(b"accept-language")
    return preferred_language(None if header is None else header.decode("latin-1"))


async def form(request: AnyRequest, *, token: str | None) -> Fields:
    """The form that was sent; see `forms.read_form`."""
    return await read_form(head(request), request.receive, token=token)
