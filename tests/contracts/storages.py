"""The stores under test, and how the tests of all of them speak: a company, a person, a hire."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, TypedDict, Unpack

import attrs

from awareness_core.campaigns import Campaign, CampaignId, CampaignState, Difficulty
from awareness_core.emails import EmailAddress, parse_email
from awareness_core.employees import Employee, EmployeeChange, EmployeeId, EmployeeState, InvitationHistory
from awareness_core.identity_ports import IdentityProviders
from awareness_core.kpis import Funnel
from awareness_core.pages import PageRequest
from awareness_core.passwords import TemporaryPassword
from awareness_core.portal_ports import Visitors
from awareness_core.ports import ApiKeys, Companies, EmployeeQuery, Reading, Store
from awareness_core.receipts import Receipt, ReceiptId, claim
from awareness_core.sectors import SectorId
from awareness_core.source_ports import Sources
from awareness_core.tenants import Company, CompanyId
from awareness_memory import MemoryIdentityProviders, MemorySources, MemoryStore, MemoryVisitors
from awareness_sql import open_storage

NOW = datetime(2026, 3, 31, 8, 0, 0, 123_000, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


class Stored(Protocol):
    """Whatever has a store."""

    @property
    def store(self) -> Store: ...


class Storage(Stored, Protocol):
    """The six ports that one store serves."""

    @property
    def companies(self) -> Companies: ...
    @property
    def api_keys(self) -> ApiKeys: ...
    @property
    def sources(self) -> Sources: ...
    @property
    def visitors(self) -> Visitors: ...
    @property
    def identity_providers(self) -> IdentityProviders: ...


@attrs.frozen
class Seen:
    """A `Glance`."""

    fingerprint: bytes
    external_id: str | None
    email: str


def seen(employee: Employee, fingerprint: bytes) -> Seen:
    """A glance at a record that names this person."""
    return Seen(fingerprint, employee.external_id, employee.email.text)


@attrs.frozen
class MemoryStorage:
    companies: MemoryStore
    api_keys: MemoryStore
    store: MemoryStore
    sources: MemorySources
    identity_providers: MemoryIdentityProviders

    @property
    def visitors(self) -> MemoryVisitors:
        return self.store.visitors


def memory_storage(store: MemoryStore | None = None) -> MemoryStorage:
    """On that store, or a new one."""
    store = store or MemoryStore()
    return MemoryStorage(store, store, store, MemorySources(store), store.identity_providers)


@asynccontextmanager
async def storage_of(kind: str, migrated: Path, folder: Path) -> AsyncIterator[Storage]:
    """A new, empty store. `migrated` is an SQLite file to begin with."""
    if kind == "memory":
        yield memory_storage()
    else:
        path = folder / "awareness.db"
        shutil.copy(migrated, path)
        async with open_storage(f"sqlite:///{path}") as storage:
            yield storage


ACME = Company(id=CompanyId("acme"), name="Acme", sso_domains=frozenset({"sso.example"}), created_at=NOW)
GLOBEX = Company(id=CompanyId("globex"), name="Globex", created_at=NOW)


class PersonFields(TypedDict, total=False):
    external_id: str | None
    last_name: str
    first_name: str
    job_title: str | None
    phone: str | None
    address: str | None
    sector_id: SectorId | None
    state: EmployeeState
    first_login_at: datetime | None
    has_password: bool
    invitation: InvitationHistory
    updated_at: datetime
    archived_at: datetime | None


def person(number: int, *, email: str | None = None, **fields: Unpack[PersonFields]) -> Employee:
    """Somebody active of that number, who has no external id unless one is given."""
    named = Employee(
        id=EmployeeId(f"{number:04}"),
        email=parse_email(email or f"person{number}@acme.example"),
        last_name=f"Name{number}",
        first_name="Jeanne",
        created_at=NOW,
        updated_at=NOW,
    )
    return attrs.evolve(named, **fields)


def password(owner: Employee, number: int = 0, *, at: datetime = NOW) -> TemporaryPassword:
    return TemporaryPassword(
        employee_id=owner.id,
        salt=bytes([number]) * 16,
        digest=bytes([number]) * 32,
        created_at=at,
        expires_at=at + timedelta(days=7),
    )


class CampaignFields(TypedDict, total=False):
    name: str
    state: CampaignState
    created_at: datetime
    starts_at: datetime | None
    ends_at: datetime | None
    funnel: Funnel
    external_id: str | None
    difficulty: Difficulty | None


def campaign(number: int, **fields: Unpack[CampaignFields]) -> Campaign:
    """A draft of that number."""
    draft = Campaign(
        id=CampaignId(f"{number:04}"),
        name=f"Campaign {number}",
        state=CampaignState.DRAFT,
        created_at=NOW,
    )
    return attrs.evolve(draft, **fields)


def receipt(number: int = 1, *, holder: str = "somebody") -> Receipt:
    """That of a request that began that many seconds after `NOW`."""
    name = ReceiptId(f"receipt {number}")
    return claim(name, fingerprint=bytes(range(256)), holder=holder, now=NOW + timedelta(seconds=number))


def hired(*people: Employee) -> list[EmployeeChange]:
    return [EmployeeChange(before=None, after=someone) for someone in people]


class ChangedFields(PersonFields, total=False):
    email: EmailAddress


def changed(before: Employee, **fields: Unpack[ChangedFields]) -> EmployeeChange:
    return EmployeeChange(before=before, after=attrs.evolve(before, **fields))


async def apply(storage: Storage, changes: Iterable[EmployeeChange], *, to: Company = ACME) -> None:
    async with storage.store.transaction(to.id) as transaction:
        await transaction.apply(changes=list(changes))


async def everyone(storage: Stored, company: Company = ACME) -> list[Employee]:
    """All people of a company, by id; at most the 100 of one page."""
    async with storage.store.reading(company.id) as reading:
        return await people_of(reading)


async def people_of(reading: Reading) -> list[Employee]:
    page = await reading.list_employees(EmployeeQuery(page=PageRequest(limit=100)))
    return list(page.items)
