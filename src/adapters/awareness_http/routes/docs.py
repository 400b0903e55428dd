"""The API's description, for programs and for people: `/openapi.json`, and Swagger UI at `/docs`, all from the package.

The page loads nothing from elsewhere and may not: its policy allows this server alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from litestar import Litestar, get
from litestar.params import FromPath
from litestar.types import Scope

from awareness_core.errors import NotFound
from awareness_http.answers import Answer
from awareness_http.errors import HeaderPairs
from awareness_http.openapi import describe

_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_PAGE_HEADERS: Final[HeaderPairs] = (
    (b"content-security-policy", _POLICY),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
)
_FILES: Final[Mapping[str, bytes]] = {
    "docs.css": b"text/css; charset=utf-8",
    "docs.js": b"text/javascript; charset=utf-8",
    "favicon.svg": b"image/svg+xml",
    "swagger-ui-bundle.js": b"text/javascript; charset=utf-8",
    "swagger-ui.css": b"text/css; charset=utf-8",
}


@get("/openapi.json", include_in_schema=False, sync_to_thread=False)
def openapi(scope: Scope) -> Answer:
    """The description for programs, made for the first who reads it."""
    return Answer(_document(scope["litestar_app"]), headers=((b"cache-control", b"no-cache"),))


@get("/docs", include_in_schema=False, sync_to_thread=False)
def docs_page() -> Answer:
    """The description for people."""
    return Answer(_read("docs.html"), content_type=b"text/html; charset=utf-8", headers=_PAGE_HEADERS)


@get("/docs/{name:str}", include_in_schema=False, sync_to_thread=False)
def docs_file(name: FromPath[str]) -> Answer:
    """What the page loads."""
    if name not in _FILES:
        raise NotFound("There is nothing at this path.")
    return Answer(_read(name), content_type=_FILES[name], headers=_PAGE_HEADERS)


@cache
def _document(app: Litestar) -> bytes:
    return describe(app)


@cache
def _read(name: str) -> bytes:
    return files("awareness_http").joinpath("static", name).read_bytes()
