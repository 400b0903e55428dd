"""Which paths exist, exactly, and which methods each takes.

Litestar reads `/api//v1/ping/` as `/api/v1/ping` and answers an unknown method or path before any middleware has run,
so the table is asked first and Litestar only ever sees what it will route. A path with a percent sign in it leads
nowhere: no path of this service needs one, and `%2F` and `%00` are only ever tried to be read in two ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs
from litestar.routes import HTTPRoute

from awareness_core.api_keys import Scope
from awareness_core.errors import NotFound
from awareness_http.bodies import SMALL_JSON, Media
from awareness_http.errors import MethodNotAllowed

NO_ROUTE: Final = "(none)"
"""The template under which requests for unknown paths are counted."""

_NOTHING: Final = "There is nothing at this path."

OPERATION: Final = "operation"
"""The key in a Litestar handler's `opt` under which its `Operation` stands."""


@attrs.frozen(kw_only=True)
class Nothing:
    """No field and no parameter at all."""


_EXACT = re.compile(rb"(?:/[A-Za-z0-9._~!$&'()*+,;=:@-]+)+")
_PARAMETER = re.compile(r"\{[^}]+\}")


@attrs.frozen(kw_only=True)
class Operation:
    """What a method of a path asks of a request before any of its body is read."""

    scope: Scope | None = None
    query: type = Nothing
    media: Sequence[Media] = SMALL_JSON
    is_signed: bool = False
    """Whether it proves by a signature of its body, not by a key, who sends it."""


@attrs.frozen(kw_only=True)
class Route:
    """One path. `template` is as in the OpenAPI; `allow` is the value of the `Allow` header."""

    template: str
    operations: Mapping[str, Operation]
    allow: str

    def is_signed(self, method: str) -> bool:
        """Whether that method needs no key."""
        found = self.operations.get(method)
        return found is not None and found.is_signed

    def operation(self, method: str) -> Operation:
        """What that method asks for. Raises `MethodNotAllowed`, or `NotFound` where there is nothing."""
        if self is NOWHERE:
            raise NotFound(_NOTHING)
        found = self.operations.get(method)
        if found is None:
            raise MethodNotAllowed(self.allow)
        return found


NOWHERE: Final = Route(template=NO_ROUTE, operations={}, allow="")
"""The route of a path that there is not."""


class PathTable:
    """The paths of one application."""

    def __init__(self, routes: Iterable[HTTPRoute]) -> None:
        self._fixed: dict[str, Route] = {}
        self._patterns: list[tuple[re.Pattern[str], Route]] = []
        for found in routes:
            route = _route(found)
            if _PARAMETER.search(route.template):
                self._patterns.append((_pattern(route.template), route))
            else:
                self._fixed[route.template] = route

    def find(self, raw_path: bytes) -> Route:
        """The route of a path as it was sent, undecoded. Raises `NotFound`."""
        route = self.look(raw_path)
        if route is NOWHERE:
            raise NotFound(_NOTHING)
        return route

    def look(self, raw_path: bytes) -> Route:
        """The route of that path, or `NOWHERE`."""
        if _EXACT.fullmatch(raw_path):
            path = raw_path.decode("ascii")
            fixed = self._fixed.get(path)
            if fixed is not None:
                return fixed
            for pattern, route in self._patterns:
                if pattern.fullmatch(path):
                    return route
        return NOWHERE


def _route(found: HTTPRoute) -> Route:
    operations = {
        str(method): handler.opt.get(OPERATION, Operation())
        for method, (handler, _) in found.route_handler_map.items()
        if method != "OPTIONS"
    }
    if "GET" in operations:
        operations["HEAD"] = operations["GET"]
    return Route(
        template=found.path_format, operations=operations, allow=", ".join(sorted({*operations, "OPTIONS"}))
    )


def _pattern(template: str) -> re.Pattern[str]:
    fixed = _PARAMETER.split(template)
    return re.compile("[^/]+".join(re.escape(part) for part in fixed))
