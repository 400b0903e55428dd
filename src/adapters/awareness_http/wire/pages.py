"""The pagination object of every listing (reference 2.6), and the parameters that ask for a page."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import attrs
from msgspec import Meta

from awareness_core.pages import MAX_LIMIT, MAX_PAGE, Page

PageNumber: TypeAlias = Annotated[
    int, Meta(ge=1, le=MAX_PAGE, description="Which page, from 1. A page past the end is empty, no error.")
]
PageSize: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="How many on a page.")]


@attrs.frozen(kw_only=True, slots=False)
class Pagination:
    """Where in the whole list a page stands."""

    page: int
    limit: int
    total: Annotated[int, Meta(description="On all pages.")]
    total_pages: Annotated[int, Meta(description="0 when there is nothing.")]
    has_more: Annotated[bool, Meta(description="Whether there is a page after this one.")]


def spell_pagination(page: Page[object]) -> Pagination:
    """Where `page` stands."""
    return Pagination(
        page=page.request.page,
        limit=page.request.limit,
        total=page.total,
        total_pages=page.total_pages,
        has_more=page.has_more,
    )
