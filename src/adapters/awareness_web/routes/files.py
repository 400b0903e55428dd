"""The style sheet and the icon, from the package, and a company's colour as a style sheet."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from litestar import get
from litestar.handlers import HTTPRouteHandler

from awareness_core.colors import InvalidColor, parse_color, readable_on
from awareness_web.answers import Answer
from awareness_web.paths import COMPANY_SHEET, STATIC
from awareness_web.refusals import NothingHere
from awareness_web.visiting import AnyRequest

_FILES: Final[Mapping[str, bytes]] = {
    "portal.css": b"text/css; charset=utf-8",
    "icon.svg": b"image/svg+xml",
}
# Not private to anybody, and asked for with every page.
_KEPT: Final = ((b"cache-control", b"public, max-age=3600"),)


def file_routes() -> list[HTTPRouteHandler]:
    """One path a file, so that no other name leads anywhere."""

    @get([f"{STATIC}/{name}" for name in _FILES], sync_to_thread=False)
    def show_file(request: AnyRequest) -> Answer:
        name = str(request.scope["path"]).rpartition("/")[2]
        return Answer(_read(name), content_type=_FILES[name], headers=_KEPT)

    @get(COMPANY_SHEET, sync_to_thread=False)
    def show_color(request: AnyRequest) -> Answer:
        # The colour is in the address, so that no cache has to know whose it is.
        query: bytes = request.scope["query_string"]
        try:
            color = parse_color(query.decode("latin-1"))
        except InvalidColor:
            raise NothingHere from None
        sheet = f":root {{ --company: {color}; --on-company: {readable_on(color)}; }}\n"
        return Answer(sheet.encode(), content_type=_FILES["portal.css"], headers=_KEPT)

    return [show_file, show_color]


@cache
def _read(name: str) -> bytes:
    return files("awareness_web").joinpath("static", name).read_bytes()
