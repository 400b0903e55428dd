"""The style sheet and the icon, from the package."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from litestar import get
from litestar.handlers import HTTPRouteHandler

from awareness_web.answers import Answer
from awareness_web.paths import STATIC
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

    return [show_file]


@cache
def _read(name: str) -> bytes:
    return files("awareness_web").joinpath("static", name).read_bytes()
