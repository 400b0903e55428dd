"""What makes two requests the same: the header that says so, and the bytes that show whether it is true.

Compared is what was sent, byte for byte, not what it means: the same fields in another order are another body. Knows no
store; what follows from sameness is `awareness_core.receipts`' to say (Choice: decisions/021).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from litestar.types import Receive, ReceiveMessage

from awareness_core.errors import Fault, ValidationFailed
from awareness_core.receipts import ReceiptId
from awareness_http.bodies import Media
from awareness_http.request_head import RequestHead

IDEMPOTENCY_KEY: Final = "Idempotency-Key"
MAX_KEY_LENGTH: Final = 255
KEY_PATTERN: Final = "^[!-~]([ -~]*[!-~])?$"
"""Printable ASCII. Blanks around it are the header's, not the key's."""

_HEADER: Final = IDEMPOTENCY_KEY.lower().encode()
_KEY: Final = re.compile(KEY_PATTERN.encode())
_DIGEST_BYTES: Final = 32


def read_idempotency_key(head: RequestHead) -> bytes | None:
    """The caller's name for this request, or None. Raises `ValidationFailed`; blanks around it do not count."""
    sent = head.values.get(_HEADER)
    if sent is None:
        return None
    if _HEADER in head.repeated:
        raise _invalid("is sent more than once")
    key = sent.strip(b" \t")
    if len(key) > MAX_KEY_LENGTH or _KEY.fullmatch(key) is None:
        raise _invalid(f"must be 1 to {MAX_KEY_LENGTH} printable ASCII characters")
    return key


def receipt_id_of(key: bytes, method: str, path: bytes) -> ReceiptId:
    """Of what that key names in one company: it may be used again for another method or path."""
    # Neither a method nor a path has a blank.
    named = b"%s %s %s" % (method.encode("ascii"), path, key)
    return ReceiptId(hashlib.blake2b(named, digest_size=_DIGEST_BYTES).hexdigest())


class FingerprintedBody:
    """The `receive` channel of a request, which keeps a digest of what passes: of the query and the media type, too.

    Memory does not grow with the body. `media` is what the path takes; how else the type was spelt does not count.
    """

    def __init__(self, receive: Receive, head: RequestHead, query: bytes, *, media: Sequence[Media]) -> None:
        self._receive = receive
        sent = head.one(b"content-type") or b""
        kind = next((taken.name for taken in media if taken.is_named_by(sent)), "")
        # No query has a blank either, so nothing can move from one part to the next.
        self._digest = hashlib.blake2b(b"%s %s " % (query, kind.encode()), digest_size=_DIGEST_BYTES)
        self._is_complete = False

    async def __call__(self) -> ReceiveMessage:
        """The next part of the body."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._digest.update(message.get("body", b""))
            self._is_complete = not message.get("more_body", False)
        return message

    async def fingerprint(self, guarded: Receive) -> bytes:
        """The digest of all of it. What the route has left unread is read now, through the guard in front of this."""
        while not self._is_complete:
            await guarded()
        return self._digest.digest()


def _invalid(message: str) -> ValidationFailed:
    return ValidationFailed([Fault(field=IDEMPOTENCY_KEY, code="invalid_header", message=message)])
