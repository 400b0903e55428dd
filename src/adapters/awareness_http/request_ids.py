"""The id that ties an answer to its lines in the log: the caller's own when it is fit for a log, else a new one.

Choice: decisions/004. An id is no secret and proves nothing.
"""

from __future__ import annotations

import re
from secrets import token_hex

_VALID = re.compile(rb"[A-Za-z0-9._-]{1,128}")
_NEW_ID_BYTES = 16


def choose_request_id(sent: bytes | None) -> str:
    """`sent` if it is 1..128 of `[A-Za-z0-9._-]`, else 32 new hexadecimal digits."""
    if sent is not None and _VALID.fullmatch(sent):
        return sent.decode("ascii")
    return token_hex(_NEW_ID_BYTES)
