"""`awareness company`: the companies that this installation serves. An operator's business; no API key is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from cyclopts import App, Parameter

from awareness_core.tenants import Company, Language
from awareness_core.use_cases.companies import change_company, create_company
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import AsJson, JsonValue, moment, say, shown_moment, write_json, write_table
from awareness_server.exit_codes import CommandFailed, ExitCode

app = App(name="company", help="Create, change and list companies.")
app.command("awareness_server.cli.company_sso:app", name="sso", help="Connect a company's identity provider.")


@app.command
async def create(
    name: str,
    /,
    *,
    language: Literal["fr", "en"] = "fr",
    sso_domain: Annotated[list[str] | None, Parameter(negative=())] = None,
    color: str | None = None,
    as_json: AsJson = False,
) -> None:
    """Create a company.

    Parameters
    ----------
    name
        Its name, unlike any other company's.
    language
        The language its people are written to in.
    sso_domain
        An e-mail domain whose people log in through the company's own identity provider; repeat it for more.
    color
        The colour that its people know it by, like #1a5a9c. Mails and the portal show it.
    as_json
        Print JSON instead of text.
    """
    async with open_ports() as ports:
        company = await create_company(
            ports, name=name, language=Language(language), sso_domains=sso_domain or (), color=color
        )
    if as_json:
        write_json(_as_json(company))
        return
    write_table(("ID", "NAME"), [(company.id, company.name)])
    say(
        f"Next, a key for it: awareness keys create --company {company.id} --name NAME --scope write:employees"
    )


@app.command(name="set")
async def set_(
    company: str,
    /,
    *,
    name: str | None = None,
    language: Literal["fr", "en"] | None = None,
    sso_domain: Annotated[list[str] | None, Parameter(negative=())] = None,
    no_sso: Annotated[bool, Parameter(negative=())] = False,
    color: str | None = None,
    as_json: AsJson = False,
) -> None:
    """Change a company. What is not named stays.

    Parameters
    ----------
    company
        Its id or name.
    name
        Another name.
    language
        The language its people are written to in.
    sso_domain
        An e-mail domain whose people log in through the company's own identity provider; repeat it for more. Takes the
        place of all there were.
    no_sso
        No such domain any more.
    color
        The colour that its people know it by, like #1a5a9c; "" takes it away.
    as_json
        Print JSON instead of text.
    """
    if no_sso and sso_domain:
        raise CommandFailed("--no-sso and --sso-domain exclude each other", ExitCode.USAGE)
    domains = () if no_sso else sso_domain
    if (name, language, domains, color) == (None, None, None, None):
        raise CommandFailed("there is nothing to change; --help shows what can be", ExitCode.USAGE)
    async with open_ports() as ports:
        changed = await change_company(
            ports,
            await find_company(ports, company),
            name=name,
            language=None if language is None else Language(language),
            sso_domains=domains,
            color=color,
        )
    if as_json:
        write_json(_as_json(changed))
    else:
        _write([changed])


@app.command(name="list")
async def list_(*, as_json: AsJson = False) -> None:
    """List all companies, by name.

    Parameters
    ----------
    as_json
        Print JSON instead of a table.
    """
    async with open_ports() as ports:
        companies = await ports.companies.list_companies()
    if as_json:
        write_json({"data": [_as_json(company) for company in companies]})
        return
    _write(companies)
    if not companies:
        say("There is no company yet: awareness company create NAME")


def _write(companies: Sequence[Company]) -> None:
    rows = [
        (
            company.id,
            company.name,
            company.language.value,
            " ".join(sorted(company.sso_domains)),
            company.color or "",
            shown_moment(company.created_at),
        )
        for company in companies
    ]
    write_table(("ID", "NAME", "LANGUAGE", "SSO DOMAINS", "COLOR", "CREATED"), rows)


def _as_json(company: Company) -> JsonValue:
    return {
        "id": company.id,
        "name": company.name,
        "language": company.language.value,
        "sso_domains": sorted(company.sso_domains),
        "color": company.color,
        "created_at": moment(company.created_at),
    }
