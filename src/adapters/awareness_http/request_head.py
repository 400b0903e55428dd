"""What the service wants to know of a request before its body: read in one pass over the headers, then never again.

Decides which heads no route ever sees, because they are too large or do not say which host they mean. Knows nothing of
keys or companies; what a header proves is `auth`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from awareness_core.errors import AwarenessError, Fault, ValidationFailed
from awareness_http.errors import HeadersTooLarge, UrlTooLong

MAX_HEADER_BYTES: Final = 32 * 1024
"""Names and values together (Choice: decisions/004)."""

MAX_URL_BYTES: Final = 8 * 1024
"""Path and query together."""

_WANTED = frozenset(
    {
        b"authorization",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"origin",
        b"transfer-encoding",
        b"x-api-key",
        b"x-forwarded-for",
        b"x-request-id",
    }
)


@attrs.frozen
class RequestHead:
    """The wanted headers: name in lower case to value. Of a repeated one `repeated` has all values, in order."""

    values: dict[bytes, bytes]
    repeated: dict[bytes, list[bytes]]
    size: int

    def one(self, name: bytes) -> bytes | None:
        """The only value of that header; None when it is absent or repeated."""
        return None if name in self.repeated else self.values.get(name)

    def all(self, name: bytes) -> list[bytes]:
        """Every value of that header, in the order sent."""
        if name in self.repeated:
            return self.repeated[name]
        return [self.values[name]] if name in self.values else []


def read_head(headers: Iterable[tuple[bytes, bytes]]) -> RequestHead:
    """The head made of ASGI's headers, whose names are in lower case. Total: it refuses nothing."""
    values: dict[bytes, bytes] = {}
    repeated: dict[bytes, list[bytes]] = {}
    size = 0
    for name, value in headers:
        size += len(name) + len(value)
        if name in _WANTED:
            if name in values:
                repeated.setdefault(name, [values[name]]).append(value)
            else:
                values[name] = value
    return RequestHead(values, repeated, size)


def head_refusal(head: RequestHead, *, http_version: str, url_bytes: int) -> AwarenessError | None:
    """Why no route may see this request, or None. RFC 9112 §3.2 on `Host`; the sizes are Choice (decisions/004)."""
    if url_bytes > MAX_URL_BYTES:
        return UrlTooLong(MAX_URL_BYTES)
    if head.size > MAX_HEADER_BYTES:
        return HeadersTooLarge(MAX_HEADER_BYTES)
    if b"host" in head.repeated:
        return _host_fault("must be sent once")
    # HTTP/1.0 knows no such header. Servers show a missing one as an empty one.
    if not head.values.get(b"host") and http_version not in {"1.0", "1"}:
        return _host_fault("must name the host; HTTP/1.1 requires it")
    return None


def _host_fault(message: str) -> ValidationFailed:
    return ValidationFailed([Fault(field="Host", code="invalid_header", message=message)])
