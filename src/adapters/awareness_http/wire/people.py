"""Employees as callers read them (reference 2.1 for the names; Choice: decisions/004 for the rest), and the filters."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final

import attrs
from msgspec import UNSET, Meta, UnsetType

from awareness_core.emails import EmailKey, InvalidEmail, parse_email
from awareness_core.employees import Access, EmployeeState
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.pages import DEFAULT_LIMIT, Page, PageRequest
from awareness_core.periods import spell_moment
from awareness_core.ports import EmployeeQuery
from awareness_core.records import MAX_LENGTHS
from awareness_core.sectors import SectorId
from awareness_core.texts import folded_name, normal_text
from awareness_core.use_cases.read_employees import EmployeeView
from awareness_http.typed_reader import Taken
from awareness_http.wire.pages import PageNumber, PageSize, Pagination, spell_pagination

_MAX_SEARCH: Final = 200
_MAX_SECTOR_DIGITS: Final = 18


class Statut(enum.Enum):
    """Whether somebody is there."""

    ACTIF = "actif"
    ARCHIVE = "archive"


class Acces(enum.Enum):
    """How somebody gets in."""

    EN_ATTENTE = "en_attente"
    CONNECTE = "connecte"
    SSO = "sso"


STATES: Final[Mapping[Statut, EmployeeState]] = {
    Statut.ACTIF: EmployeeState.ACTIVE,
    Statut.ARCHIVE: EmployeeState.ARCHIVED,
}
ACCESSES: Final[Mapping[Acces, Access]] = {
    Acces.EN_ATTENTE: Access.AWAITING_ACCESS,
    Acces.CONNECTE: Access.LOGGED_IN,
    Acces.SSO: Access.SSO,
}
_STATUT_OF = {state: statut for statut, state in STATES.items()}
_ACCES_OF = {access: acces for acces, access in ACCESSES.items()}

_Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


@attrs.frozen(kw_only=True, slots=False)
class Secteur:
    """A part of the company."""

    id: str
    nom: str


@attrs.frozen(kw_only=True, slots=False)
class Employee:
    """One person."""

    id: str
    external_id: Annotated[str | None, Meta(description="The identifier in the caller's own system.")]
    email: str
    nom: Annotated[str, Meta(description="Last name.")]
    prenom: Annotated[str, Meta(description="First name.")]
    fonction: Annotated[str | None, Meta(description="Job title.")]
    telephone: str | None
    adresse: str | None
    secteur: Secteur | None
    statut: Statut
    acces: Annotated[Acces | None, Meta(description="null for somebody archived who has no way in.")]
    derniere_invitation_at: Annotated[
        _Moment | None, Meta(description="When a mail of access last went out to this address.")
    ]
    premiere_connexion_at: Annotated[_Moment | None, Meta(description="The very first login.")]
    created_at: _Moment
    updated_at: _Moment
    archived_at: _Moment | None


@attrs.frozen(kw_only=True, slots=False)
class EmployeeAnswer:
    """One person."""

    employee: Employee


@attrs.frozen(kw_only=True, slots=False)
class ErasureAnswer:
    """Somebody who is not there any more."""

    ok: bool
    id: Annotated[str, Meta(description="The id that was theirs; nothing has it from now on.")]


@attrs.frozen(kw_only=True, slots=False)
class EmployeePage:
    """One page of people, in the order of their creation."""

    data: list[Employee]
    pagination: Pagination


@attrs.frozen(kw_only=True, slots=False)
class EmployeeFilters:
    """The query parameters of the list of people; together they narrow it."""

    page: PageNumber = 1
    limit: PageSize = DEFAULT_LIMIT
    external_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MAX_LENGTHS["external_id"])] | UnsetType,
        Meta(description="Exactly this one."),
    ] = UNSET
    email: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MAX_LENGTHS["email"])] | UnsetType,
        Meta(description="The person with this address."),
    ] = UNSET
    statut: Statut | UnsetType = UNSET
    acces: Acces | UnsetType = UNSET
    secteur_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MAX_LENGTHS["sector_id"])] | UnsetType,
        Meta(description="A sector's id.", examples=["12"]),
    ] = UNSET
    q: Annotated[
        Annotated[str, Meta(min_length=1, max_length=_MAX_SEARCH)] | UnsetType,
        Meta(description="Is contained in the name or the address."),
    ] = UNSET


def read_filters(taken: Taken) -> EmployeeQuery:
    """The core's query for what was asked. Raises `ValidationFailed` with every fault."""
    faults = list(taken.faults)
    filters = EmployeeFilters(**taken.fields)  # type: ignore[arg-type]  # checked by the reader, field by field
    query = EmployeeQuery(
        external_id=None if filters.external_id is UNSET else normal_text(filters.external_id),
        email_key=_email_key(filters.email, faults),
        state=None if filters.statut is UNSET else STATES[filters.statut],
        access=None if filters.acces is UNSET else ACCESSES[filters.acces],
        sector_id=_sector_id(filters.secteur_id, faults),
        text=None if filters.q is UNSET else folded_name(filters.q),
        page=PageRequest(page=filters.page, limit=filters.limit),
    )
    if faults:
        raise ValidationFailed(faults)
    return query


def spell_employee(view: EmployeeView) -> Employee:
    """One person as callers read them."""
    person = view.employee
    return Employee(
        id=person.id,
        external_id=person.external_id,
        email=person.email.text,
        nom=person.last_name,
        prenom=person.first_name,
        fonction=person.job_title,
        telephone=person.phone,
        adresse=person.address,
        secteur=None if view.sector is None else Secteur(id=str(view.sector.id), nom=view.sector.name),
        statut=_STATUT_OF[person.state],
        acces=None if view.access is None else _ACCES_OF[view.access],
        derniere_invitation_at=_spell(person.invitation.last_sent_at),
        premiere_connexion_at=_spell(person.first_login_at),
        created_at=spell_moment(person.created_at),
        updated_at=spell_moment(person.updated_at),
        archived_at=_spell(person.archived_at),
    )


def spell_employees(page: Page[EmployeeView]) -> EmployeePage:
    """One page of people."""
    return EmployeePage(data=[spell_employee(view) for view in page.items], pagination=spell_pagination(page))


def _spell(moment: datetime | None) -> str | None:
    return None if moment is None else spell_moment(moment)


def _email_key(text: str | UnsetType, faults: list[Fault]) -> EmailKey | None:
    if text is UNSET:
        return None
    try:
        return parse_email(text).key
    except InvalidEmail as error:
        faults.append(Fault(field="email", code="invalid_email", message=f"not an e-mail address: {error}"))
        return None


def _sector_id(text: str | UnsetType, faults: list[Fault]) -> SectorId | None:
    if text is UNSET:
        return None
    digits = normal_text(text)
    if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_SECTOR_DIGITS:
        return SectorId(int(digits))
    faults.append(Fault(field="secteur_id", code="wrong_type", message="must be a sector's id, such as 12"))
    return None
