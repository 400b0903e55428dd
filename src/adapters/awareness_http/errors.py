"""How a refusal looks on HTTP: one table from the core's classes to statuses, and the one error body.

Refusals that only HTTP knows (a method, a media type, a size) are defined here as well. Nothing here decides that
something is refused, and nothing of an unexpected error but its status leaves the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType

import msgspec
from litestar.exceptions import HTTPException

from awareness_core.errors import (
    ApiKeyInvalid,
    AwarenessError,
    Conflict,
    ConstraintViolated,
    Fault,
    HasherBusy,
    IdempotencyKeyReused,
    InsufficientScope,
    MassDeactivationBlocked,
    NotFound,
    ProviderUnavailable,
    RateLimitExceeded,
    SignatureInvalid,
    SignInUnproven,
    SourceUnavailable,
    StillRunning,
    StoreUnavailable,
    ValidationFailed,
)

RETRY_WHEN_UNAVAILABLE = 5
"""Seconds: what `Retry-After` says beside 503."""

HeaderPairs = tuple[tuple[bytes, bytes], ...]
"""Header names in lower case with their values, as ASGI wants them."""


class HttpRefusal(AwarenessError):
    """A refusal that only makes sense on HTTP."""


class MethodNotAllowed(HttpRefusal):
    """The path exists, but not for this method. `allowed` is the value of the `Allow` header."""

    code = "METHOD_NOT_ALLOWED"

    def __init__(self, allowed: str) -> None:
        self.allowed = allowed
        super().__init__(f"This path does not take that method; it takes {allowed}.")


class PayloadTooLarge(HttpRefusal):
    """The body is larger than what the path takes."""

    code = "PAYLOAD_TOO_LARGE"

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is larger than {limit} bytes, which is the most that this path takes.")


class UnsupportedMediaType(HttpRefusal):
    """The body is not what its headers would have to say."""

    code = "UNSUPPORTED_MEDIA_TYPE"


class BodyTimeout(HttpRefusal):
    """The caller began a body and then sent nothing for too long."""

    code = "REQUEST_TIMEOUT"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Nothing of the body arrived for {seconds:g} seconds. Send the request again.")


class HeadersTooLarge(HttpRefusal):
    """The headers together are larger than anything the API reads."""

    code = "REQUEST_HEADER_FIELDS_TOO_LARGE"

    def __init__(self, limit: int) -> None:
        super().__init__(f"The headers are larger than {limit} bytes together.")


class UrlTooLong(HttpRefusal):
    """The path and the query together are longer than anything the API reads."""

    code = "URI_TOO_LONG"

    def __init__(self, limit: int) -> None:
        super().__init__(f"The path and the query are longer than {limit} bytes together.")


class BodyBrokenOff(ValidationFailed):
    """The body ended before its end, or was not framed as HTTP wants it. Mostly nobody is left to read this."""

    def __init__(self) -> None:
        super().__init__([Fault(field="", code="broken_off", message="the body broke off before its end")])


class Unexpected(AwarenessError):
    """Whatever nobody thought of. It says nothing; the log says all, under the request's id."""

    def __init__(self) -> None:
        super().__init__("Something went wrong on our side. The log has it under this answer's X-Request-Id.")


STATUSES: Mapping[type[AwarenessError], int] = MappingProxyType(
    {
        ValidationFailed: 400,
        BodyBrokenOff: 400,
        ApiKeyInvalid: 401,
        SignatureInvalid: 401,
        InsufficientScope: 403,
        NotFound: 404,
        MethodNotAllowed: 405,
        BodyTimeout: 408,
        Conflict: 409,
        ConstraintViolated: 409,
        StillRunning: 409,
        MassDeactivationBlocked: 409,
        PayloadTooLarge: 413,
        UrlTooLong: 414,
        UnsupportedMediaType: 415,
        IdempotencyKeyReused: 422,
        RateLimitExceeded: 429,
        HeadersTooLarge: 431,
        Unexpected: 500,
        StoreUnavailable: 503,
        HasherBusy: 503,
        SourceUnavailable: 503,
        ProviderUnavailable: 503,
        SignInUnproven: 503,
    }
)
"""Every class that can reach a caller. One that is missing here is answered as `Unexpected`."""

_CLOSING = (BodyBrokenOff, BodyTimeout, PayloadTooLarge)
_HIDDEN: Mapping[type[AwarenessError], str] = MappingProxyType(
    {
        StoreUnavailable: "The service cannot reach its database at the moment. Try again in a few seconds.",
        ProviderUnavailable: "The company's identity provider cannot be used at the moment. Try again later.",
        SourceUnavailable: "The service cannot check the signature at the moment. Try again in a few seconds.",
    }
)
"""What these say of themselves is for the operator, who finds it in the log."""


def as_refusal(error: Exception) -> AwarenessError:
    """The refusal to answer with when `error` came out of a route, a store or the framework."""
    if isinstance(error, AwarenessError):
        return error if type(error) in STATUSES else Unexpected()
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.BAD_REQUEST:
        return ValidationFailed([Fault(field="", code="invalid_request", message=error.detail)])
    return Unexpected()


def status_of(refusal: AwarenessError) -> int:
    """The HTTP status of a refusal in `STATUSES`."""
    return STATUSES[type(refusal)]


def headers_of(refusal: AwarenessError) -> HeaderPairs:
    """What the answer must say beside its body."""
    match refusal:
        case ApiKeyInvalid():
            return ((b"www-authenticate", b"Bearer"),)
        case MethodNotAllowed():
            return ((b"allow", refusal.allowed.encode()),)
        case RateLimitExceeded() | StillRunning():
            return ((b"retry-after", b"%d" % refusal.retry_after),)
        case SignatureInvalid():
            # RFC 9110 wants a scheme named with every 401; no registered one is a signature of the body.
            return ((b"www-authenticate", b"HMAC"),)
        case StoreUnavailable() | HasherBusy() | SourceUnavailable():
            return ((b"retry-after", b"%d" % RETRY_WHEN_UNAVAILABLE),)
        case _:
            return ()


def ends_connection(refusal: AwarenessError) -> bool:
    """Whether a body was left unread that HTTP/1 would take for the next request."""
    return isinstance(refusal, _CLOSING)


def body_of(refusal: AwarenessError) -> bytes:
    """`{"message", "code"}` as JSON; with `details` when fields are at fault (Choice: decisions/004).

    `MASS_DEACTIVATION_BLOCKED` brings the number to confirm, and what the whole sync would have done.
    """
    message = next((text for kind, text in _HIDDEN.items() if isinstance(refusal, kind)), refusal.message)
    body: dict[str, object] = {"message": message, "code": refusal.code}
    if isinstance(refusal, ValidationFailed):
        body["details"] = [
            {"field": fault.field, "message": fault.message, "code": fault.code} for fault in refusal.faults
        ]
    if isinstance(refusal, MassDeactivationBlocked):
        body |= {"planned_deactivations": refusal.planned, "summary": refusal.summary}
    return msgspec.json.encode(body)
