"""Pages cut a list into pieces that put together are the list."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.pages import MAX_PAGE, Page, PageRequest

LIMITS = st.integers(min_value=1, max_value=100)
ITEMS = st.lists(st.integers(), max_size=250)


def cut(items: list[int], request: PageRequest) -> Page[int]:
    """What a store answers."""
    return Page(
        items=items[request.offset : request.offset + request.limit], total=len(items), request=request
    )


@given(ITEMS, LIMITS)
def test_following_the_pages_while_there_are_more_reads_everything_once(items: list[int], limit: int) -> None:
    read: list[int] = []
    request = PageRequest(limit=limit)
    while True:
        page = cut(items, request)
        read.extend(page.items)
        if not page.has_more:
            break
        request = attrs.evolve(request, page=request.page + 1)

    assert items == read
    assert max(1, page.total_pages) == request.page


@given(ITEMS, LIMITS, st.integers(min_value=1, max_value=300))
def test_a_page_holds_items_exactly_when_it_is_one_of_the_total(
    items: list[int], limit: int, number: int
) -> None:
    page = cut(items, PageRequest(page=number, limit=limit))

    assert (number <= page.total_pages) == bool(page.items)
    assert (number < page.total_pages) == page.has_more


@pytest.mark.parametrize(("total", "pages"), [(0, 0), (1, 1), (49, 1), (50, 1), (51, 2), (100, 2), (101, 3)])
def test_the_last_page_may_be_part_full(total: int, pages: int) -> None:
    assert pages == Page[int](items=[], total=total, request=PageRequest()).total_pages


def test_a_request_asks_for_the_first_fifty_unless_told_otherwise() -> None:
    assert (1, 50, 0) == (PageRequest().page, PageRequest().limit, PageRequest().offset)


@pytest.mark.parametrize(("page", "limit"), [(1, 1), (1, 100), (MAX_PAGE, 100)])
def test_page_and_limit_at_their_ends_are_fine(page: int, limit: int) -> None:
    request = PageRequest(page=page, limit=limit)

    assert (page - 1) * limit == request.offset
    assert request.offset + request.limit < 2**63


@pytest.mark.parametrize(
    ("page", "limit"), [(0, 50), (-1, 50), (10**23, 50), (MAX_PAGE + 1, 50), (1, 0), (1, -1), (1, 101)]
)
def test_page_and_limit_beyond_their_ends_are_refused(page: int, limit: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        PageRequest(page=page, limit=limit)
