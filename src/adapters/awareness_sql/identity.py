"""Identity providers in a database: an operator's business, like sources, in transactions that are no tenant's."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from awareness_core.identity_providers import IdentityProvider
from awareness_core.tenants import CompanyId
from awareness_sql.engine import NO_PARAMETERS, Database
from awareness_sql.portal_rows import PROVIDER_COLUMNS, provider_from_row
from awareness_sql.rows import Row
from awareness_sql.storable import is_storable
from awareness_sql.tables import companies, identity_providers

_ONE = select(*PROVIDER_COLUMNS).where(identity_providers.c.company_id == bindparam("company_id"))
_ANY = select(identity_providers.c.company_id).limit(1)
# As many rows as companies have providers; whose domain it is, is decided here.
_ALL = (
    select(companies.c.sso_domains, *PROVIDER_COLUMNS)
    .join_from(identity_providers, companies, identity_providers.c.company_id == companies.c.id)
    .order_by(identity_providers.c.company_id)
)


class SqlIdentityProviders:
    """`IdentityProviders` in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_provider(self, company_id: CompanyId) -> IdentityProvider | None:
        """See `IdentityProviders`."""
        if not is_storable(company_id):
            return None
        async with self._database.reading(None) as connection:
            for provider in await connection.fetch(_ONE, {"company_id": company_id}, provider_from_row):
                return provider
        return None

    async def providers_of_domain(self, domain: str) -> Sequence[IdentityProvider]:
        """See `IdentityProviders`."""
        async with self._database.reading(None) as connection:
            rows = await connection.fetch(_ALL, NO_PARAMETERS, _with_domains)
        return [provider for domains, provider in rows if domain in domains]

    async def is_any_provider(self) -> bool:
        """See `IdentityProviders`."""
        async with self._database.reading(None) as connection:
            return bool(await connection.fetch(_ANY, NO_PARAMETERS, tuple))


def _with_domains(row: Row) -> tuple[frozenset[str], IdentityProvider]:
    domains, *rest = row
    return frozenset(domains.split()), provider_from_row(tuple(rest))
