"""A new company, from what an operator typed."""

from __future__ import annotations

from collections.abc import Iterable

from awareness_core.emails import InvalidDomain, parse_domain
from awareness_core.errors import Conflict, ConstraintViolated, Fault, ValidationFailed
from awareness_core.identifiers import UUID7_ENTROPY_BYTES, uuid7
from awareness_core.ports import Ports
from awareness_core.tenants import MAX_COMPANY_NAME, Company, CompanyId, Language
from awareness_core.texts import normal_text, text_problem


async def create_company(
    ports: Ports, *, name: str, language: Language = Language.FRENCH, sso_domains: Iterable[str] = ()
) -> Company:
    """Store and return a company of that name.

    Raises `ValidationFailed` for a blank or overlong name or a domain that is none, `Conflict` for a name in use.
    """
    faults = []
    normal_name = normal_text(name)
    problem = text_problem(normal_name, min_length=1, max_length=MAX_COMPANY_NAME)
    if problem is not None:
        faults.append(Fault(field="name", code=problem.code, message=problem.message))
    domains = set()
    for domain in sso_domains:
        try:
            domains.add(parse_domain(domain))
        except InvalidDomain as error:
            faults.append(Fault(field="sso_domain", code="invalid_domain", message=f"'{domain}': {error}"))
    if faults:
        raise ValidationFailed(faults)
    now = ports.clock.now()
    company = Company(
        id=CompanyId(uuid7(at=now, entropy=ports.entropy.take(UUID7_ENTROPY_BYTES))),
        name=normal_name,
        language=language,
        sso_domains=frozenset(domains),
        created_at=now,
    )
    try:
        await ports.companies.add_company(company)
    except ConstraintViolated as error:
        raise Conflict(f"A company named '{normal_name}' exists already; choose another name.") from error
    return company
