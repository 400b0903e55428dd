"""Companies and their API keys as rows, and back: what belongs to no company's own transaction.

As `rows` does with all that is a company's own business.
"""

from __future__ import annotations

import functools
from datetime import timedelta

from awareness_core.api_keys import ApiKey, Scope
from awareness_core.tenants import Company, Language
from awareness_core.texts import folded_name
from awareness_sql.rows import (
    Row,
    RowValues,
    milliseconds_from,
    moment_from,
    optional_milliseconds,
    optional_moment,
)
from awareness_sql.tables import api_keys, companies

_MILLISECOND = timedelta(milliseconds=1)

COMPANY_COLUMNS = (
    companies.c.id,
    companies.c.name,
    companies.c.language,
    companies.c.sso_domains,
    companies.c.invitation_lifetime,
    companies.c.created_at,
    companies.c.color,
)


def company_row(company: Company) -> RowValues:
    """All columns of `companies`. Domains are A-labels, which hold no blanks, so blanks separate them."""
    return {
        "id": company.id,
        "name": company.name,
        "name_key": folded_name(company.name),
        "language": company.language.value,
        "sso_domains": " ".join(sorted(company.sso_domains)),
        "invitation_lifetime": company.invitation_lifetime // _MILLISECOND,
        "created_at": milliseconds_from(company.created_at),
        "color": company.color,
    }


def company_from_row(row: Row) -> Company:
    """The value of a row of `COMPANY_COLUMNS`."""
    company_id, name, language, sso_domains, invitation_lifetime, created_at, color = row
    return Company(
        id=company_id,
        name=name,
        language=Language(language),
        sso_domains=frozenset(sso_domains.split()),
        invitation_lifetime=timedelta(milliseconds=invitation_lifetime),
        created_at=moment_from(created_at),
        color=color,
    )


API_KEY_COLUMNS = (
    api_keys.c.id,
    api_keys.c.company_id,
    api_keys.c.public_id,
    api_keys.c.secret_digest,
    api_keys.c.name,
    api_keys.c.scopes,
    api_keys.c.created_at,
    api_keys.c.expires_at,
    api_keys.c.revoked_at,
    api_keys.c.last_used_at,
)


def api_key_row(key: ApiKey) -> RowValues:
    """All columns of `api_keys`, the company's too: keys belong to no tenant's transaction.

    Scopes are separated by blanks, as in RFC 6749 §3.3.
    """
    return {
        "id": key.id,
        "company_id": key.company_id,
        "public_id": key.public_id,
        "secret_digest": key.secret_digest,
        "name": key.name,
        "scopes": " ".join(sorted(scope.value for scope in key.scopes)),
        "created_at": milliseconds_from(key.created_at),
        "expires_at": optional_milliseconds(key.expires_at),
        "revoked_at": optional_milliseconds(key.revoked_at),
        "last_used_at": optional_milliseconds(key.last_used_at),
    }


def api_key_from_row(row: Row) -> ApiKey:
    """The value of a row of `API_KEY_COLUMNS`."""
    key_id, company_id, public_id, digest, name, scopes, created_at, expires_at, revoked_at, last_used_at = (
        row
    )
    return ApiKey(
        id=key_id,
        company_id=company_id,
        public_id=public_id,
        secret_digest=digest,
        name=name,
        scopes=_scopes(scopes),
        created_at=moment_from(created_at),
        expires_at=optional_moment(expires_at),
        revoked_at=optional_moment(revoked_at),
        last_used_at=optional_moment(last_used_at),
    )


# Callers come back with the same few combinations, and the look-up of a key is the hottest read of all.
@functools.lru_cache(maxsize=1024)
def _scopes(text: str) -> frozenset[Scope]:
    return frozenset(map(Scope, text.split()))
