"""Who is calling: the credential in the head, and the caller behind it.

Decides only what counts as one well-formed credential. Whether the key is known, and what it may do, is the core's.
"""

from __future__ import annotations

from awareness_core.api_keys import Caller
from awareness_core.errors import ApiKeyInvalid
from awareness_core.ports import Ports
from awareness_core.use_cases.check_access import check_access
from awareness_http.request_head import RequestHead


async def authenticate(ports: Ports, head: RequestHead) -> Caller:
    """The caller whose key the head carries. Raises `ApiKeyInvalid`, whatever is wrong with it."""
    return await check_access(ports, read_credential(head))


def read_credential(head: RequestHead) -> str:
    """The text of the key in `Authorization: Bearer` or `x-api-key` (reference 5.2). Raises `ApiKeyInvalid`.

    Choice (decisions/005): both headers may be sent when they agree; one of them twice is nobody's intention.
    """
    if b"authorization" in head.repeated or b"x-api-key" in head.repeated:
        raise ApiKeyInvalid
    bearer = bearer_token(head)
    plain = head.values.get(b"x-api-key")
    if plain is None:
        return bearer if bearer is not None else _refuse()
    if bearer is None and b"authorization" in head.values:
        raise ApiKeyInvalid
    key = _ascii(plain)
    if bearer is not None and bearer != key:
        raise ApiKeyInvalid
    return key


def bearer_token(head: RequestHead) -> str | None:
    """The token of the only `Authorization` header, or None when its scheme is not Bearer (RFC 6750 §2.1)."""
    value = head.one(b"authorization")
    if value is None:
        return None
    scheme, _, token = value.partition(b" ")
    return _ascii(token) if scheme.lower() == b"bearer" else None


def _ascii(value: bytes) -> str:
    try:
        return value.strip().decode("ascii")
    except UnicodeDecodeError:
        raise ApiKeyInvalid from None


def _refuse() -> str:
    raise ApiKeyInvalid
