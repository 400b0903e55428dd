"""Companies in a database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, insert, select, update

from awareness_core.errors import NotFound
from awareness_core.outbox import MailBacklog
from awareness_core.tenants import Company, CompanyId
from awareness_core.texts import folded_name
from awareness_sql.access_rows import COMPANY_COLUMNS, company_from_row, company_row
from awareness_sql.engine import NO_PARAMETERS, Database
from awareness_sql.rows import Row, milliseconds_from, optional_moment
from awareness_sql.tables import companies, pending_invitations

_NEW = insert(companies)
_CHANGED = (
    update(companies)
    .where(companies.c.id == bindparam("company_id"))
    .values({column: bindparam(column.name) for column in companies.columns})
)
_ALL = select(*COMPANY_COLUMNS)
_OWING_MAIL = (
    select(pending_invitations.c.company_id).distinct().where(pending_invitations.c.due_at <= bindparam("at"))
)
_BACKLOG = select(func.count(), func.min(pending_invitations.c.due_at)).select_from(pending_invitations)


class SqlCompanies:
    """`Companies` in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_company(self, company: Company) -> None:
        """See `Companies`. Raises `ConstraintViolated` for an id that exists, too."""
        async with self._database.writing(None) as connection:
            await connection.run(_NEW, company_row(company))

    async def change_company(self, company: Company) -> None:
        """See `Companies`."""
        async with self._database.writing(None) as connection:
            if not await connection.run(_CHANGED, {**company_row(company), "company_id": company.id}):
                raise NotFound("No such company.")

    async def list_companies(self) -> Sequence[Company]:
        """See `Companies`. Names are ordered as they are compared, by `folded_name`."""
        async with self._database.reading(None) as connection:
            found = await connection.fetch(_ALL, NO_PARAMETERS, company_from_row)
        return sorted(found, key=lambda company: folded_name(company.name))

    async def companies_with_due_invitations(self, *, at: datetime) -> Sequence[CompanyId]:
        """See `Companies`."""
        async with self._database.reading(None) as connection:
            return await connection.fetch(_OWING_MAIL, {"at": milliseconds_from(at)}, _company_id_from_row)

    async def mail_backlog(self) -> MailBacklog:
        """See `Companies`."""
        async with self._database.reading(None) as connection:
            (backlog,) = await connection.fetch(_BACKLOG, NO_PARAMETERS, _backlog_from_row)
        return backlog


def _backlog_from_row(row: Row) -> MailBacklog:
    return MailBacklog(pending=row[0], first_due_at=optional_moment(row[1]))


def _company_id_from_row(row: Row) -> CompanyId:
    return CompanyId(row[0])
