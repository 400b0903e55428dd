"""Questions about one company, answered from a `CompanyState` by plain Python: the meaning that other stores copy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from datetime import datetime

from awareness_core.anonymity import AddressMark, ErasedAddress
from awareness_core.campaign_events import Event, EventKey
from awareness_core.campaigns import Campaign, CampaignId, CampaignQuery
from awareness_core.emails import EmailKey
from awareness_core.employees import Employee, EmployeeId, access, search_text
from awareness_core.erasure_ports import CampaignRecipient
from awareness_core.errors import NotFound
from awareness_core.kpis import ReportTimes
from awareness_core.outbox import PendingInvitation
from awareness_core.pages import Item, Page, PageRequest
from awareness_core.passwords import TemporaryPassword
from awareness_core.ports import EmployeeQuery, RosterEntry
from awareness_core.receipts import Receipt, ReceiptId
from awareness_core.recipients import Recipient
from awareness_core.records import Glance, UnchangedPerson
from awareness_core.sectors import Sector
from awareness_core.tenants import Company, CompanyId
from awareness_core.texts import folded_name
from awareness_core.verdict_rules import DEFAULT_RULES, VerdictRules
from awareness_memory.portal import MemoryPortalReading
from awareness_memory.state import NO_RESULTS, CampaignResults, CompanyState

World = Mapping[CompanyId, CompanyState]
"""Every company at one moment. Never changed in place."""


class MemoryReading(MemoryPortalReading):
    """A `Reading` of the world as it was when it was opened."""

    def __init__(self, world: World, company_id: CompanyId) -> None:
        self._world = world
        self._company_id = company_id
        self._state: CompanyState | None = world.get(company_id)

    async def company(self) -> Company:
        """See `Reading`."""
        if self._state is None:
            raise NotFound("No such company.")
        return self._state.company

    async def sectors(self) -> Sequence[Sector]:
        """See `Reading`."""
        return (
            [] if self._state is None else sorted(self._state.sectors.values(), key=lambda sector: sector.id)
        )

    async def matching_employees(
        self, *, external_ids: Collection[str], email_keys: Collection[EmailKey]
    ) -> Sequence[Employee]:
        """See `Reading`."""
        state = self._state
        if state is None:
            return []
        found = {state.by_external_id[text] for text in external_ids if text in state.by_external_id}
        found.update(*(state.people_of.get(key, ()) for key in email_keys))
        return [state.employees[employee_id] for employee_id in found]

    async def addresses_held_by_other_companies(
        self, email_keys: Collection[EmailKey]
    ) -> frozenset[EmailKey]:
        """See `Reading`."""
        others = [
            state.holders for company_id, state in self._world.items() if company_id != self._company_id
        ]
        return frozenset(key for key in email_keys if any(key in holders for holders in others))

    async def rostered_employees(self) -> Sequence[Employee]:
        """See `Reading`."""
        return [person for person in self._people() if person.is_active and person.external_id is not None]

    async def count_rostered_employees(self) -> int:
        """See `Reading`."""
        return len(await self.rostered_employees())

    async def roster(self) -> AsyncIterator[Sequence[RosterEntry]]:
        """See `Reading`; all at once, as everybody is in memory anyway."""
        yield [
            RosterEntry(id=person.id, external_id=person.external_id, email_key=person.email.key)
            for person in self._people()
            if person.is_active and person.external_id is not None
        ]

    async def unchanged_people(self, glances: Sequence[Glance]) -> Sequence[UnchangedPerson | None]:
        """See `Reading`. Finds them by fingerprint alone, which names nobody else."""
        state = self._state
        if state is None:
            return [None] * len(glances)
        owners = [state.by_fingerprint.get(glance.fingerprint) for glance in glances]
        return [None if owner is None else _in_brief(state.employees[owner]) for owner in owners]

    async def employees_by_id(self, ids: Collection[EmployeeId]) -> Sequence[Employee]:
        """See `Reading`."""
        known = {} if self._state is None else self._state.employees
        return [known[employee_id] for employee_id in set(ids) if employee_id in known]

    async def employees_without_password(self) -> Sequence[Employee]:
        """See `Reading`."""
        return [person for person in self._people() if person.is_active and not person.has_password]

    async def list_employees(self, query: EmployeeQuery) -> Page[Employee]:
        """See `Reading`."""
        if self._state is None:
            return _page([], query.page)
        company = self._state.company
        needle = None if query.text is None else folded_name(query.text)
        found = [
            person
            for person in self._people()
            if query.external_id in {None, person.external_id}
            and query.email_key in {None, person.email.key}
            and query.state in {None, person.state}
            and query.sector_id in {None, person.sector_id}
            and (query.access is None or query.access is access(person, company))
            and (needle is None or needle in search_text(person))
        ]
        return _page(sorted(found, key=lambda person: person.id), query.page)

    async def list_campaigns(self, query: CampaignQuery) -> Page[Campaign]:
        """See `Reading`."""
        campaigns = () if self._state is None else self._state.campaigns.values()
        found = [
            campaign
            for campaign in campaigns
            if query.period.start <= campaign.listed_at <= query.period.end
            and query.state in {None, campaign.state}
        ]
        latest_first = sorted(found, key=lambda campaign: (campaign.listed_at, campaign.id), reverse=True)
        return _page(latest_first, query.page)

    async def campaign(self, campaign_id: CampaignId) -> Campaign | None:
        """See `Reading`."""
        return None if self._state is None else self._state.campaigns.get(campaign_id)

    async def campaign_by_external_id(self, external_id: str) -> Campaign | None:
        """See `Reading`."""
        campaigns = () if self._state is None else self._state.campaigns.values()
        return next((campaign for campaign in campaigns if campaign.external_id == external_id), None)

    async def report_times(self, campaign_id: CampaignId) -> ReportTimes:
        """See `Reading`."""
        progress = [recipient.progress for recipient in self._results(campaign_id).recipients.values()]
        reporters = [one for one in progress if one.reported_at is not None]
        first = min((one.reported_at for one in reporters if one.reported_at is not None), default=None)
        return ReportTimes(
            first_at=first,
            clicked_before=sum(
                one.clicked_at is not None and first is not None and one.clicked_at <= first
                for one in progress
            ),
            delays=[one.report_delay for one in reporters if one.report_delay is not None],
        )

    async def recipients(
        self, campaign_id: CampaignId, email_keys: Collection[EmailKey]
    ) -> Sequence[Recipient]:
        """See `Reading`."""
        known = self._results(campaign_id).recipients
        return [known[key] for key in set(email_keys) if key in known]

    async def list_recipients(self, campaign_id: CampaignId, page: PageRequest) -> Page[Recipient]:
        """See `Reading`."""
        known = self._results(campaign_id).recipients
        return _page([known[key] for key in sorted(known)], page)

    async def recipients_after(
        self, campaign_id: CampaignId, email_key: EmailKey | None, *, limit: int
    ) -> Sequence[Recipient]:
        """See `Reading`."""
        known = self._results(campaign_id).recipients
        behind = sorted(key for key in known if email_key is None or key > email_key)
        return [known[key] for key in behind[:limit]]

    async def events(
        self,
        campaign_id: CampaignId,
        *,
        keys: Collection[EventKey] = (),
        recipients: Collection[EmailKey] = (),
        places: Collection[str] = (),
    ) -> Sequence[Event]:
        """See `Reading`."""
        known = self._results(campaign_id)
        wanted = {key for key in keys if key in known.events}
        for recipient in recipients:
            wanted.update(known.events_of.get(recipient, ()))
        for place in places:
            wanted.update(known.events_at.get(place, ()))
        return [known.events[key] for key in wanted]

    async def recipients_active_after(self, campaign_id: CampaignId, moment: datetime) -> Sequence[EmailKey]:
        """See `Reading`."""
        events = self._results(campaign_id).events.values()
        return list({event.recipient for event in events if event.at > moment})

    async def verdict_rules(self) -> VerdictRules:
        """See `Reading`."""
        return DEFAULT_RULES if self._state is None else self._state.verdict_rules

    async def recipients_of_employees(
        self, employee_ids: Collection[EmployeeId]
    ) -> Sequence[CampaignRecipient]:
        """See `ErasureReading`."""
        return [one for one in self._all_recipients() if one.recipient.employee_id in employee_ids]

    async def untied_recipients(
        self, *, external_ids: Collection[str], email_keys: Collection[EmailKey]
    ) -> Sequence[CampaignRecipient]:
        """See `ErasureReading`."""
        return [
            one
            for one in self._all_recipients()
            if one.recipient.employee_id is None
            and (one.recipient.email.key in email_keys or one.recipient.external_id in external_ids)
        ]

    async def employees_archived_before(self, moment: datetime, *, limit: int) -> Sequence[Employee]:
        """See `ErasureReading`."""
        return sorted(self._archived_before(moment), key=lambda person: person.id)[:limit]

    async def count_employees_archived_before(self, moment: datetime) -> int:
        """See `ErasureReading`."""
        return len(self._archived_before(moment))

    async def erasure_secret(self) -> bytes | None:
        """See `ErasureReading`."""
        return None if self._state is None else self._state.erasure_secret

    async def erased_addresses(self, marks: Collection[AddressMark]) -> Sequence[ErasedAddress]:
        """See `ErasureReading`."""
        known = {} if self._state is None else self._state.erased_addresses
        return [known[mark] for mark in set(marks) if mark in known]

    async def temporary_passwords(self, employee_id: EmployeeId) -> Sequence[TemporaryPassword]:
        """See `Reading`. Of two made in the same millisecond the greater digest comes first."""
        kept = () if self._state is None else self._state.passwords.get(employee_id, ())
        return sorted(kept, key=lambda password: (password.created_at, password.digest), reverse=True)

    async def due_invitations(self, *, at: datetime, limit: int) -> Sequence[PendingInvitation]:
        """See `Reading`."""
        due = [pending for pending in self._pending() if pending.due_at <= at]
        return sorted(due, key=lambda pending: (pending.due_at, pending.employee_id))[:limit]

    async def held_invitations(self, holder: str) -> Sequence[PendingInvitation]:
        """See `Reading`."""
        return [pending for pending in self._pending() if pending.holder == holder]

    async def receipt(self, receipt_id: ReceiptId) -> Receipt | None:
        """See `Reading`."""
        kept = None if self._state is None else self._state.receipts.get(receipt_id)
        return None if kept is None else kept[0]

    async def kept_answer(self, receipt_id: ReceiptId) -> AsyncIterator[bytes]:
        """See `Reading`."""
        kept = None if self._state is None else self._state.receipts.get(receipt_id)
        for part in () if kept is None else kept[1]:
            yield part

    def _results(self, campaign_id: CampaignId) -> CampaignResults:
        return NO_RESULTS if self._state is None else self._state.results.get(campaign_id, NO_RESULTS)

    def _pending(self) -> Iterable[PendingInvitation]:
        return () if self._state is None else self._state.pending.values()

    def _all_recipients(self) -> Iterable[CampaignRecipient]:
        results = {} if self._state is None else self._state.results
        for campaign_id, known in results.items():
            for recipient in known.recipients.values():
                yield CampaignRecipient(campaign_id=campaign_id, recipient=recipient)

    def _archived_before(self, moment: datetime) -> list[Employee]:
        return [
            person
            for person in self._people()
            if not person.is_active and person.archived_at is not None and person.archived_at < moment
        ]

    def _people(self) -> Iterable[Employee]:
        return () if self._state is None else self._state.employees.values()


def _in_brief(person: Employee) -> UnchangedPerson:
    return UnchangedPerson(
        id=person.id, external_id=person.external_id, email=person.email.text, email_key=person.email.key
    )


def _page(items: Sequence[Item], request: PageRequest) -> Page[Item]:
    return Page(
        items=items[request.offset : request.offset + request.limit], total=len(items), request=request
    )
