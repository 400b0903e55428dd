"""Who opened, clicked or submitted, out of an event's `details`: an address and a user agent.

Beside them stands what somebody typed into a form. No field here has its name, so that the decoder passes over it and
no value can carry it on. Both are what any client may send, and no reason to lose the event.
"""

from __future__ import annotations

import functools
import ipaddress
import unicodedata
from typing import Final

import msgspec

from awareness_core.results_check import MAX_LENGTHS


class Browser(msgspec.Struct, frozen=True):
    """Either may be anything at all."""

    address: object = None
    user_agent: object = msgspec.field(default=None, name="user-agent")


class _Details(msgspec.Struct, frozen=True):
    browser: Browser | None = None


_decode: Final = msgspec.json.Decoder(_Details).decode
_REFUSED: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_LONGEST_ADDRESS: Final = 100
"""With a port, brackets and a zone; what is longer is none, and not to be remembered."""
_BIDI_CONTROLS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def read_browser(details: object) -> tuple[str | None, str | None]:
    """Address and user agent as they can be kept; None where there is none."""
    if not isinstance(details, str) or not details:
        return None, None
    try:
        browser = _decode(details).browser
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None, None
    if browser is None:
        return None, None
    agent = browser.user_agent if isinstance(browser.user_agent, str) else ""
    return _address(browser.address), plain(agent, MAX_LENGTHS["user_agent"]) or None


def plain(text: str, longest: int) -> str:
    """`text` without what no text may hold here, cut to `longest` code points."""
    if text.isascii() and text.isprintable():
        # As nearly every user agent is, of which a campaign tells thousands.
        return text[:longest].strip()
    kept = "".join(character for character in text[: 4 * longest] if _is_plain(character))
    return unicodedata.normalize("NFC", kept)[:longest].strip()


def _address(told: object) -> str | None:
    """An IP address out of what GoPhish took it from, a header of a proxy or a socket."""
    first = (told if isinstance(told, str) else "").partition(",")[0].strip()
    return _ip_address(first) if len(first) <= _LONGEST_ADDRESS else None


@functools.lru_cache(maxsize=4096)
def _ip_address(first: str) -> str | None:
    """Remembered, as the people of an office share one, and each of them acts more than once."""
    for candidate in (first, first.rpartition(":")[0].strip("[]"), first.strip("[]")):
        try:
            return str(ipaddress.ip_address(candidate))
        except ValueError:
            continue
    return None


def _is_plain(character: str) -> bool:
    return unicodedata.category(character) not in _REFUSED and character not in _BIDI_CONTROLS
