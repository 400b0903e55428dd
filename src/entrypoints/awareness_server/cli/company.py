"""`awareness company`: the companies that this installation serves. An operator's business; no API key is asked for."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import App, Parameter

from awareness_core.tenants import Company, Language
from awareness_core.use_cases.create_company import create_company
from awareness_server.cli.invocation import open_ports
from awareness_server.cli.output import AsJson, JsonValue, moment, say, shown_moment, write_json, write_table

app = App(name="company", help="Create and list companies.")


@app.command
async def create(
    name: str,
    /,
    *,
    language: Literal["fr", "en"] = "fr",
    sso_domain: Annotated[list[str] | None, Parameter(negative=())] = None,
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
    as_json
        Print JSON instead of text.
    """
    async with open_ports() as ports:
        company = await create_company(
            ports, name=name, language=Language(language), sso_domains=sso_domain or ()
        )
    if as_json:
        write_json(_as_json(company))
        return
    write_table(("ID", "NAME"), [(company.id, company.name)])
    say(
        f"Next, a key for it: awareness keys create --company {company.id} --name NAME --scope write:employees"
    )


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
    rows = [
        (
            company.id,
            company.name,
            company.language.value,
            " ".join(sorted(company.sso_domains)),
            shown_moment(company.created_at),
        )
        for company in companies
    ]
    write_table(("ID", "NAME", "LANGUAGE", "SSO DOMAINS", "CREATED"), rows)
    if not companies:
        say("There is no company yet: awareness company create NAME")


def _as_json(company: Company) -> JsonValue:
    return {
        "id": company.id,
        "name": company.name,
        "language": company.language.value,
        "sso_domains": sorted(company.sso_domains),
        "created_at": moment(company.created_at),
    }
