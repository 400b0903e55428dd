"""Which of the two applications a request is for: the portal's pages, or the API and all the rest.

Each is complete in itself: what is not a page of the portal is answered by the API, as it would be without a portal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

    from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send


@attrs.frozen(kw_only=True)
class FrontDoor:
    """An ASGI application in front of two. The API's lifespan is that of both: the portal has nothing of its own."""

    api: ASGIApp
    portal: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        await (self.portal if _is_for_portal(scope) else self.api)(scope, receive, send)


def whose_failures(trusted_proxies: Iterable[str]) -> Callable[[HTTPScope], str]:
    """Whom failed logins are counted for: as the API counts failed authentications, proxies looked through."""
    from awareness_http.addresses import client_address, counted_as, parse_networks

    proxies = parse_networks(trusted_proxies)

    def subject(scope: HTTPScope) -> str:
        client = scope.get("client")
        forwarded = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        peer = "unknown" if client is None else client[0]
        return counted_as(client_address(peer, forwarded, proxies=proxies))

    return subject


def _is_for_portal(scope: Scope) -> bool:
    from awareness_web import is_portal_path

    if cast("str", scope["type"]) != "http":
        return False
    request = cast("HTTPScope", scope)
    return is_portal_path(request.get("raw_path") or request["path"].encode("utf-8", "surrogatepass"))
