"""A new company, or another state of one, from what an operator typed."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from awareness_core.colors import InvalidColor, parse_color
from awareness_core.emails import InvalidDomain, parse_domain
from awareness_core.errors import Conflict, ConstraintViolated, Fault, ValidationFailed
from awareness_core.identifiers import UUID7_ENTROPY_BYTES, uuid7
from awareness_core.ports import Ports
from awareness_core.tenants import MAX_COMPANY_NAME, Company, CompanyId, Language
from awareness_core.texts import normal_text, text_problem


async def create_company(
    ports: Ports,
    *,
    name: str,
    language: Language = Language.FRENCH,
    sso_domains: Iterable[str] = (),
    color: str | None = None,
) -> Company:
    """Store and return a company of that name.

    Raises `ValidationFailed` for a blank or overlong name, a domain or a colour that is none, `Conflict` for a name in
    use.
    """
    typed = _Typed()
    now = ports.clock.now()
    company = Company(
        id=CompanyId(uuid7(at=now, entropy=ports.entropy.take(UUID7_ENTROPY_BYTES))),
        name=typed.name(name),
        language=language,
        sso_domains=typed.domains(sso_domains),
        color=None if color is None else typed.color(color),
        created_at=now,
    )
    typed.check()
    try:
        await ports.companies.add_company(company)
    except ConstraintViolated as error:
        raise _name_in_use(company) from error
    return company


async def change_company(
    ports: Ports,
    company: Company,
    *,
    name: str | None = None,
    language: Language | None = None,
    sso_domains: Iterable[str] | None = None,
    color: str | None = None,
) -> Company:
    """Store and return `company` with what is given; a blank colour takes it away.

    Raises `ValidationFailed` and `Conflict` as `create_company` does, `NotFound` when it does not exist any more.
    """
    typed = _Typed()
    changed = attrs.evolve(
        company,
        name=company.name if name is None else typed.name(name),
        language=language or company.language,
        sso_domains=company.sso_domains if sso_domains is None else typed.domains(sso_domains),
        color=company.color if color is None else typed.color(color) if color.strip() else None,
    )
    typed.check()
    try:
        await ports.companies.change_company(changed)
    except ConstraintViolated as error:
        raise _name_in_use(changed) from error
    return changed


class _Typed:
    """Reads what was typed, and remembers every fault."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def name(self, text: str) -> str:
        normal = normal_text(text)
        problem = text_problem(normal, min_length=1, max_length=MAX_COMPANY_NAME)
        if problem is not None:
            self._faults.append(Fault(field="name", code=problem.code, message=problem.message))
        return normal

    def domains(self, texts: Iterable[str]) -> frozenset[str]:
        domains = set()
        for text in texts:
            try:
                domains.add(parse_domain(text))
            except InvalidDomain as error:
                message = f"'{text}': {error}"
                self._faults.append(Fault(field="sso_domain", code="invalid_domain", message=message))
        return frozenset(domains)

    def color(self, text: str) -> str | None:
        try:
            return parse_color(text)
        except InvalidColor as error:
            message = f"'{text}': {error}"
            self._faults.append(Fault(field="color", code="invalid_color", message=message))
            return None

    def check(self) -> None:
        if self._faults:
            raise ValidationFailed(self._faults)


def _name_in_use(company: Company) -> Conflict:
    return Conflict(f"A company named '{company.name}' exists already; choose another name.")
