"""Cutting a sorted list into numbered pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import attrs

Item = TypeVar("Item", covariant=True)

DEFAULT_LIMIT = 50
MAX_LIMIT = 100
MAX_PAGE = 1_000_000_000
"""Keeps every offset within 64 bits, which is what databases count in."""


@attrs.frozen(kw_only=True)
class PageRequest:
    """Page `page` (from 1) of `limit` items each (1..100)."""

    page: int = attrs.field(default=1, validator=[attrs.validators.ge(1), attrs.validators.le(MAX_PAGE)])
    limit: int = attrs.field(
        default=DEFAULT_LIMIT, validator=[attrs.validators.ge(1), attrs.validators.le(MAX_LIMIT)]
    )

    @property
    def offset(self) -> int:
        """How many items come before this page."""
        return (self.page - 1) * self.limit


@attrs.frozen(kw_only=True)
class Page(Generic[Item]):
    """The items of one page, and how many there are on all pages. Past the end `items` is empty."""

    items: Sequence[Item]
    total: int
    request: PageRequest

    @property
    def total_pages(self) -> int:
        """How many pages hold items; 0 when there are none."""
        return -(-self.total // self.request.limit)

    @property
    def has_more(self) -> bool:
        """Whether a later page holds items."""
        return self.request.page < self.total_pages
