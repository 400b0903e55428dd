"""A company's identity provider, as an operator wants it: who came in through another one is out at once."""

from __future__ import annotations

from awareness_core.errors import Fault, ProviderUnavailable, ValidationFailed
from awareness_core.identity_providers import (
    IdentityProvider,
    check_identity_provider,
    vouches_for_sessions_of,
)
from awareness_core.ports import PortalPorts
from awareness_core.tenants import CompanyId

_AWAY = frozenset({"unreachable", "slow"})


async def set_identity_provider(
    ports: PortalPorts,
    company_id: CompanyId,
    *,
    issuer: str,
    client_id: str,
    client_secret_file: str,
    is_checked: bool = True,
) -> IdentityProvider:
    """Make it the company's provider, in the place of an earlier one, after asking it how it describes itself.

    Sessions that began at another issuer, or as another client, end with it.
    Without `is_checked` it is believed as it was typed. Raises `ValidationFailed` for what cannot be, or is not
    answered as it must be; `ProviderUnavailable` for one that does not answer; `NotFound` for an unknown company.
    """
    normal_issuer, normal_client = check_identity_provider(
        issuer=issuer, client_id=client_id, client_secret_file=client_secret_file
    )
    provider = IdentityProvider(
        company_id=company_id,
        issuer=normal_issuer,
        client_id=normal_client,
        client_secret_file=client_secret_file,
        created_at=ports.clock.now(),
    )
    if is_checked:
        try:
            await ports.single_sign_on.check(provider)
        except ProviderUnavailable as error:
            if error.reason in _AWAY:
                raise
            field = "client_secret_file" if error.reason == "secret" else "issuer"
            raise ValidationFailed([Fault(field=field, code=error.reason, message=error.message)]) from None
    async with ports.store.transaction(company_id) as transaction:
        before = await transaction.identity_provider()
        await transaction.save_identity_provider(provider)
        if not vouches_for_sessions_of(provider, before):
            await transaction.end_sso_sessions()
    return provider


async def remove_identity_provider(ports: PortalPorts, company_id: CompanyId) -> bool:
    """Forget the company's provider, and end every session that began there. False when there was none.

    Raises `NotFound` for an unknown company.
    """
    async with ports.store.transaction(company_id) as transaction:
        before = await transaction.identity_provider()
        await transaction.forget_identity_provider()
        await transaction.end_sso_sessions()
    return before is not None
