"""Whether people can log in with their companies' accounts: each provider is asked to describe itself."""

from __future__ import annotations

from awareness_core.errors import AwarenessError, ProviderUnavailable
from awareness_core.ports import PortalPorts
from awareness_core.tenants import Company
from awareness_server.exit_codes import CommandFailed
from awareness_server.findings import Finding, State, ok
from awareness_server.settings import Settings
from awareness_server.wiring import opened_ports, return_address


async def examine_sign_on(settings: Settings) -> list[Finding]:
    """Nothing where no company has a provider. Takes seconds for each that hangs."""
    try:
        async with opened_ports(settings) as ports:
            if not await ports.identity_providers.is_any_provider():
                return []
            if return_address(settings) is None:
                return [_unreachable()]
            found = [await _examine(ports, company) for company in await ports.companies.list_companies()]
    except (AwarenessError, CommandFailed):
        # The look at the database has told.
        return []
    return [finding for finding in found if finding is not None]


async def _examine(ports: PortalPorts, company: Company) -> Finding | None:
    provider = await ports.identity_providers.find_provider(company.id)
    if provider is None:
        return None
    if not company.sso_domains:
        return _warned(
            f"'{company.name}' has no SSO domain, so nobody is sent to {provider.issuer}",
            f"awareness company set {company.id} --sso-domain DOMAIN",
        )
    try:
        await ports.single_sign_on.check(provider)
    except ProviderUnavailable as error:
        return _warned(
            f"'{company.name}': {error.message}", "until then the people of its SSO domains cannot log in"
        )
    return ok("sso", f"'{company.name}': {provider.issuer} describes itself as it must")


def _unreachable() -> Finding:
    remedy = "set public_url, and portal to true"
    return _warned("companies have identity providers, and nobody can come back from there", remedy)


def _warned(detail: str, remedy: str) -> Finding:
    return Finding(name="sso", state=State.WARN, detail=detail, remedy=remedy)
