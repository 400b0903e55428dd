"""What a route is handed with each request: the outside world, who is calling, and the query, all checked already.

Kept in the ASGI scope, because Litestar's injection costs more than all of it.
"""

from __future__ import annotations

from typing import Final, cast

import attrs
from litestar.types import Scope

from awareness_core.api_keys import Caller
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId
from awareness_http.typed_reader import Taken

_KEY: Final = "awareness_call"


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
    cast("dict[str, object]", scope)[_KEY] = call


def call_of(scope: Scope) -> Call:
    """The call that this route is to answer."""
    return cast("Call", cast("dict[str, object]", scope)[_KEY])
