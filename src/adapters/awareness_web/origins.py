"""Whether a form was sent by one of our own pages, as far as the browser says so (OWASP, CSRF prevention)."""

from __future__ import annotations

from urllib.parse import urlsplit

from awareness_web.head import Head
from awareness_web.paths import RETURN


def is_from_here(head: Head, *, public_origin: str | None) -> bool:
    """False for what a page elsewhere sent. A client that says nothing of it is told by the form's token alone.

    A proxy that ends TLS leaves the scheme unknown here, so hosts are compared; `public_origin` is ours, too.
    """
    site = head.one(b"sec-fetch-site")
    if site is not None and site != b"same-origin":
        return False
    sent = head.all(b"origin")
    if not sent:
        return True
    if len(sent) > 1:
        return False
    origin = sent[0].decode("latin-1").lower()
    host = head.one(b"host")
    if origin == public_origin:
        return True
    return host is not None and origin in {
        f"{scheme}://{host.decode('latin-1').lower()}" for scheme in ("https", "http")
    }


def return_address_at(public_url: str) -> str:
    """Where identity providers send people back, for a portal at that URL."""
    return origin_of(public_url) + RETURN


def origin_of(url: str) -> str:
    """The origin of a URL of ours."""
    parts = urlsplit(url.lower())
    return f"{parts.scheme}://{parts.netloc}"
