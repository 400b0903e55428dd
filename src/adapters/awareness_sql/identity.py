"""Identity providers in a database: an operator's business, like sources, in transactions that are no tenant's."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, insert, select

from awareness_core.errors import NotFound
from awareness_core.identity_providers import IdentityProvider
from awareness_core.tenants import CompanyId
from awareness_sql.engine import NO_PARAMETERS, Database
from awareness_sql.rows import Row, RowValues, milliseconds_from, moment_from
from awareness_sql.storable import is_storable
from awareness_sql.tables import companies, identity_providers

_COLUMNS = (
    identity_providers.c.company_id,
    identity_providers.c.issuer,
    identity_providers.c.client_id,
    identity_providers.c.client_secret_file,
    identity_providers.c.created_at,
)
_COMPANY = select(companies.c.id).where(companies.c.id == bindparam("company_id"))
_THIS = identity_providers.c.company_id == bindparam("company_id")
_ONE = select(*_COLUMNS).where(_THIS)
_NEW = insert(identity_providers)
_GONE = delete(identity_providers).where(_THIS)
_ANY = select(identity_providers.c.company_id).limit(1)
# As many rows as companies have providers; whose domain it is, is decided here.
_ALL = (
    select(companies.c.sso_domains, *_COLUMNS)
    .join_from(identity_providers, companies, identity_providers.c.company_id == companies.c.id)
    .order_by(identity_providers.c.company_id)
)


class SqlIdentityProviders:
    """`IdentityProviders` in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save_provider(self, provider: IdentityProvider) -> None:
        """See `IdentityProviders`."""
        async with self._database.writing(None) as connection:
            owner = {"company_id": provider.company_id}
            if not await connection.fetch(_COMPANY, owner, tuple):
                raise NotFound("No such company.")
            await connection.run(_GONE, owner)
            await connection.run(_NEW, _row(provider))

    async def find_provider(self, company_id: CompanyId) -> IdentityProvider | None:
        """See `IdentityProviders`."""
        if not is_storable(company_id):
            return None
        async with self._database.reading(None) as connection:
            for provider in await connection.fetch(_ONE, {"company_id": company_id}, _from_row):
                return provider
        return None

    async def remove_provider(self, company_id: CompanyId) -> bool:
        """See `IdentityProviders`."""
        async with self._database.writing(None) as connection:
            return bool(await connection.run(_GONE, {"company_id": company_id}))

    async def providers_of_domain(self, domain: str) -> Sequence[IdentityProvider]:
        """See `IdentityProviders`."""
        async with self._database.reading(None) as connection:
            rows = await connection.fetch(_ALL, NO_PARAMETERS, _with_domains)
        return [provider for domains, provider in rows if domain in domains]

    async def is_any_provider(self) -> bool:
        """See `IdentityProviders`."""
        async with self._database.reading(None) as connection:
            return bool(await connection.fetch(_ANY, NO_PARAMETERS, tuple))


def _row(provider: IdentityProvider) -> RowValues:
    return {
        "company_id": provider.company_id,
        "issuer": provider.issuer,
        "client_id": provider.client_id,
        "client_secret_file": provider.client_secret_file,
        "created_at": milliseconds_from(provider.created_at),
    }


def _from_row(row: Row) -> IdentityProvider:
    company_id, issuer, client_id, client_secret_file, created_at = row
    return IdentityProvider(
        company_id=company_id,
        issuer=issuer,
        client_id=client_id,
        client_secret_file=client_secret_file,
        created_at=moment_from(created_at),
    )


def _with_domains(row: Row) -> tuple[frozenset[str], IdentityProvider]:
    domains, *rest = row
    return frozenset(domains.split()), _from_row(tuple(rest))
