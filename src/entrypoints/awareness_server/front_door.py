"""Which of the two applications a request is for: the portal's pages, or the API and all the rest.

Each is complete in itself: what is not a page of the portal is answered by the API, as it would be without a portal.
Only somebody who mistyped the address of a page, in a browser, reads the portal's word that there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, cast

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

    from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

_OF_THE_API: Final = (b"/api", b"/docs", b"/health", b"/metrics", b"/openapi.json")
_LONGEST_ACCEPT: Final = 1000


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
    path = request.get("raw_path") or request["path"].encode("utf-8", "surrogatepass")
    return is_portal_path(path) or (not path.startswith(_OF_THE_API) and _is_for_a_page(request))


def _is_for_a_page(scope: HTTPScope) -> bool:
    """Whether a browser wants to show what is there, as when an address was typed into it."""
    from awareness_http.accepting import preferred

    accept = b",".join(value for name, value in scope["headers"] if name == b"accept")
    if scope["method"] not in {"GET", "HEAD"} or len(accept) > _LONGEST_ACCEPT:
        return False
    html = "text/html"
    return preferred([accept.decode("latin-1")], ["application/json", html]) == html
