"""`awareness company sso`: the identity provider that a company's people log in with. No secret is stored or shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from awareness_core.identity_providers import IdentityProvider
from awareness_core.tenants import Company
from awareness_core.use_cases.identity_providers import remove_identity_provider, set_identity_provider
from awareness_server.cli.invocation import current_settings, find_company, open_ports
from awareness_server.cli.output import AsJson, JsonValue, moment, say, shown_moment, write_json, write_table
from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.wiring import return_address

app = App(name="sso", help="Connect a company's identity provider.")


@app.command(name="set")
async def set_(
    *,
    company: str,
    issuer: str,
    client_id: str,
    client_secret_file: Path,
    no_check: Annotated[bool, Parameter(negative=())] = False,
    as_json: AsJson = False,
) -> None:
    """Let people of a company's SSO domains log in with its identity provider (OpenID Connect).

    Takes the place of an earlier one; who came in through another issuer, or as another client, is logged out. The
    provider is asked to describe itself first.

    Parameters
    ----------
    company
        The company's id or name.
    issuer
        The provider's issuer, spelt as the provider spells it, like https://login.example.com/tenant.
    client_id
        The id that the provider gave this service.
    client_secret_file
        The file that holds the client's secret and nothing else. The server reads it again at each login.
    no_check
        Believe what is typed, without asking the provider or reading the file.
    as_json
        Print JSON instead of text.
    """
    address = return_address(current_settings())
    if address is None:
        raise CommandFailed(
            "people are sent back to the portal at public_url: set public_url, and portal to true, first",
            ExitCode.BAD_SETTINGS,
        )
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        provider = await set_identity_provider(
            ports,
            owner.id,
            issuer=issuer,
            client_id=client_id,
            client_secret_file=_absolute(client_secret_file),
            is_checked=not no_check,
        )
    _show(owner, provider, address, as_json=as_json)
    say(f"The provider must send people back to {address}, and to no other address.")
    if not owner.sso_domains:
        say(f"'{owner.name}' has no SSO domain yet: awareness company set {owner.id} --sso-domain DOMAIN")


@app.command
async def show(*, company: str, as_json: AsJson = False) -> None:
    """Show the identity provider of a company; never the client's secret.

    Parameters
    ----------
    company
        The company's id or name.
    as_json
        Print JSON instead of a table.
    """
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        provider = await ports.identity_providers.find_provider(owner.id)
    if provider is None:
        raise CommandFailed(f"'{owner.name}' has no identity provider: awareness company sso set --help")
    _show(owner, provider, return_address(current_settings()), as_json=as_json)


@app.command
async def remove(*, company: str, as_json: AsJson = False) -> None:
    """Disconnect the identity provider of a company. Who came in through it is logged out.

    Parameters
    ----------
    company
        The company's id or name.
    as_json
        Print JSON instead of text.
    """
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        removed = await remove_identity_provider(ports, owner.id)
    if as_json:
        write_json({"company_id": owner.id, "removed": removed})
    else:
        had = f"Removed that of '{owner.name}'." if removed else f"'{owner.name}' has no identity provider."
        say(had)


def _absolute(path: Path) -> str:
    # The server, which reads it too, runs somewhere else.
    return str(path.expanduser().absolute())


def _show(company: Company, provider: IdentityProvider, address: str | None, *, as_json: bool) -> None:
    if as_json:
        write_json(_as_json(provider, address))
        return
    columns = ("COMPANY", "ISSUER", "CLIENT ID", "SECRET FILE", "SSO DOMAINS", "RETURN ADDRESS", "SINCE")
    row = (
        company.name,
        provider.issuer,
        provider.client_id,
        provider.client_secret_file,
        " ".join(sorted(company.sso_domains)),
        address or "",
        shown_moment(provider.created_at),
    )
    write_table(columns, [row])


def _as_json(provider: IdentityProvider, address: str | None) -> dict[str, JsonValue]:
    return {
        "company_id": provider.company_id,
        "issuer": provider.issuer,
        "client_id": provider.client_id,
        "client_secret_file": provider.client_secret_file,
        "return_address": address,
        "created_at": moment(provider.created_at),
    }
