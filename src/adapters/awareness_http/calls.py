"""What a route is handed with each request: the outside world, who is calling, and the query, all checked already.

Routes hold nothing themselves, so that those of one process serve all its applications. Kept in the ASGI scope, because
Litestar's injection costs more than all of it.
"""

from __future__ import annotations

from typing import Final, cast

import attrs
from litestar.types import Scope

from awareness_core.api_keys import Caller
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId
from awareness_http.metrics import Metrics
from awareness_http.typed_reader import Taken

_CALL: Final = "awareness_call"
_SURROUNDINGS: Final = "awareness_surroundings"


@attrs.frozen
class Call:
    """One authenticated, charged and authorised request. `query` holds the parameters that the route declares."""

    ports: Ports
    caller: Caller
    query: Taken

    @property
    def company_id(self) -> CompanyId:
        """The company whose data the route may touch: the key's own, never one that a request names."""
        return self.caller.company_id


def put_call(scope: Scope, call: Call) -> None:
    """Hand `call` to the route."""
    cast("dict[str, object]", scope)[_CALL] = call


def call_of(scope: Scope) -> Call:
    """The call that this route is to answer."""
    return cast("Call", cast("dict[str, object]", scope)[_CALL])


@attrs.frozen(kw_only=True)
class Surroundings:
    """What one application is made of, for the routes that need no key. `metrics_token` guards the figures."""

    ports: Ports
    metrics: Metrics
    metrics_token: str | None


def put_surroundings(scope: Scope, surroundings: Surroundings) -> None:
    """Hand `surroundings` to the route."""
    cast("dict[str, object]", scope)[_SURROUNDINGS] = surroundings


def surroundings_of(scope: Scope) -> Surroundings:
    """Where this route, which needs no key, is to look."""
    return cast("Surroundings", cast("dict[str, object]", scope)[_SURROUNDINGS])
