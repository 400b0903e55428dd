"""Everything the core asks of the outside world, and `Ports`, the bundle of it.

Protocols are small and batch-shaped: many records, one question. A tenant is bound when a transaction opens; nothing
inside one names a company again. Every method may raise `StoreUnavailable` when what is behind it cannot be reached.
All times are aware, in UTC and whole milliseconds.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from typing import Protocol

import attrs

from awareness_core.api_keys import ApiKey, ApiKeyId, PublicId
from awareness_core.campaign_events import Event, EventKey
from awareness_core.campaigns import Campaign, CampaignId, CampaignQuery
from awareness_core.clock_ports import Clock, Entropy
from awareness_core.emails import EmailKey
from awareness_core.employees import Access, Employee, EmployeeChange, EmployeeId, EmployeeState
from awareness_core.erasure_ports import ErasureReading, ErasureTransaction
from awareness_core.identity_ports import IdentityProviders, SingleSignOn
from awareness_core.kpis import ReportTimes
from awareness_core.outbox import MailBacklog, PendingInvitation
from awareness_core.pages import Page, PageRequest
from awareness_core.passwords import TemporaryPassword
from awareness_core.portal_ports import (
    FrequentPasswords,
    PasswordHasher,
    PortalReading,
    PortalWriting,
    Visitors,
)
from awareness_core.quota import QuotaPolicy, QuotaUse
from awareness_core.receipts import Receipt, ReceiptId
from awareness_core.recipients import Recipient
from awareness_core.records import Glance, UnchangedPerson
from awareness_core.results_plan import ResultChanges
from awareness_core.sectors import Sector, SectorId
from awareness_core.source_ports import ResultTool, Sources
from awareness_core.sources import SourceKind
from awareness_core.tenants import Company, CompanyId, Language
from awareness_core.verdict_rules import VerdictRules


class Companies(Protocol):
    """The companies themselves: an operator's business, outside any tenant."""

    async def add_company(self, company: Company) -> None:
        """Store a new company. Raises `ConstraintViolated` when its name (compared by `folded_name`) is taken."""

    async def change_company(self, company: Company) -> None:
        """Replace a company by id. Raises `ConstraintViolated` when its name is another's, `NotFound`."""

    async def list_companies(self) -> Sequence[Company]:
        """All of them, by name."""

    async def companies_with_due_invitations(self, *, at: datetime) -> Sequence[CompanyId]:
        """Those of which a pending invitation is due by then; in any order."""

    async def mail_backlog(self) -> MailBacklog:
        """What is pending in all of them together, at one moment."""


class ApiKeys(Protocol):
    """The keys of all companies: looked up before it is known which company is calling."""

    async def add_api_key(self, key: ApiKey) -> None:
        """Store a new key. Raises `NotFound` when its company does not exist."""

    async def find_api_key(self, public_id: PublicId) -> ApiKey | None:
        """The key with that public id, whatever its state: one indexed read, never an older answer."""

    async def list_api_keys(self, company_id: CompanyId | None = None) -> Sequence[ApiKey]:
        """The keys of one company, or of all; oldest first, then by id."""

    async def revoke_api_key(self, key_id: ApiKeyId, *, at: datetime) -> bool:
        """Revoke it for good, from the very next look-up on. False when no such key exists; a revoked one stays so."""

    async def record_api_key_use(self, key_id: ApiKeyId, *, at: datetime) -> None:
        """Note when the key was last used. May be lost in a crash; never moves backwards."""


@attrs.frozen(kw_only=True)
class EmployeeQuery:
    """Which employees a listing wants; conditions that are None do not narrow it.

    `text` is sought in `employees.search_text`, both folded. `access` is as `employees.access` derives it.
    """

    external_id: str | None = None
    email_key: EmailKey | None = None
    state: EmployeeState | None = None
    access: Access | None = None
    sector_id: SectorId | None = None
    text: str | None = None
    page: PageRequest = PageRequest()


@attrs.frozen(kw_only=True)
class RosterEntry:
    """An active employee who carries an external id, in brief."""

    id: EmployeeId
    external_id: str
    email_key: EmailKey


class Reading(ErasureReading, PortalReading, Protocol):
    """One company's data as it stands; what is read in one `Reading` is one moment's state."""

    async def company(self) -> Company:
        """The bound company. Raises `NotFound` when it does not exist."""

    async def sectors(self) -> Sequence[Sector]:
        """All sectors, by id."""

    async def matching_employees(
        self, *, external_ids: Collection[str], email_keys: Collection[EmailKey]
    ) -> Sequence[Employee]:
        """Everyone, active or archived, with one of these external ids or one of these addresses; in any order."""

    async def addresses_held_by_other_companies(
        self, email_keys: Collection[EmailKey]
    ) -> frozenset[EmailKey]:
        """Which of these addresses an active employee of another company holds: the one question across tenants."""

    async def rostered_employees(self) -> Sequence[Employee]:
        """Every active employee who carries an external id; in any order."""

    async def count_rostered_employees(self) -> int:
        """How many these are."""

    def roster(self) -> AsyncIterator[Sequence[RosterEntry]]:
        """The same people in brief, some thousands at a time, for companies too large to hold; in any order."""

    async def unchanged_people(self, glances: Sequence[Glance]) -> Sequence[UnchangedPerson | None]:
        """For each, in order: whom it names, if they were last written from a record of that fingerprint, else None.

        They are sought by external id as it is spelt, without one by address. May miss people spelt in another way.
        """

    async def employees_by_id(self, ids: Collection[EmployeeId]) -> Sequence[Employee]:
        """Those of `ids` that are this company's; in any order, the others are simply not there."""

    async def employees_without_password(self) -> Sequence[Employee]:
        """Every active employee who has no password yet; in any order."""

    async def list_employees(self, query: EmployeeQuery) -> Page[Employee]:
        """One page, sorted by id, which is the order of creation."""

    async def list_campaigns(self, query: CampaignQuery) -> Page[Campaign]:
        """One page, sorted by `listed_at` descending, then id descending."""

    async def campaign(self, campaign_id: CampaignId) -> Campaign | None:
        """The campaign of that id."""

    async def campaign_by_external_id(self, external_id: str) -> Campaign | None:
        """The campaign that its tool calls so."""

    async def report_times(self, campaign_id: CampaignId) -> ReportTimes:
        """When its recipients reported it; nothing when there is no such campaign."""

    async def recipients(
        self, campaign_id: CampaignId, email_keys: Collection[EmailKey]
    ) -> Sequence[Recipient]:
        """Those of its recipients with one of these addresses; in any order."""

    async def list_recipients(self, campaign_id: CampaignId, page: PageRequest) -> Page[Recipient]:
        """One page of its recipients, sorted by the key of the address."""

    async def recipients_after(
        self, campaign_id: CampaignId, email_key: EmailKey | None, *, limit: int
    ) -> Sequence[Recipient]:
        """The first `limit` recipients behind that address in the same order, or from the beginning."""

    async def events(
        self,
        campaign_id: CampaignId,
        *,
        keys: Collection[EventKey] = (),
        recipients: Collection[EmailKey] = (),
        places: Collection[str] = (),
    ) -> Sequence[Event]:
        """Its events with one of these keys, recipients or places (`place_of`); each once, in any order."""

    async def recipients_active_after(self, campaign_id: CampaignId, moment: datetime) -> Sequence[EmailKey]:
        """To whom something happened later than that; each once, in any order."""

    async def verdict_rules(self) -> VerdictRules:
        """What the company takes for a machine's doing; the defaults of this release where it has said nothing."""

    async def temporary_passwords(self, employee_id: EmployeeId) -> Sequence[TemporaryPassword]:
        """Those kept for one employee, expired ones included; newest first."""

    async def due_invitations(self, *, at: datetime, limit: int) -> Sequence[PendingInvitation]:
        """Those that are due by then, longest due first, then by employee."""

    async def held_invitations(self, holder: str) -> Sequence[PendingInvitation]:
        """Those that are `holder`'s to mail; in any order."""

    async def receipt(self, receipt_id: ReceiptId) -> Receipt | None:
        """What is remembered of that request, expired or not: one indexed read."""

    def kept_answer(self, receipt_id: ReceiptId) -> AsyncIterator[bytes]:
        """The answer kept with that receipt, in the parts that it was given in; nothing when there is none."""


class Transaction(Reading, ErasureTransaction, PortalWriting, Protocol):
    """A `Reading` that may write. Commits when its block ends, rolls back when the block raises.

    Transactions of one company run one after the other; what one reads, no other changes before it has ended.
    """

    async def apply(self, *, changes: Sequence[EmployeeChange], sectors: Sequence[Sector] = ()) -> None:
        """Write all changes and new sectors, or raise and write none; keep each change's fingerprint, or none.

        Addresses and external ids may swap hands within one call. Temporary passwords of everyone whose change
        `ends_access` are destroyed, as by `forget_passwords`; those of everyone whose change `moves_address` too, while
        their pending invitations stay, for the new address. Raises `ConstraintViolated` when an address is held by
        another active employee of any company, or an external id is another employee's.
        """

    async def record_attempts(self, passwords: Sequence[TemporaryPassword]) -> None:
        """Keep the passwords about to be mailed, and note `created_at` as the time of the employees' last attempt."""

    async def record_deliveries(self, passwords: Sequence[TemporaryPassword]) -> None:
        """Note that these were mailed: their employees' last invitation is at `created_at`, live until `expires_at`.

        Does nothing for an employee who was archived or logged in meanwhile, or whose password was destroyed: somebody
        archived and back again holds a mail that opens nothing.
        """

    async def record_failures(self, failures: Sequence[tuple[TemporaryPassword, datetime]]) -> None:
        """Note that these were not mailed, and when the last attempt was, of those still kept if no other is later."""

    async def forget_passwords(self, employee_ids: Collection[EmployeeId]) -> None:
        """Destroy the temporary passwords of these employees, and their pending invitations with them."""

    async def save_pending(self, invitations: Sequence[PendingInvitation]) -> None:
        """Insert pending invitations, or replace them by employee.

        Raises `ConstraintViolated` for an employee who is not this company's.
        """

    async def forget_pending(
        self, employee_ids: Collection[EmployeeId], *, holder: str | None = None
    ) -> None:
        """Remove the pending invitations of these employees; only those that are `holder`'s, if one is given."""

    async def save_campaigns(self, campaigns: Sequence[Campaign]) -> None:
        """Insert campaigns or replace them by id.

        Raises `ConstraintViolated` when another campaign of the company has an `external_id` of them.
        """

    async def save_results(self, campaign_id: CampaignId, changes: ResultChanges) -> None:
        """Write all of it, or raise and write none. Events and recipients are replaced by key.

        Raises `ConstraintViolated` when the campaign does not exist.
        """

    async def save_verdict_rules(self, rules: VerdictRules | None) -> None:
        """Keep the company's rules in the place of earlier ones, or with None go back to the defaults."""

    async def save_receipt(self, receipt: Receipt, *, answer: Iterable[bytes] = ()) -> None:
        """Insert a receipt with its answer, or replace both by id. The parts of `answer` are not held all at once."""

    async def forget_receipt(self, receipt_id: ReceiptId) -> None:
        """Remove a receipt and its answer; nothing when there is none."""

    async def purge_receipts(self, *, at: datetime, at_most: int) -> int:
        """Remove so many receipts that are expired `at` that moment, the oldest first; how many were removed."""


class Store(Protocol):
    """Where companies' data is kept."""

    def reading(self, company_id: CompanyId) -> contextlib.AbstractAsyncContextManager[Reading]:
        """Look at one company's data as of one moment. Takes no lock and never waits for a writer."""

    def glance(self, company_id: CompanyId) -> Reading:
        """The same for whoever has only one question, and cheaper: each is answered as of a moment of its own."""

    def transaction(self, company_id: CompanyId) -> contextlib.AbstractAsyncContextManager[Transaction]:
        """Change one company's data; see `Transaction`. Raises `NotFound` when the company does not exist."""

    async def check(self) -> None:
        """Nothing when the store answers and its schema is current, else `StoreUnavailable` saying what to do."""


@attrs.frozen(kw_only=True)
class InvitationLetter:
    """All that a mail of access needs. It holds the only copy of the temporary password.

    Of one invitation there may be several, made at different times and with other passwords, `decided_at` one moment.
    """

    employee_id: EmployeeId
    company_name: str
    company_color: str | None = None
    language: Language
    email: str
    first_name: str
    last_name: str
    password: str = attrs.field(repr=False)
    decided_at: datetime
    created_at: datetime
    expires_at: datetime


@attrs.frozen(kw_only=True)
class Delivery:
    """What became of one letter. `detail` is for the operator's log; it holds no password.

    Of one that is not accepted, `permanent` says that trying again is no use, `in_doubt` that it may have been taken,
    `tried` is false when its turn never came: no server was asked about it.
    """

    accepted: bool
    tried: bool = True
    permanent: bool = False
    in_doubt: bool = False
    detail: str = ""


class Mailer(Protocol):
    """Takes letters to their people."""

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """One outcome a letter, in order. Never raises for what a server or an address does.

        Refuses to run inside a store's transaction, see `refuse_inside_transaction`.
        """


class QuotaCounter(Protocol):
    """Counts requests per subject in fixed windows that begin with the subject's first request."""

    async def hit(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        """Count one request, atomically over all who share the counter, and say how many there are now."""

    async def peek(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        """The same without counting; a subject without requests has 0 and a whole window left."""

    async def is_shared_store_down(self) -> bool:
        """Whether counting has fallen back to this process' memory."""


@attrs.frozen(kw_only=True)
class Ports:
    """The entire outside world of the use cases. A source whose kind is not among `tools` can only be listed."""

    clock: Clock
    entropy: Entropy
    companies: Companies
    api_keys: ApiKeys
    store: Store
    mailer: Mailer
    quota: QuotaCounter
    sources: Sources
    tools: Mapping[SourceKind, ResultTool] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class PortalPorts(Ports):
    """The same with what people who log in need. Programs without a portal do without it."""

    visitors: Visitors
    hasher: PasswordHasher
    frequent_passwords: FrequentPasswords
    identity_providers: IdentityProviders
    single_sign_on: SingleSignOn


_transaction_is_open: ContextVar[bool] = ContextVar("transaction_is_open", default=False)


@contextlib.contextmanager
def inside_transaction() -> Iterator[None]:
    """Stores wrap an open transaction in this, so that `refuse_inside_transaction` can tell."""
    token = _transaction_is_open.set(True)
    try:
        yield
    finally:
        _transaction_is_open.reset(token)


def refuse_inside_transaction(what: str = "a network call was made") -> None:
    """Adapters that talk to a network call this first: a slow peer must never hold a tenant's lock.

    Raises `RuntimeError` saying `what` was attempted.
    """
    if _transaction_is_open.get():
        raise RuntimeError(f"{what} while a store transaction was open")
