"""The two listings as SQL: which filters become which conditions, in which order, how many there are.

Statements differ by which filters they have, so there are few of them; each is made and compiled once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import attrs
from sqlalchemy import ColumnElement, and_, bindparam, func, not_, select

from awareness_core.campaigns import CampaignQuery
from awareness_core.employees import Access, EmployeeState
from awareness_core.pages import Page, PageRequest
from awareness_core.ports import EmployeeQuery
from awareness_core.texts import folded_name
from awareness_sql.crossings import TENANT
from awareness_sql.engine import Statement, Value
from awareness_sql.one_of import OneOf
from awareness_sql.result_rows import CAMPAIGN_COLUMNS
from awareness_sql.rows import EMPLOYEE_COLUMNS, Row, RowValues, milliseconds_from
from awareness_sql.storable import is_storable
from awareness_sql.tables import campaigns, employees
from awareness_sql.tenancy import Tenant

SSO_DOMAINS = "sso_domains"
"""The parameter that an employee listing with an access filter takes: the company's domains, as a list."""

_LONGEST_FILTER = 4000
"""More than two names and an address have, folded and escaped; databases limit the length of a pattern."""


@attrs.frozen(kw_only=True)
class Listing:
    """A query for one page, with parameters `limit` and `offset`, and one for how many there are on all pages.

    When `tells_total`, that count is the last column of each row too, which spares a round trip.
    """

    items: Statement
    count: Statement
    tells_total: bool = False


async def page_of(
    tenant: Tenant,
    listing: Listing,
    read: Callable[[Row], Value],
    filters: RowValues,
    request: PageRequest,
) -> Page[Value]:
    """One page of the company's rows, each read by `read`."""
    window = {**filters, "limit": request.limit, "offset": request.offset}
    if listing.tells_total:
        told = await tenant.fetch(listing.items, lambda row: (read(row[:-1]), int(row[-1])), window)
        if told:
            return Page(items=[item for item, _ in told], total=told[0][1], request=request)
    items = [] if listing.tells_total else await tenant.fetch(listing.items, read, window)
    if len(items) < request.limit and (items or request.offset == 0):
        # The last page is its own count, which spares a search the reading of everything once more.
        return Page(items=items, total=request.offset + len(items), request=request)
    (total,) = await tenant.fetch(listing.count, count_from_row, filters)
    return Page(items=items, total=total, request=request)


def count_from_row(row: Row) -> int:
    """The only column."""
    return int(row[0])


def employee_filters(query: EmployeeQuery) -> RowValues:
    """The parameters of those conditions that narrow the query; `access` is none of them."""
    filters: RowValues = {
        "external_id": query.external_id,
        "email_key": query.email_key,
        "state": None if query.state is None else query.state.value,
        "sector_id": query.sector_id,
        "text": None if query.text is None else _containing(folded_name(query.text)),
    }
    return {name: value for name, value in filters.items() if value is not None}


def matches_nothing(filters: RowValues) -> bool:
    """Whether a filter asks for a text that could not have been stored."""
    texts = [value for value in filters.values() if isinstance(value, str)]
    return any(len(text) > _LONGEST_FILTER or not is_storable(text) for text in texts)


@functools.cache
def employee_listing(filters: frozenset[str], access: Access | None) -> Listing:
    """By id, with the conditions of these names."""
    conditions: Mapping[str, ColumnElement[bool]] = {
        "external_id": employees.c.external_id == bindparam("external_id"),
        "email_key": employees.c.email_key == bindparam("email_key"),
        "state": employees.c.state == bindparam("state"),
        "sector_id": employees.c.sector_id == bindparam("sector_id"),
        "text": employees.c.search_text.like(bindparam("text"), escape="\\"),
    }
    wanted = [conditions[name] for name in sorted(filters)]
    if access is not None:
        wanted.append(_has_access(access))
    return Listing(
        items=select(*EMPLOYEE_COLUMNS)
        .where(*wanted)
        .order_by(employees.c.id)
        .limit(bindparam("limit"))
        .offset(bindparam("offset")),
        count=select(func.count()).select_from(employees).where(*wanted),
    )


def campaign_filters(query: CampaignQuery) -> RowValues:
    """The parameters of the query's conditions."""
    filters: RowValues = {
        "start": milliseconds_from(query.period.start),
        "end": milliseconds_from(query.period.end),
    }
    if query.state is not None:
        filters["state"] = query.state.value
    return filters


@functools.cache
def campaign_listing(*, by_state: bool) -> Listing:
    """Those of a period, latest first; of one state, too, when asked."""
    wanted: list[ColumnElement[bool]] = [campaigns.c.listed_at.between(bindparam("start"), bindparam("end"))]
    if by_state:
        wanted.append(campaigns.c.state == bindparam("state"))
    # A query inside another is not bound to a company by itself.
    total = select(func.count()).select_from(campaigns).where(*wanted, campaigns.c.company_id == TENANT)
    return Listing(
        items=select(*CAMPAIGN_COLUMNS, total.correlate(None).scalar_subquery())
        .where(*wanted)
        .order_by(campaigns.c.listed_at.desc(), campaigns.c.id.desc())
        .limit(bindparam("limit"))
        .offset(bindparam("offset")),
        count=select(func.count()).select_from(campaigns).where(*wanted),
        tells_total=True,
    )


def _has_access(access: Access) -> ColumnElement[bool]:
    """`employees.access` as SQL: the same questions in the same order."""
    is_sso = OneOf(employees.c.email_domain, SSO_DOMAINS)
    is_inside = and_(employees.c.first_login_at.is_not(None), employees.c.has_password)
    match access:
        case Access.SSO:
            return is_sso
        case Access.LOGGED_IN:
            return and_(not_(is_sso), is_inside)
        case Access.AWAITING_ACCESS:
            return and_(not_(is_sso), not_(is_inside), employees.c.state == EmployeeState.ACTIVE.value)


def _containing(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
