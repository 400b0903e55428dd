"""A new API key, whose text exists only in the answer."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import attrs

from awareness_core.api_keys import (
    MAX_KEY_NAME,
    PUBLIC_ID_ENTROPY_BYTES,
    SECRET_BYTES,
    ApiKey,
    ApiKeyId,
    Scope,
    digest_secret,
    mint_key,
    public_id_from,
    spell_key,
)
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.identifiers import UUID7_ENTROPY_BYTES, uuid7
from awareness_core.ports import Ports
from awareness_core.tenants import CompanyId
from awareness_core.texts import normal_text, text_problem


@attrs.frozen(kw_only=True)
class IssuedKey:
    """What is stored of the key, and its text: to be shown once and kept nowhere."""

    key: ApiKey
    text: str = attrs.field(repr=False)


async def issue_api_key(
    ports: Ports,
    company_id: CompanyId,
    *,
    name: str,
    scopes: Collection[Scope],
    expires_at: datetime | None = None,
) -> IssuedKey:
    """Make and store a key for that company.

    Raises `ValidationFailed` for a blank or overlong name, no scope, or an expiry in the past; `NotFound` for an
    unknown company.
    """
    now = ports.clock.now()
    normal_name = normal_text(name)
    faults = []
    problem = text_problem(normal_name, min_length=1, max_length=MAX_KEY_NAME)
    if problem is not None:
        faults.append(Fault(field="name", code=problem.code, message=problem.message))
    if not scopes:
        known = ", ".join(scope.value for scope in Scope)
        faults.append(Fault(field="scope", code="missing", message=f"name at least one of: {known}"))
    if expires_at is not None and expires_at <= now:
        faults.append(Fault(field="expires", code="in_the_past", message="must lie in the future"))
    if faults:
        raise ValidationFailed(faults)
    minted = mint_key(
        public_id=public_id_from(ports.entropy.take(PUBLIC_ID_ENTROPY_BYTES)),
        secret=ports.entropy.take(SECRET_BYTES),
    )
    key = ApiKey(
        id=ApiKeyId(uuid7(at=now, entropy=ports.entropy.take(UUID7_ENTROPY_BYTES))),
        company_id=company_id,
        public_id=minted.public_id,
        secret_digest=digest_secret(minted.secret),
        name=normal_name,
        scopes=frozenset(scopes),
        created_at=now,
        expires_at=expires_at,
    )
    await ports.api_keys.add_api_key(key)
    return IssuedKey(key=key, text=spell_key(minted))
