"""The access check (reference 2.7)."""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import Annotated

import attrs
from msgspec import Meta

from awareness_core.api_keys import Caller, Scope


@attrs.frozen(kw_only=True, slots=False)
class AccessCheck:
    """What `GET /ping` answers."""

    ok: Annotated[bool, Meta(description="Always true: a key that does not work is answered with 401.")]
    entreprise_id: Annotated[str, Meta(description="The company that the key belongs to.")]
    scopes: Annotated[list[Scope], Meta(description="What the key may do, sorted.")]
    api_key_id: Annotated[str, Meta(description="The key itself, by its identifier; no secret.")]


def spell_access(caller: Caller) -> AccessCheck:
    """The answer to a caller whose key is good."""
    return AccessCheck(
        ok=True,
        entreprise_id=caller.company_id,
        scopes=_sorted(caller.scopes),
        api_key_id=caller.api_key_id,
    )


@lru_cache(maxsize=1024)
def _sorted(scopes: frozenset[Scope]) -> list[Scope]:
    return sorted(scopes, key=attrgetter("value"))
