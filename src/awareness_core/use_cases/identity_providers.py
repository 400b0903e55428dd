"""A company's identity provider, from what an operator typed."""

from __future__ import annotations

from awareness_core.errors import Fault, ProviderUnavailable, ValidationFailed
from awareness_core.identity_providers import IdentityProvider, check_identity_provider
from awareness_core.ports import PortalPorts
from awareness_core.tenants import CompanyId


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

    Without `is_checked` it is believed as it was typed. Raises `ValidationFailed` for what cannot be, or is not
    answered as it must be; `NotFound` for an unknown company.
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
            field = "client_secret_file" if error.reason == "secret" else "issuer"
            raise ValidationFailed([Fault(field=field, code=error.reason, message=error.message)]) from None
    await ports.identity_providers.save_provider(provider)
    return provider
